#include "client/server_monitor.h"

#include <chrono>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 1s;
constexpr auto kStatusPatience = 300ms;
constexpr std::size_t kLongestStatus = 65536;

}  // namespace

ServerMonitor::ServerMonitor(const Url& url) : request_{.url = url}, client_(request_) {
  thread_ = std::thread(&ServerMonitor::run, this);
}

ServerMonitor::~ServerMonitor() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  end_wanted_.notify_one();
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
}

std::optional<ServerStatus> ServerMonitor::ask() {
  const HttpAnswer answer = client_.send(request_, kStatusPatience, kLongestStatus);
  if (!answer || answer.response.status != 200) return std::nullopt;
  return parse_server_status(answer.response.body);
}

}  // namespace retrystorm
