#include "server/idle_connections.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace retrystorm {
namespace {

enum class Arrived { kRequest, kEnd, kNothing };

Arrived arrived_on(int connection) {
  char byte = 0;
  const ssize_t there = recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (there > 0) return Arrived::kRequest;
  return there < 0 && errno == EAGAIN ? Arrived::kNothing : Arrived::kEnd;
}

}  // namespace

IdleConnections::IdleConnections(Duration longest, std::function<void(Connection)> on_request)
    : longest_(longest),
      on_request_(std::move(on_request)),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event wake{.events = EPOLLIN, .data = {.fd = wake_.number()}};
  if (!events_ || !wake_ ||
      epoll_ctl(events_.number(), EPOLL_CTL_ADD, wake_.number(), &wake) != 0) {
    throw std::system_error(errno, std::system_category(), "cannot watch connections");
  }
  try {
    thread_ = std::thread(&IdleConnections::watch, this);
  } catch (const std::system_error& error) {
    throw std::runtime_error(std::string("cannot start the server's threads: ") + error.what());
  }
}

IdleConnections::~IdleConnections() {
  stop();
}

void IdleConnections::add(Connection connection) {
  const std::scoped_lock lock(mutex_);
  if (stopping_) return;
  const int number = connection->number();
  try {
    order_.push_back(number);
    connections_[number] = {std::move(connection), Clock::now(), std::prev(order_.end())};
  } catch (const std::bad_alloc&) {
    order_.remove(number);
    return;  // it is closed
  }
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT, .data = {.fd = number}};
  // A connection that has been watched before is still known, and disarmed.
  if (epoll_ctl(events_.number(), EPOLL_CTL_MOD, number, &event) != 0 &&
      epoll_ctl(events_.number(), EPOLL_CTL_ADD, number, &event) != 0) {
    remove(number);
  }
}

void IdleConnections::close_oldest(std::size_t count) {
  const std::scoped_lock lock(mutex_);
  for (; count > 0 && !order_.empty(); --count) remove(order_.front());
}

int IdleConnections::close_old() {
  const std::scoped_lock lock(mutex_);
  const TimePoint now = Clock::now();
  while (!order_.empty()) {
    const TimePoint end = saturating_add(connections_.at(order_.front()).since, longest_);
    if (end > now) return milliseconds_until(end);
    remove(order_.front());
  }
  return milliseconds_until(saturating_add(now, longest_));  // one may be added now
}

void IdleConnections::stop() {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(stopping_, true)) return;
    connections_.clear();
    order_.clear();
    eventfd_write(wake_.number(), 1);
  }
  thread_.join();
}

IdleConnections::Connection IdleConnections::take(int number) {
  const std::scoped_lock lock(mutex_);
  return remove(number);
}

IdleConnections::Connection IdleConnections::remove(int number) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return nullptr;
  Connection connection = std::move(found->second.connection);
  order_.erase(found->second.place);
  connections_.erase(found);
  return connection;
}

void IdleConnections::watch() {
  std::array<epoll_event, 64> ready{};
  while (true) {
    const int count =
        epoll_wait(events_.number(), ready.data(), static_cast<int>(ready.size()), close_old());
    for (int i = 0; i < count; ++i) {
      const int number = ready[static_cast<std::size_t>(i)].data.fd;
      if (number == wake_.number()) return;
      Connection connection = take(number);
      if (connection == nullptr) continue;
      const Arrived arrived = arrived_on(number);
      // A number may belong to another connection than when the event came.
      if (arrived == Arrived::kNothing) add(std::move(connection));
      if (arrived != Arrived::kRequest) continue;
      try {
        on_request_(std::move(connection));
      } catch (const std::bad_alloc&) {
        // Out of memory: this connection is closed.
      }
    }
  }
}

}  // namespace retrystorm
