#include "common/http/listening.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <thread>

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

void stop_listening(httplib::Server& server, const std::atomic<bool>& ended) {
  // cpp-httplib's `stop` does nothing before its loop has begun.
  while (!ended && !server.is_running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!ended) server.stop();
}

}  // namespace retrystorm
