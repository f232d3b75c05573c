#include "common/http/listening.h"

#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace retrystorm {

Listening bind_alone(httplib::Server& server, const Address& address) {
  Listening listening;
  server.set_socket_options([&listening](int descriptor) {
    const int yes = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    listening.descriptor = descriptor;
  });
  errno = 0;
  const auto wanted = static_cast<int>(address.port);
  if (wanted == 0) {
    listening.port = server.bind_to_any_port(address.host);
  } else {
    listening.port = server.bind_to_port(address.host, wanted) ? wanted : -1;
  }
  const int error = errno;
  server.set_socket_options([](int) {});  // this call's variables are about to go
  if (listening.port >= 0) return listening;
  if (error == EADDRINUSE) {
    throw AddressInUse("port " + std::to_string(wanted) + " is already in use");
  }
  throw std::runtime_error("cannot listen on " + address.host + ", port " + std::to_string(wanted) +
                           (error == 0 ? "" : std::string(": ") + std::strerror(error)));
}

void serve_one_request_each(httplib::Server& server, std::chrono::seconds patience) {
  server.set_keep_alive_max_count(1);
  server.set_keep_alive_timeout(patience.count());
  server.set_read_timeout(patience);
  server.set_write_timeout(patience);
}

void check_before_reading(httplib::Server& server, std::size_t largest_body, Check check) {
  // The status with which a request is refused, 0 = it is not.
  const auto refusal = [largest_body](const httplib::Request& request) {
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (!reads && (request.method != "POST" || largest_body == 0)) return 405;
    // Later versions of cpp-httplib read the body of a GET too, if it says that it has one.
    const bool bare =
        !request.has_header("Content-Length") && !request.has_header("Transfer-Encoding");
    if (reads && bare) return 0;
    // cpp-httplib's own limit does not hold for a body whose length is not told.
    const std::string length = request.get_header_value("Content-Length");
    std::size_t bytes = 0;
    const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
    const bool told = error == std::errc() && end == length.data() + length.size() &&
                      request.get_header_value_count("Content-Length") == 1 &&
                      !request.has_header("Transfer-Encoding");
    return told && bytes <= (reads ? 0 : largest_body) ? 0 : 413;
  };
  const auto answer = [largest_body](int status, httplib::Response& response) {
    response.status = status;
    response.set_header("Connection", "close");
    if (status == 405)
      response.set_header("Allow", largest_body == 0 ? "GET, HEAD" : "GET, HEAD, POST");
  };
  server.set_pre_routing_handler([refusal, answer, check = std::move(check)](
                                     const httplib::Request& request, httplib::Response& response) {
    using Response = httplib::Server::HandlerResponse;
    if (const int status = refusal(request)) {
      answer(status, response);
      return Response::Handled;
    }
    return check && check(request, response) ? Response::Handled : Response::Unhandled;
  });
  // Whoever asks before sending a body is told before that.
  server.set_expect_100_continue_handler(
      [refusal, answer](const httplib::Request& request, httplib::Response& response) {
        const int status = refusal(request);
        if (status == 0) return 100;
        answer(status, response);
        return status;
      });
}

void stop_listening(httplib::Server& server, const std::atomic<bool>& ended) {
  // cpp-httplib's `stop` does nothing before its loop has begun.
  while (!ended && !server.is_running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!ended) server.stop();
}

}  // namespace retrystorm
