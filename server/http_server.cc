#include "server/http_server.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/http/server_timing.h"
#include "common/os/process.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// A client that has something to say has said it long before its request's time has come.
constexpr auto kReadTimeout = 1s;

// What is asked of the server, and how it answers.
void add_routes(httplib::Server& server) {
  check_before_reading(server, 0, [](const httplib::Request& request, httplib::Response& response) {
    const Answer& answer = ServicePool::current_answer();
    if (request.has_header(kAsksForTiming)) {
      response.set_header(kServerTiming, print_service_time(ServicePool::current_service_time()));
    }
    if (answer.ok()) return false;
    response.status = answer.status();
    if (answer.retry_after > Duration::zero()) {
      const auto seconds = std::chrono::round<std::chrono::seconds>(answer.retry_after);
      response.set_header("Retry-After", std::to_string(seconds.count()));
    }
    if (!answer.error_name().empty()) {
      std::string body = R"({"__type":"com.amazonaws.dynamodb.v20120810#)";
      body.append(answer.error_name()).append(R"(","message":"come again later"})");
      response.set_content(body, "application/x-amz-json-1.0");
      return true;
    }
    response.set_content(
        answer.status() == 500 ? "an error, for --error-share\n" : "come again later\n",
        "text/plain");
    return true;
  });
  server.Get("/api", [](const httplib::Request& request, httplib::Response& response) {
    static constexpr std::string_view kText = "OK";
    if (!request.ranges.empty()) {
      // cpp-httplib 0.11 asks a provider for ranges that lie beyond its end, too.
      response.set_content(std::string(kText), "text/plain");
      return ServicePool::count_as_served();
    }
    // By a provider, for who gives one is told whether the answer could be written: it cannot when
    // the client has hung up by a reset.
    response.set_content_provider(
        kText.size(), "text/plain",
        [](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
          sink.write(kText.data() + offset, length);
          return true;
        },
        [](bool written) {
          if (written) ServicePool::count_as_served();
        });
  });
}

}  // namespace

HttpServer::HttpServer(const ServiceOptions& options, std::uint64_t seed, const Address& address)
    : pool_(options, seed), backlog_(options.backlog), address_(address) {
  const std::scoped_lock lock(mutex_);
  open();
}

void HttpServer::open() {
  httplib::Server& server = servers_.emplace_back();
  ended_ = false;
  try {
    server.new_task_queue = [this] { return new ServiceTaskQueue(pool_, accept_error_); };
    serve_one_request_each(server, kReadTimeout);
    add_routes(server);
    const Listening listening = bind_alone(server, address_);
    port_ = listening.port;
    address_.port = static_cast<std::size_t>(port_);
    // An answer is complete when its connection is closed: its head, its body and the end of the
    // connection go out as one packet, not as three. (The connections inherit the option.)
    const int yes = 1;
    setsockopt(listening.descriptor, IPPROTO_TCP, TCP_CORK, &yes, sizeof(yes));
    // cpp-httplib asks the kernel for a queue of 5; asking again changes it.
    if (::listen(listening.descriptor, static_cast<int>(backlog_)) != 0) {
      throw std::runtime_error(std::string("cannot set the backlog: ") + std::strerror(errno));
    }
  } catch (...) {
    servers_.pop_back();
    ended_ = true;
    throw;
  }
}

void HttpServer::run() {
  std::unique_lock lock(mutex_);
  while (!stop_wanted_) {
    httplib::Server& server = servers_.back();
    lock.unlock();
    const bool ended_well = server.listen_after_bind();
    lock.lock();
    ended_ = true;
    changed_.notify_all();
    if (!ended_well && !stop_wanted_ && !down_) {
      lock.unlock();
      pool_.stop();
      pool_.join();
      throw std::runtime_error(std::string("accepting connections failed: ") +
                               std::strerror(accept_error_));
    }
    changed_.wait(lock, [this] { return !down_ || stop_wanted_; });
  }
  ended_ = true;
  lock.unlock();
  pool_.stop();
  pool_.join();
}

void HttpServer::stop() {
  std::unique_lock lock(mutex_);
  stop_wanted_ = true;
  changed_.notify_all();
  pool_.stop();
  httplib::Server& server = servers_.back();  // no other one comes any more
  lock.unlock();
  stop_listening(server, ended_);
}

void HttpServer::go_down() {
  const std::scoped_lock order(orders_);
  std::unique_lock lock(mutex_);
  if (down_ || stop_wanted_) return;
  down_ = true;
  pool_.turn_away(true);
  httplib::Server& server = servers_.back();
  lock.unlock();
  stop_listening(server, ended_);  // the kernel resets those that nobody has accepted
  lock.lock();
  changed_.wait(lock, [this] { return ended_.load(); });
  reset_connections(port_);
  pool_.lose_all();
}

void HttpServer::listen() {
  const std::scoped_lock order(orders_);
  const std::scoped_lock lock(mutex_);
  if (!down_ || stop_wanted_) return;
  open();
  pool_.turn_away(false);
  down_ = false;
  changed_.notify_all();
}

}  // namespace retrystorm
