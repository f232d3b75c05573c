#include "server/http_server.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <stdexcept>

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
  serve_one_request_each(server_, kReadTimeout);
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
  const Listening listening = bind_alone(server_, address);
  port_ = listening.port;
  // An answer is complete when its connection is closed: its head, its body and the end of the
  // connection go out as one packet, not as three. (The connections inherit the option.)
  const int yes = 1;
  setsockopt(listening.descriptor, IPPROTO_TCP, TCP_CORK, &yes, sizeof(yes));
  // cpp-httplib asks the kernel for a queue of 5; asking again changes it.
  if (::listen(listening.descriptor, static_cast<int>(options.backlog)) != 0) {
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
  stop_listening(server_, ended_);
}

}  // namespace retrystorm
