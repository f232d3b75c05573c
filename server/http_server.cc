#include "server/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// A client that has something to say has said it long before its request's time has come.
constexpr auto kReadTimeout = 1s;

std::string whole_seconds(Duration duration) {
  return std::to_string(std::max(1L, std::lround(std::ceil(to_seconds(duration)))));
}

}  // namespace

HttpServer::HttpServer(const ServiceOptions& options, const Address& address) : pool_(options) {
  server_.new_task_queue = [this] { return new ServiceTaskQueue(pool_); };
  server_.set_keep_alive_max_count(1);
  server_.set_keep_alive_timeout(kReadTimeout.count());
  server_.set_read_timeout(kReadTimeout);
  server_.set_write_timeout(kReadTimeout);
  server_.set_tcp_nodelay(true);
  add_routes();
  bind(options, address);
}

void HttpServer::add_routes() {
  server_.set_pre_routing_handler([](const httplib::Request&, httplib::Response& response) {
    const Admission admission = ServicePool::current_admission();
    if (admission == Admission::kServe) return httplib::Server::HandlerResponse::Unhandled;
    response.status = admission == Admission::kShed ? 503 : 429;
    response.set_header("Retry-After", whole_seconds(ServicePool::current_retry_after()));
    response.set_content("come again later\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
  server_.Get("/api", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("OK", "text/plain");
  });
}

void HttpServer::bind(const ServiceOptions& options, const Address& address) {
  // A server that is started anew may take over the address at once, but two never share it:
  // cpp-httplib's default, SO_REUSEPORT, would let a second one take half the connections.
  int listener = -1;
  server_.set_socket_options([&listener](int descriptor) {
    const int yes = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    listener = descriptor;
  });
  errno = 0;
  if (address.port == 0) {
    port_ = server_.bind_to_any_port(address.host);
  } else {
    port_ = server_.bind_to_port(address.host, static_cast<int>(address.port))
                ? static_cast<int>(address.port)
                : -1;
  }
  const int error = errno;
  if (port_ < 0) {
    if (error == EADDRINUSE) {
      throw std::runtime_error("port " + std::to_string(address.port) + " is already in use");
    }
    throw std::runtime_error("cannot listen on " + address.host + ", port " +
                             std::to_string(address.port) +
                             (error == 0 ? "" : std::string(": ") + std::strerror(error)));
  }
  // cpp-httplib asks the kernel for a queue of 5; asking again changes it.
  if (::listen(listener, static_cast<int>(options.backlog)) != 0) {
    throw std::runtime_error(std::string("cannot set the backlog: ") + std::strerror(errno));
  }
}

void HttpServer::run() {
  const bool ended_well = server_.listen_after_bind();
  const int error = errno;
  ended_ = true;
  if (!ended_well && !stop_wanted_) {
    throw std::runtime_error(std::string("accepting connections failed: ") + std::strerror(error));
  }
}

void HttpServer::stop() {
  stop_wanted_ = true;
  pool_.stop();
  // cpp-httplib's `stop` does nothing before its loop has begun.
  while (!ended_ && !server_.is_running()) std::this_thread::sleep_for(1ms);
  if (!ended_) server_.stop();
}

}  // namespace retrystorm
