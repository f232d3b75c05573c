// The server's end of an HTTP/2 connection, frame by frame (RFC 9113).
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {

enum FrameType : char {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kReset = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
  kUnknown = 0x3f
};
inline constexpr char kEndStream = 1, kEndHeaders = 4, kAck = 1;
inline constexpr std::uint32_t kCancel = 8;

inline const std::string kOkHead(1, '\x88');  // HPACK: ":status: 200" of the static table

struct Frame {
  char type = -1;
  char flags = 0;
  std::uint32_t stream = 0;
  std::string payload{};
};

inline std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

inline std::uint32_t number_at(const std::string& bytes, std::size_t place, std::size_t size = 4) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes.at(place + i));
  }
  return number;
}

inline std::string bytes_of(const Frame& frame) {
  return big_endian(static_cast<std::uint32_t>(frame.payload.size())).substr(1) + frame.type +
         frame.flags + big_endian(frame.stream) + frame.payload;
}

// Frames that ask nothing and answer nothing.
inline const std::vector<Frame> kFloods{{kPing, kAck, 0, std::string(8, 'x')},
                                        {.type = kUnknown},
                                        {kPriority, 0, 1, big_endian(0) + 'w'},
                                        {.type = kSettings, .flags = kAck},
                                        {kData, 0, 1, ""},
                                        {kWindowUpdate, 0, 99, big_endian(1)},
                                        {kReset, 0, 1, big_endian(8)}};

// Functions for a `FakeServer`. This one accepts the connection, and then sends the frame as fast as it can, until the
// client closes it.
inline void flood(const Socket& socket, const Frame& frame) {
  socket.receive(kPatience, "SM\r\n\r\n");  // the preface
  socket.send(bytes_of({.type = kSettings}));
  std::string many;
  for (int i = 0; i < 4000; ++i) many += bytes_of(frame);
  while (socket.send(many)) {
  }
}

// The server's end of a connection.
class Http2Peer {
 public:
  explicit Http2Peer(Socket socket) : socket_(std::move(socket)) { take(24); }  // the preface

  void send(const Frame& frame) const { socket_.send(bytes_of(frame)); }
  void settle(const std::string& settings = {}) const {
    send({.type = kSettings, .payload = settings});
  }
  void answer(std::uint32_t stream, const std::string& head = kOkHead) const {
    send({kHeaders, kEndHeaders | kEndStream, stream, head});
  }

  // The next frame of this type. One without a type: the client has closed the connection.
  Frame next(char type) {
    while (true) {
      const std::string head = take(9);
      if (head.size() < 9) return {};
      Frame frame{head[3], head[4], number_at(head, 5), take(number_at(head, 0, 3))};
      if (frame.type == type) return frame;
    }
  }

 private:
  // Empty if the client closes the connection before that, or sends nothing for long.
  std::string take(std::size_t size) {
    while (read_.size() < size) {
      pollfd wait{socket_.descriptor(), POLLIN, 0};
      if (poll(&wait, 1, kMilliseconds) <= 0) return {};
      std::array<char, 4096> part{};
      const ssize_t got = recv(socket_.descriptor(), part.data(), part.size(), 0);
      if (got <= 0) return {};
      read_.append(part.data(), static_cast<std::size_t>(got));
    }
    std::string taken = read_.substr(0, size);
    read_.erase(0, size);
    return taken;
  }

  static constexpr int kMilliseconds = static_cast<int>(kPatience / std::chrono::milliseconds(1));
  Socket socket_;
  std::string read_;
};

}  // namespace retrystorm::test
