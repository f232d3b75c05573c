#include "common/http/listening.h"

#include <linux/sock_diag.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "common/os/process.h"

namespace retrystorm {
namespace {

// Returns an empty descriptor and sets `errno` if it fails.
Descriptor listen_at(const addrinfo& where, int backlog) {
  Descriptor socket(::socket(where.ai_family, where.ai_socktype | SOCK_CLOEXEC, where.ai_protocol));
  if (!socket) return socket;
  const int yes = 1, no = 0;
  setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  // A server on [::] accepts IPv4 too, whatever the system's default is.
  if (where.ai_family == AF_INET6) {
    setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  }
  if (bind(socket.number(), where.ai_addr, where.ai_addrlen) == 0 &&
      listen(socket.number(), backlog) == 0) {
    return socket;
  }
  const int error = errno;
  socket = {};
  errno = error;
  return {};
}

}  // namespace

std::string print_address(const Address& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + address.host + ']' : address.host) + ':' + std::to_string(address.port);
}

Listener::Listener(const Address& address, std::size_t backlog) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int unknown = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  const std::string cannot = "cannot listen on " + address.host + ", port " + port + ": ";
  if (unknown != 0) throw std::runtime_error(cannot + gai_strerror(unknown));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  int error = 0;
  for (const addrinfo* each = found; each != nullptr && !socket_; each = each->ai_next) {
    socket_ = listen_at(*each, static_cast<int>(backlog));
    if (!socket_) error = errno;
  }
  if (socket_) {
    port_ = static_cast<std::size_t>(local_port(socket_.number()));
  } else if (error == EADDRINUSE) {
    throw AddressInUse("port " + port + " is already in use");
  } else {
    throw std::runtime_error(cannot + std::strerror(error));
  }
}

Descriptor Listener::accept() const {
  return Descriptor::of_connection(accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC));
}

KernelState Listener::kernel_state() const {
  // Of a listening socket, Linux reports the length of its queue in this field (ss's Recv-Q).
  tcp_info info{};
  socklen_t size = sizeof(info);
  getsockopt(socket_.number(), IPPROTO_TCP, TCP_INFO, &info, &size);
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  size = sizeof(memory);
  getsockopt(socket_.number(), SOL_SOCKET, SO_MEMINFO, memory.data(), &size);
  return {.accept_queue = info.tcpi_unacked, .no_room = memory[SK_MEMINFO_DROPS]};
}

void Listener::shut_down() {
  shut_down_ = true;
  shutdown(socket_.number(), SHUT_RDWR);
}

}  // namespace retrystorm
