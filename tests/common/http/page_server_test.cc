#include "common/http/page_server.h"

#include <sys/resource.h>

#include "common/http/connection.h"
#include "common/http/request_server.h"
#include "common/os/process.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

PageServer::Page page(const std::string& path, const std::string& text) {
  return {.path = path, .content_type = "text/plain", .render = [text] { return text; }};
}

TEST(PageServer, ServesItsPagesAndNothingElse) {
  const PageServer page_server(0, {page("/a", "alpha"), page("/b", "beta")});
  EXPECT_THAT(test::get(page_server.port(), 10s, "/a"),
              AllOf(test::HasStatus(200), test::HasHeader("Connection: close"),
                    test::HasHeader("Cache-Control: no-store"), test::HasBody("alpha")));
  EXPECT_THAT(test::get(page_server.port(), 10s, "/b"), test::HasBody("beta"));
  EXPECT_THAT(test::get(page_server.port(), 10s, "/c"), test::HasStatus(404));
}

TEST(PageServer, SharesItsPortWithNobody) {
  const PageServer first(0, {});
  EXPECT_THROW(PageServer(static_cast<std::size_t>(first.port()), {}), AddressInUse);
}

TEST(PageServer, ReadsNoBody) {
  const PageServer page_server(0, {page("/a", "alpha")});
  for (const std::string method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PRI"}) {
    for (const std::string head :
         {"", "Transfer-Encoding: chunked\r\n", "Content-Length: 99999\r\n",
          "Content-Length: 9\r\nExpect: 100-continue\r\n"}) {
      const test::Socket socket = test::connect_to(page_server.port());
      // The body is never sent: a server that waits for it would not answer in time.
      ASSERT_TRUE(socket.send(method + " /a HTTP/1.1\r\nHost: h\r\n" + head + "\r\n"));
      EXPECT_THAT(socket.receive(900ms),
                  AllOf(test::HasStatus(405), test::HasHeader("Allow: GET, HEAD")))
          << method << ' ' << head;
    }
  }
}

TEST(CheckBeforeReading, AcceptsOnlyASmallBodyWithALength) {
  LoopbackServer local(0, 1s);
  check_before_reading(local.server(), 10, nullptr);
  local.server().Post("/", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.body, "text/plain");
  });
  local.start(1);
  const int port = local.port();
  const auto post = [port](const std::string& head_and_body) {
    const test::Socket socket = test::connect_to(port);
    socket.send("POST / HTTP/1.1\r\nHost: h\r\n" + head_and_body);
    return socket.receive(10s);
  };
  EXPECT_THAT(post("Content-Length: 10\r\n\r\n0123456789"), test::HasBody("0123456789"));
  for (const char* bad :
       {"Content-Length: 11\r\n\r\n", "\r\n", "Transfer-Encoding: chunked\r\n\r\n",
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "Content-Length: 99999999999999999999999\r\n\r\n", "Content-Length: -1\r\n\r\n",
        "Content-Length: 11\r\nExpect: 100-continue\r\n\r\n"}) {
    EXPECT_THAT(post(bad), test::HasStatus(413)) << bad;
  }
}

TEST(ShutDownAllSockets, SparesListeners) {
  const test::Listener listener;
  const PageServer page_server(0, {page("/a", "alpha")});
  Connection connection;
  ASSERT_TRUE(connection.open(resolve_url(listener.url()), nullptr, Clock::now() + 10s));
  shut_down_all_sockets();
  std::signal(SIGPIPE, SIG_IGN);
  EXPECT_FALSE(connection.write("x"));
  EXPECT_TRUE(test::connect_to(listener.port()));
  EXPECT_THAT(test::get(page_server.port(), 10s, "/a"), test::HasBody("alpha"));
}

// Neither without descriptors nor without /proc, whose folder needs one.
TEST(ShutDownAllSockets, NeedsNoDescriptor) {
  if (!test::kCanRunOutOfDescriptors) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  const test::Listener other;
  const Listener own({}, 5);
  const int port = static_cast<int>(own.port());
  const test::Socket client = test::connect_to(port);
  const Descriptor kept = own.accept();
  Connection connection;
  ASSERT_TRUE(connection.open(resolve_url(other.url()), nullptr, Clock::now() + 10s));
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  reset_connections(port);
  shut_down_all_sockets();
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_TRUE(client.closed_by_peer(1s));
  EXPECT_FALSE(connection.can_be_used_again());
}

TEST(PageServer, MayEndAtOnce) {
  for (int i = 0; i < 20; ++i) const PageServer page_server(0, {});
}

// There are more silent connections than threads, and more than it keeps open.
TEST(PageServer, AnswersBesideSilentClients) {
  const PageServer page_server(0, {page("/a", "alpha")});
  std::vector<test::Socket> silent;
  for (int i = 0; i < 50; ++i) {
    silent.push_back(test::connect_to(page_server.port()));
    EXPECT_THAT(test::get(page_server.port(), 500ms, "/a"), test::HasBody("alpha")) << i;
  }
  for (const test::Socket& each : silent) EXPECT_TRUE(each.closed_by_peer(10s));
}

// A client that sends a line now and then keeps its connection for one second, not forever.
TEST(PageServer, AnswersBesideSlowClients) {
  const PageServer page_server(0, {page("/a", "alpha")});
  std::vector<test::Socket> slow;
  for (int i = 0; i < 10; ++i) {
    slow.push_back(test::connect_to(page_server.port()));
    slow.back().send("GET /a HTTP/1.1\r\n");
  }
  const TimePoint start = Clock::now();
  const auto goes_on = [](const test::Socket& each) { return each.send("X: y\r\n"); };
  while (std::any_of(slow.begin(), slow.end(), goes_on)) {
    ASSERT_LT(Clock::now() - start, 10s);
    EXPECT_THAT(test::get(page_server.port(), 500ms, "/a"), test::HasBody("alpha"));
    std::this_thread::sleep_for(50ms);
  }
}

TEST(PageServer, TakesAHeadInPieces) {
  const PageServer page_server(0, {page("/a", "alpha")});
  const test::Socket socket = test::connect_to(page_server.port());
  for (const char letter : std::string("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")) {
    ASSERT_TRUE(socket.send(std::string(1, letter)));
  }
  EXPECT_THAT(socket.receive(10s), test::HasBody("alpha"));
}

TEST(PageServer, RefusesAHeadThatIsTooLong) {
  const PageServer page_server(0, {page("/a", "alpha")});
  for (const std::string& line : {std::string(20'000, 'x'), std::string("X: y\r\n")}) {
    const test::Socket socket = test::connect_to(page_server.port());
    std::string head = "GET /a HTTP/1.1\r\n";
    while (head.size() < 20'000) head += line;
    ASSERT_TRUE(socket.send(head));
    EXPECT_THAT(socket.receive(10s), test::HasStatus(431));
  }
}

}  // namespace
}  // namespace retrystorm
