// HTTP/2 against a peer that is scripted frame by frame (RFC 9113).
#include "common/http/http2_connection.h"

#include <future>

#include "tests/support/certificate.h"
#include "tests/support/child_process.h"
#include "tests/support/http2_peer.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using namespace std::string_literals;

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
  Http2Peer accept() const { return Http2Peer(listener_.accept(kPatience)); }

  const Listener listener_;
  const HttpRequest request_ = make_request({.url = listener_.url()});
  std::promise<void> accepted_;
  Http2Connection connection_{request_};
};

TEST_F(Http2ConnectionTest, HasManyRequestsUnderWay) {
  auto first = open();
  Http2Peer peer = accept();
  EXPECT_EQ(peer.next(kHeaders).stream, 1u);
  peer.settle();
  ASSERT_TRUE(is_accepted());
  EXPECT_TRUE(connection_.can_be_used_again());
  auto second = send();
  EXPECT_EQ(peer.next(kHeaders).stream, 3u);
  peer.answer(3, "\x8d"s);  // ":status: 404"
  EXPECT_EQ(second.get().response.status, 404);
  EXPECT_EQ(first.wait_for(0s), std::future_status::timeout);
  peer.send({kHeaders, kEndHeaders, 1, kOkHead});
  peer.send({kData, kEndStream, 1, std::string(150, 'x')});
  const HttpAnswer answer = first.get();
  EXPECT_TRUE(answer);
  EXPECT_EQ(answer.response.status, 200);
  EXPECT_EQ(answer.response.body, std::string(100, 'x'));
}

TEST_F(Http2ConnectionTest, EndsOnlyTheStreamOfARequestThatTimesOut) {
  auto first = open(200ms);
  Http2Peer peer = accept();
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
  Http2Peer peer = accept();
  EXPECT_EQ(first.get().fault, Connection::Fault::kTimedOut);
  EXPECT_EQ(peer.next(kReset).type, -1);
  EXPECT_FALSE(connection_.can_be_used_again());
  EXPECT_FALSE(connection_.is_accepted());
}

TEST_F(Http2ConnectionTest, FailsWhatTheServerDoesNotAnswerBeforeItGoesAway) {
  auto first = open();
  Http2Peer peer = accept();
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
    Http2Peer peer = accept();
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
  Http2Peer peer = accept();
  peer.settle();
  peer.next(kHeaders);
  peer.send({.type = kReset, .stream = 1, .payload = big_endian(7)});  // REFUSED_STREAM
  EXPECT_THAT(first.get().why, HasSubstr("REFUSED_STREAM"));
  EXPECT_TRUE(connection_.can_be_used_again());
}

TEST_F(Http2ConnectionTest, WaitsWhereTheServerTakesNoStreams) {
  auto first = open();
  Http2Peer peer = accept();
  peer.next(kHeaders);
  peer.settle("\0\x03"s + big_endian(0));  // SETTINGS_MAX_CONCURRENT_STREAMS
  ASSERT_TRUE(is_accepted());
  EXPECT_EQ(send(100ms).get().fault, Connection::Fault::kTimedOut);
  peer.answer(1);
  EXPECT_TRUE(first.get());
}

TEST_F(Http2ConnectionTest, BoundsTheHeadOfAnAnswer) {
  auto first = open();
  Http2Peer peer = accept();
  peer.settle();
  peer.next(kHeaders);
  // A literal header without indexing, of a name and a value of 100 bytes each.
  const std::string header = "\0\x64"s + std::string(100, 'a') + '\x64' + std::string(100, 'b');
  std::string part;
  while (part.size() < 16'000) part += header;
  peer.send({kHeaders, 0, 1, kOkHead + part});
  for (int i = 0; i < 5; ++i) peer.send({kContinuation, i == 4 ? kEndHeaders : char{0}, 1, part});
  const HttpAnswer answer = first.get();
  EXPECT_EQ(answer.fault, Connection::Fault::kBroken);
}

// Every request ends at its deadline, and the connection when it is wanted no more, whatever the server sends.
TEST_F(Http2ConnectionTest, BearsFloods) {
  for (const Frame& frame : kFloods) {
    const FakeServer server([&](const Socket& socket) { flood(socket, frame); });
    const HttpRequest request = make_request({.url = server.url()});
    const TimePoint begin = Clock::now();
    {
      Http2Connection connection(request);
      connection.open(300ms, 0, {}, [] {});
      std::vector<std::future<HttpAnswer>> more;
      for (int i = 0; i < 5; ++i) {
        more.push_back(
            std::async(std::launch::async, [&] { return connection.send(300ms, 0, {}); }));
      }
      for (auto& each : more) EXPECT_FALSE(each.get());
      connection.can_be_used_again();
    }
    EXPECT_LT(Clock::now() - begin, kPatience) << int{frame.type};  // not for ever
  }
}

// Also while it connects.
TEST_F(Http2ConnectionTest, CanBeInterruptedWhileItConnects) {
  const FullListener full;
  const HttpRequest request = make_request({.url = full.url()});
  Http2Connection connection(request);
  Interruption interruption;
  auto answer = std::async(std::launch::async, [&] {
    return connection.open(
        std::chrono::hours(1), 0, {}, [] {}, &interruption);
  });
  while (answer.wait_for(20ms) != std::future_status::ready) interruption.interrupt();
  EXPECT_FALSE(answer.get());
}

TEST_F(Http2ConnectionTest, SaysThatAServerDoesNotSpeakIt) {
  auto first = open();
  const Socket peer = listener_.accept(kPatience);
  answer(peer, "400 Bad Request");
  const HttpAnswer refused = first.get();
  EXPECT_EQ(refused.fault, Connection::Fault::kBroken);
  EXPECT_EQ(refused.why, "the server does not speak HTTP/2");
}

TEST_F(Http2ConnectionTest, AsksWhetherAServerThatOnlyHangsUpSpeaksIt) {
  auto first = open();
  listener_.accept(kPatience);  // and closes it
  EXPECT_EQ(first.get().why, "the server has closed the connection: does it speak HTTP/2?");
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
