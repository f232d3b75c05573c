#include "telemetry/listening.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

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

}  // namespace retrystorm
