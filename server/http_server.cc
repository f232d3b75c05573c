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

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// A client that has something to say has said it long before its request's time has come.
constexpr auto kReadTimeout = 1s;

}  // namespace

HttpServer::HttpServer(const ServiceOptions& options, std::uint64_t seed, const Address& address)
    : pool_(options, seed) {
  server_.new_task_queue = [this] { return new ServiceTaskQueue(pool_, accept_error_); };
  serve_one_request_each(server_, kReadTimeout);
  add_routes();
  bind(options, address);
}

void HttpServer::add_routes() {
  check_before_reading(
      server_, 0, [](const httplib::Request& request, httplib::Response& response) {
        const Answer& answer = ServicePool::current_answer();
        if (request.has_header(kAsksForTiming)) {
          response.set_header(kServerTiming,
                              print_service_time(ServicePool::current_service_time()));
        }
        if (answer.ok()) return false;
        response.status = answer.status();
        if (answer.retry_after > Duration::zero()) {
          const auto seconds = std::chrono::round<std::chrono::seconds>(answer.retry_after);
          response.set_header("Retry-After", std::to_string(seconds.count()));
        }
        response.set_content(
            answer.status() == 500 ? "an error, for --error-share\n" : "come again later\n",
            "text/plain");
        return true;
      });
  server_.Get("/api", [](const httplib::Request& request, httplib::Response& response) {
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
  ended_ = true;
  if (!ended_well && !stop_wanted_) {
    throw std::runtime_error(std::string("accepting connections failed: ") +
                             std::strerror(accept_error_));
  }
}

void HttpServer::stop() {
  stop_wanted_ = true;
  pool_.stop();
  stop_listening(server_, ended_);
}

}  // namespace retrystorm
