#include "tests/support/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool readable(int descriptor, TimePoint until) {
  pollfd wait{descriptor, POLLIN, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  return poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) > 0;
}

Socket new_socket() {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) throw std::runtime_error("no more sockets");
  return socket;
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool Socket::send(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t sent = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string Socket::receive(Duration within, std::string_view enough) const {
  const TimePoint until = Clock::now() + within;
  std::string text;
  std::array<char, 4096> part{};
  while (readable(descriptor_, until)) {
    const ssize_t size = recv(descriptor_, part.data(), part.size(), 0);
    if (size <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(size));
    if (!enough.empty() && text.find(enough) != std::string::npos) break;
  }
  return text;
}

bool Socket::closed_by_peer(Duration within) const {
  const TimePoint until = Clock::now() + within;
  std::array<char, 4096> part{};
  while (readable(descriptor_, until)) {
    if (recv(descriptor_, part.data(), part.size(), 0) <= 0) return true;
  }
  return false;
}

void Socket::reset_on_close() const {
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

Socket connect_to(int port) {
  Socket socket = new_socket();
  const sockaddr_in address = loopback(port);
  if (connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
      0) {
    throw std::runtime_error("cannot connect to port " + std::to_string(port));
  }
  return socket;
}

std::string get(int port, Duration within, const std::string& path) {
  const Socket socket = connect_to(port);
  if (!socket.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")) return "";
  return socket.receive(within);
}

Listener::Listener(int backlog, int port) : socket_(new_socket()) {
  const int yes = 1;
  setsockopt(socket_.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address = loopback(port);
  socklen_t size = sizeof(address);
  auto* any_address = reinterpret_cast<sockaddr*>(&address);
  if (bind(socket_.descriptor(), any_address, size) != 0 ||
      listen(socket_.descriptor(), backlog) != 0 ||
      getsockname(socket_.descriptor(), any_address, &size) != 0) {
    throw std::runtime_error("cannot listen");
  }
  port_ = ntohs(address.sin_port);
}

Socket Listener::accept(Duration within) const {
  if (!readable(socket_.descriptor(), Clock::now() + within)) return {};
  return Socket(accept4(socket_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
}

FullListener::FullListener() {
  const sockaddr_in address = loopback(listener_.port());
  // A backlog of 0 holds one connection; the others keep trying to connect.
  for (int i = 0; i < 4; ++i) {
    Socket filler = new_socket();
    fcntl(filler.descriptor(), F_SETFL, O_NONBLOCK);
    connect(filler.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    fillers_.push_back(std::move(filler));
  }
}

FakeServer::FakeServer(std::function<void(Socket)> serve)
    : serve_(std::move(serve)), thread_([this](const std::stop_token& end) {
        while (!end.stop_requested()) {
          if (Socket socket = listener_.accept(20ms)) serve_(std::move(socket));
        }
      }) {}

FakeServer::~FakeServer() = default;

void answer(const Socket& socket, const std::string& status) {
  socket.receive(5s, "\r\n\r\n");
  socket.send("HTTP/1.1 " + status + "\r\nContent-Length: 2\r\nConnection: close\r\n\r\nOK");
}

void drip(const Socket& socket) {
  socket.receive(5s, "\r\n\r\n");
  if (!socket.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")) return;
  // Limited, so that a client that never leaves fails the test but does not block this thread.
  for (int i = 0; i < 1000 && socket.send("."); ++i) std::this_thread::sleep_for(10ms);
}

void reset(const Socket& socket) {
  socket.reset_on_close();
}

}  // namespace retrystorm::test
