#include "client/dashboard/server_monitor.h"

#include <chrono>

#include "client/http_client.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 1s;
constexpr auto kStatusPatience = 300ms;

}  // namespace

ServerMonitor::ServerMonitor(const Url& url)
    : client_(client_for(url, kStatusPatience)), path_(url.path) {
  thread_ = std::thread(&ServerMonitor::run, this);
}

ServerMonitor::~ServerMonitor() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  end_wanted_.notify_one();
  // An answer that drips would go on for as long as it likes.
  for (; !ended_; std::this_thread::sleep_for(5ms)) client_.stop();
  thread_.join();
}

std::optional<ServerStatus> ServerMonitor::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

void ServerMonitor::run() {
  std::unique_lock lock(mutex_);
  while (!end_) {
    lock.unlock();
    const auto status = ask();
    lock.lock();
    status_ = status;
    end_wanted_.wait_for(lock, kInterval, [this] { return end_; });
  }
  ended_ = true;
}

std::optional<ServerStatus> ServerMonitor::ask() {
  // No more of the answer is read than a status can be long: who knows what listens there.
  std::string text;
  const auto result = client_.Get(path_, [&text](const char* data, std::size_t size) {
    text.append(data, size);
    return text.size() < 65536;
  });
  if (!result || result->status != 200) return std::nullopt;
  return parse_server_status(text);
}

}  // namespace retrystorm
