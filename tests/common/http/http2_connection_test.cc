// HTTP/2 against a peer that is scripted frame by frame (RFC 9113).
#include "common/http/http2_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <future>
#include <string>
#include <thread>

#include "tests/support/certificate.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::HasSubstr;

enum Type : char {
  kData = 0,
  kHeaders = 1,
  kReset = 3,
  kSettings = 4,
  kGoAway = 7,
  kContinuation = 9
};
constexpr char kEndStream = 1, kEndHeaders = 4;
constexpr std::uint32_t kCancel = 8;

const std::string kOk(1, '\x88');  // HPACK: ":status: 200" of the static table

struct Frame {
  char type = -1;
  char flags = 0;
  std::uint32_t stream = 0;
  std::string payload{};
};

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

std::uint32_t number_at(const std::string& bytes, std::size_t place, std::size_t size = 4) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes.at(place + i));
  }
  return number;
}

// The server's end of a connection.
class Peer {
 public:
  explicit Peer(Socket socket) : socket_(std::move(socket)) { take(24); }  // the preface

  void send(const Frame& frame) const {
    const auto size = static_cast<std::uint32_t>(frame.payload.size());
    socket_.send(big_endian(size).substr(1) + frame.type + frame.flags + big_endian(frame.stream) +
                 frame.payload);
  }
  void settle(const std::string& settings = {}) const {
    send({.type = kSettings, .payload = settings});
  }
  void answer(std::uint32_t stream, const std::string& head = kOk) const {
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

  static constexpr int kMilliseconds = static_cast<int>(kPatience / 1ms);
  Socket socket_;
  std::string read_;
};

class Http2ConnectionTest : public testing::Test {
 protected:
  Http2ConnectionTest() { std::signal(SIGPIPE, SIG_IGN); }

  std::future<HttpAnswer> open(Duration patience = kPatience) {
    return std::async(std::launch::async, [this, patience] {
      return connection_.open(patience, 100, {}, [this] { accepted_.set_value(); });
    });
  }
  std::future<HttpAnswer> send(Duration patience = kPatience) {
    return std::async(std::launch::async,
                      [this, patience] { return connection_.send(patience, 100, {}); });
  }
  bool is_accepted() {
    return accepted_.get_future().wait_for(kPatience) == std::future_status::ready;
  }
  Peer accept() const { return Peer(listener_.accept(kPatience)); }

