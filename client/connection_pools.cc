#include "client/connection_pools.h"

#include <algorithm>
#include <utility>

#include "common/os/bounded_wait.h"

namespace retrystorm {

ConnectionPools::ConnectionPools(const ConnectionSettings& settings, std::size_t processes) {
  for (std::size_t i = 0; i < processes; ++i) pools_.emplace_back(settings);
}

std::unique_ptr<Connection> ConnectionPools::take_free(Pool& pool) {
  while (auto place = pool.connections.take(Clock::now())) {
    if (!place->kept) return std::make_unique<Connection>();
    if ((*place->kept)->can_be_used_again()) return std::move(*place->kept);
    pool.connections.close();  // the server has closed it
  }
  return nullptr;
}

std::unique_ptr<Connection> ConnectionPools::take(std::size_t process, TimePoint until,
                                                  TimePoint latest) {
  Pool& pool = pools_[process];
  std::unique_lock lock(pool.mutex);
  if (auto connection = take_free(pool)) return connection;
  Waiter self;
  if (until > Clock::now()) {
    pool.line.push_back(&self);
    ++pool.waited;
  }
  const auto wait = [&](TimePoint end) {
    return self.served.wait_until(lock, bounded(end),
                                  [&] { return self.connection != nullptr || pool.stopping; });
  };
  if (!wait(until) && until < latest) {
    wait(std::min(pool.connections.fail(Clock::now()), latest));
  }
  std::erase(pool.line, &self);
  return std::move(self.connection);
}

void ConnectionPools::give_back(std::size_t process, std::unique_ptr<Connection> connection) {
  Pool& pool = pools_[process];
  const std::scoped_lock lock(pool.mutex);
  if (connection->is_open()) {
    pool.connections.give_back(Clock::now(), std::move(connection));
  } else {
    pool.connections.close();
  }
  while (!pool.line.empty()) {
    Waiter& first = *pool.line.front();
    first.connection = take_free(pool);
    if (first.connection == nullptr) return;
    pool.line.pop_front();
    first.served.notify_one();
  }
}

void ConnectionPools::lose_idle() {
  for (Pool& pool : pools_) {
    const std::scoped_lock lock(pool.mutex);
    pool.connections.lose_idle();
  }
}

void ConnectionPools::stop() {
  for (Pool& pool : pools_) {
    const std::scoped_lock lock(pool.mutex);
    pool.stopping = true;
    for (Waiter* each : pool.line) each->served.notify_one();
  }
}

KeptConnections ConnectionPools::totals() const {
  KeptConnections totals;
  for (const Pool& pool : pools_) {
    const std::scoped_lock lock(pool.mutex);
    totals.open += pool.connections.open();
    totals.idle += pool.connections.idle();
    totals.in_line += pool.line.size();
    totals.opened += pool.connections.opened();
    totals.waited += pool.waited;
  }
  return totals;
}

}  // namespace retrystorm
