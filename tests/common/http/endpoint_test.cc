#include "common/http/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "common/http/listening.h"
#include "common/os/process.h"
#include "tests/support/sockets.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Endpoint::Page page(const std::string& path, const std::string& text) {
  return {.path = path, .content_type = "text/plain", .render = [text] { return text; }};
}

TEST(Endpoint, ServesItsPagesAndNothingElse) {
  const Endpoint endpoint(0, {page("/a", "alpha"), page("/b", "beta")});
  EXPECT_THAT(test::get(endpoint.port(), 10s, "/a"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Connection: close\r\n"),
                    HasSubstr("Cache-Control: no-store\r\n"), EndsWith("\r\n\r\nalpha")));
  EXPECT_THAT(test::get(endpoint.port(), 10s, "/b"), EndsWith("\r\n\r\nbeta"));
  EXPECT_THAT(test::get(endpoint.port(), 10s, "/c"), StartsWith("HTTP/1.1 404"));
}

TEST(Endpoint, SharesItsPortWithNobody) {
  const Endpoint first(0, {});
  EXPECT_THROW(Endpoint(static_cast<std::size_t>(first.port()), {}), AddressInUse);
}

TEST(Endpoint, ReadsNoBody) {
  const Endpoint endpoint(0, {page("/a", "alpha")});
  for (const std::string method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PRI"}) {
    for (const std::string head :
         {"", "Transfer-Encoding: chunked\r\n", "Content-Length: 99999\r\n",
          "Content-Length: 9\r\nExpect: 100-continue\r\n"}) {
      const test::Socket socket = test::connect_to(endpoint.port());
      // The body itself never comes: who waits for it does not answer at once.
      ASSERT_TRUE(socket.send(method + " /a HTTP/1.1\r\nHost: h\r\n" + head + "\r\n"));
      EXPECT_THAT(socket.receive(900ms),
                  AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("Allow: GET, HEAD\r\n")))
          << method << ' ' << head;
    }
  }
}

TEST(CheckBeforeReading, ReadsOnlyASmallBodyOfAToldLength) {
  httplib::Server server;
  serve_one_request_each(server, 1s);
  check_before_reading(server, 10, nullptr);
  server.Post("/", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.body, "text/plain");
  });
  const int port = bind_alone(server, {}).port;
  std::atomic<bool> ended = false;
  std::thread thread([&] {
    server.listen_after_bind();
    ended = true;
  });
  const auto post = [port](const std::string& head_and_body) {
    const test::Socket socket = test::connect_to(port);
    socket.send("POST / HTTP/1.1\r\nHost: h\r\n" + head_and_body);
    return socket.receive(10s);
  };
  EXPECT_THAT(post("Content-Length: 10\r\n\r\n0123456789"), EndsWith("\r\n\r\n0123456789"));
  for (const char* bad :
       {"Content-Length: 11\r\n\r\n", "\r\n", "Transfer-Encoding: chunked\r\n\r\n",
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "Content-Length: 99999999999999999999999\r\n\r\n", "Content-Length: -1\r\n\r\n",
        "Content-Length: 11\r\nExpect: 100-continue\r\n\r\n"}) {
    EXPECT_THAT(post(bad), StartsWith("HTTP/1.1 413")) << bad;
  }
  stop_listening(server, ended);
  thread.join();
}

TEST(ShutDownAllSockets, SparesListeners) {
  const test::Listener listener;
  const Endpoint endpoint(0, {page("/a", "alpha")});
  const test::Socket connection = test::connect_to(listener.port());
  shut_down_all_sockets();
  EXPECT_FALSE(connection.send("x"));
  EXPECT_TRUE(test::connect_to(listener.port()));
  EXPECT_THAT(test::get(endpoint.port(), 10s, "/a"), EndsWith("alpha"));
}

TEST(Endpoint, MayEndAtOnce) {
  for (int i = 0; i < 20; ++i) const Endpoint endpoint(0, {});
}

TEST(Endpoint, AnswersBesideThoseWhoSayNothing) {
  const Endpoint endpoint(0, {page("/a", "alpha")});
  const test::Socket first = test::connect_to(endpoint.port());
  const test::Socket second = test::connect_to(endpoint.port());
  EXPECT_THAT(test::get(endpoint.port(), 10s, "/a"), EndsWith("alpha"));
}

}  // namespace
}  // namespace retrystorm