  const Listener listener_;
  const HttpRequest request_ = make_request({.url = listener_.url()});
  std::promise<void> accepted_;
  Http2Connection connection_{request_};
};

TEST_F(Http2ConnectionTest, HasManyRequestsUnderWay) {
  auto first = open();
  Peer peer = accept();
  EXPECT_EQ(peer.next(kHeaders).stream, 1u);
  peer.settle();
  ASSERT_TRUE(is_accepted());
  EXPECT_TRUE(connection_.can_be_used_again());
  auto second = send();
  EXPECT_EQ(peer.next(kHeaders).stream, 3u);
  peer.answer(3, "\x8d"s);  // ":status: 404"
  EXPECT_EQ(second.get().response.status, 404);
  EXPECT_EQ(first.wait_for(0s), std::future_status::timeout);
  peer.send({kHeaders, kEndHeaders, 1, kOk});
  peer.send({kData, kEndStream, 1, std::string(150, 'x')});
  const HttpAnswer answer = first.get();
  EXPECT_TRUE(answer);
  EXPECT_EQ(answer.response.status, 200);
  EXPECT_EQ(answer.response.body, std::string(100, 'x'));
}

TEST_F(Http2ConnectionTest, EndsOnlyTheStreamOfARequestThatTimesOut) {
  auto first = open(200ms);
  Peer peer = accept();
  peer.settle();
  EXPECT_EQ(first.get().fault, Connection::Fault::kTimedOut);
  const Frame reset = peer.next(kReset);
  EXPECT_EQ(reset.stream, 1u);
  EXPECT_EQ(number_at(reset.payload, 0), kCancel);
  EXPECT_TRUE(connection_.can_be_used_again());
  auto second = send();
  peer.next(kHeaders);
  peer.answer(1);  // too late, for nobody
  peer.answer(3);
  EXPECT_TRUE(second.get());
}

TEST_F(Http2ConnectionTest, IsClosedIfTheServerDoesNotAcceptItInTime) {
  auto first = open(100ms);
  Peer peer = accept();
  EXPECT_EQ(first.get().fault, Connection::Fault::kTimedOut);
  EXPECT_EQ(peer.next(kReset).type, -1);
  EXPECT_FALSE(connection_.can_be_used_again());
  EXPECT_FALSE(connection_.is_accepted());
}

TEST_F(Http2ConnectionTest, FailsWhatTheServerDoesNotAnswerBeforeItGoesAway) {
  auto first = open();
  Peer peer = accept();
  peer.settle();
  ASSERT_TRUE(is_accepted());
  auto second = send();
  peer.next(kHeaders);
  peer.next(kHeaders);
  // It has taken up stream 1 only.
  peer.send({.type = kGoAway, .payload = big_endian(1) + big_endian(0)});
  const HttpAnswer lost = second.get();
  EXPECT_EQ(lost.fault, Connection::Fault::kBroken);
  EXPECT_EQ(lost.no_answer, NoAnswer::kReset);
  EXPECT_FALSE(connection_.can_be_used_again());
  peer.answer(1);
  EXPECT_TRUE(first.get());
}

TEST_F(Http2ConnectionTest, FailsAllRequestsWhenItIsLost) {
  auto first = open();
  {
    Peer peer = accept();
    peer.settle();
    ASSERT_TRUE(is_accepted());
    peer.next(kHeaders);
  }
  const HttpAnswer lost = first.get();
  EXPECT_EQ(lost.fault, Connection::Fault::kBroken);
  EXPECT_EQ(lost.no_answer, NoAnswer::kReset);
  EXPECT_FALSE(send().get());
}

TEST_F(Http2ConnectionTest, FailsARequestThatTheServerResets) {
  auto first = open();
  Peer peer = accept();
  peer.settle();
  peer.next(kHeaders);
  peer.send({.type = kReset, .stream = 1, .payload = big_endian(7)});  // REFUSED_STREAM
  EXPECT_THAT(first.get().why, HasSubstr("REFUSED_STREAM"));
  EXPECT_TRUE(connection_.can_be_used_again());
}

TEST_F(Http2ConnectionTest, WaitsWhereTheServerTakesNoStreams) {
  auto first = open();
  Peer peer = accept();
  peer.next(kHeaders);
  peer.settle("\0\x03"s + big_endian(0));  // SETTINGS_MAX_CONCURRENT_STREAMS
  ASSERT_TRUE(is_accepted());
  EXPECT_EQ(send(100ms).get().fault, Connection::Fault::kTimedOut);
  peer.answer(1);
  EXPECT_TRUE(first.get());
}

TEST_F(Http2ConnectionTest, BoundsTheHeadOfAnAnswer) {
  auto first = open();
  Peer peer = accept();
  peer.settle();
  peer.next(kHeaders);
  // A literal header without indexing, of a name and a value of 100 bytes each.
  const std::string header = "\0\x64"s + std::string(100, 'a') + '\x64' + std::string(100, 'b');
  std::string part;
  while (part.size() < 16'000) part += header;
  peer.send({kHeaders, 0, 1, kOk + part});
  for (int i = 0; i < 5; ++i) peer.send({kContinuation, i == 4 ? kEndHeaders : char{0}, 1, part});
  const HttpAnswer answer = first.get();
  EXPECT_EQ(answer.fault, Connection::Fault::kBroken);
}

TEST_F(Http2ConnectionTest, SaysThatAServerDoesNotSpeakIt) {
  auto first = open();
  const Socket peer = listener_.accept(kPatience);
  answer(peer, "400 Bad Request");
  const HttpAnswer refused = first.get();
  EXPECT_EQ(refused.fault, Connection::Fault::kBroken);
  EXPECT_EQ(refused.why, "the server does not speak HTTP/2");
}

TEST_F(Http2ConnectionTest, IsRefusedWhereNobodyListens) {
  const HttpRequest request = make_request({.url = "http://127.0.0.1:1/"});
  Http2Connection connection(request);
  const HttpAnswer answer = connection.open(kPatience, 0, {}, [] {});
  EXPECT_EQ(answer.fault, Connection::Fault::kBroken);
  EXPECT_EQ(answer.no_answer, NoAnswer::kRefused);
}

TEST(Http2OverTls, NeedsAServerThatAgreesToIt) {
  std::signal(SIGPIPE, SIG_IGN);
  const TlsServer server(Certificate("DNS:localhost"));
  const HttpRequest request = make_request({.url = server.url("localhost"), .insecure = true});
  Http2Connection connection(request);
  EXPECT_EQ(connection.open(kPatience, 0, {}, [] {}).why, "the server does not speak HTTP/2");
}

}  // namespace
}  // namespace retrystorm::test
