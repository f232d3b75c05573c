// The server, as its clients see it.
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/exit_code.h"
#include "common/http/request_server.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// Does not wait until there is room for them.
std::vector<Socket> begin_to_connect(int port, int count) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<Socket> clients;
  for (int i = 0; i < count; ++i) {
    clients.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    connect(clients.back().descriptor(), reinterpret_cast<const sockaddr*>(&where), sizeof(where));
  }
  return clients;
}

// A fortieth of the least that Go's net/http needs for each, two buffers of 4 kB and a stack of 2 kB.
TEST(Server, ParksConnectionsInLittleMemory) {
  if (kSlowness > 1) GTEST_SKIP() << "a sanitizer keeps several times the program's memory";
  constexpr int kMany = 4000;
  const ServerUnderTest server({"--base-delay=1h", "--limit=1000000", "--backlog=4096"});
  const std::size_t before = server.memory();
  std::vector<Socket> clients;
  for (int i = 0; i < kMany; ++i) {
    clients.push_back(connect_to(server.port()));
    clients.back().send("GET /api HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  ASSERT_TRUE(eventually([&server] {
    return std::distance(
               std::filesystem::directory_iterator("/proc/" + std::to_string(server.pid()) + "/fd"),
               {}) > kMany;
  }));
  EXPECT_LE(static_cast<double>(server.memory() - before) / kMany, 10 * 1024 / 40);
}

// One that accepts all has one in it, maybe holds another one that it has no room for, and the queue of Linux takes one
// more than it says. One that accepts only for a free worker holds none.
TEST(Server, WritesWhatWaitsToBeAcceptedAndWhatHadNoRoom) {
  for (const auto& [service, no_room] :
       {std::pair(Arguments{"--base-delay=1h", "--max-connections=1"}, "[4-9]"),
        {Arguments{"--workers=1", "--service=workers", "--service-time=1h", "--accepts=when-free"},
         "[5-9]"}}) {
    const TempDir dir;
    const std::string path = dir.file("server.jsonl");
    const ServerUnderTest server(
        service + Arguments{"--backlog=3", "--report-interval=50ms", "--json=" + path});
    const std::vector<Socket> clients = begin_to_connect(server.port(), 10);
    const std::regex full(R"("accept_queue":4,"no_room":()" + std::string(no_room) + R"(|\d\d))");
    EXPECT_TRUE(eventually([&] { return std::regex_search(read_file(path), full); }))
        << read_file(path);
  }
}

TEST(Server, KnowsNothingButApi) {
  const ServerUnderTest server({"--base-delay", "0s"});
  for (const char* path : {"/", "/api/x", "/apis", "/index.html"}) {
    EXPECT_THAT(get(server.port(), kPatience, path),
                AllOf(HasStatus(404), HasHeader("Connection: close")))
        << path;
  }
}

// One request a connection, unless the client waits for the answer before the next one.
TEST(Server, KeepsTheConnectionOfAClientThatAsksForThat) {
  const ServerUnderTest server({"--base-delay", "0s"});
  const std::string request = "GET /api HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n";
  const Socket two = connect_to(server.port()), socket = connect_to(server.port());
  ASSERT_TRUE(two.send(request + request));
  const std::string answers = two.receive(kPatience);
  EXPECT_EQ(answers.find("HTTP/1.1 200"), answers.rfind("HTTP/1.1 200"));
  EXPECT_THAT(answers, HasStatus(200));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(socket.send(request));
    EXPECT_THAT(socket.receive(kPatience, "\r\n\r\nOK"),
                AllOf(HasStatus(200), Not(HasHeader("Connection: close"))));
  }
  ASSERT_TRUE(socket.send("GET /api HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  EXPECT_THAT(socket.receive(kPatience), HasHeader("Connection: close"));
}

// With room for two connections, a third one takes the place of the one that has been idle for longest.
TEST(Server, ClosesAnIdleConnectionToAcceptAnother) {
  const ServerUnderTest server({"--base-delay", "0s", "--max-connections", "2"});
  const std::string request = "GET /api HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n";
  const Socket first = connect_to(server.port()), second = connect_to(server.port());
  for (const Socket* each : {&second, &first}) {
    ASSERT_TRUE(each->send(request));
    ASSERT_THAT(each->receive(kPatience, "\r\n\r\nOK"), HasStatus(200));
  }
  EXPECT_THAT(get(server.port(), kPatience), HasStatus(200));
  EXPECT_TRUE(second.closed_by_peer(kPatience));
  ASSERT_TRUE(first.send(request));
  EXPECT_THAT(first.receive(kPatience, "\r\n\r\nOK"), HasStatus(200));
}

// A worker that accepts a connection serves no other one before this is closed.
TEST(Server, LeavesAWorkerToItsConnectionIfItAcceptsWhenOneIsFree) {
  const ServerUnderTest server({"--service", "workers", "--workers", "2", "--service-time", "1ms",
                                "--accepts", "when-free", "--report-interval", "20ms"});
  const std::string request = "GET /api HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n";
  Socket first = connect_to(server.port()), second = connect_to(server.port());
  const Socket third = connect_to(server.port());
  ASSERT_TRUE(third.send(request));
  for (int i = 0; i < 100; ++i) {
    for (const Socket* each : {&first, &second}) {
      ASSERT_TRUE(each->send(request));
      ASSERT_THAT(each->receive(kPatience, "\r\n\r\nOK"), HasStatus(200));
    }
  }
  EXPECT_EQ(third.receive(1ms), "");
  first = Socket();
  EXPECT_THAT(third.receive(kPatience, "\r\n\r\nOK"), HasStatus(200));
}

TEST(Server, ClosesConnectionsThatHaveBeenIdleForTooLong) {
  const ServerUnderTest server({"--base-delay", "0s", "--server-idle", "100ms"});
  const Socket socket = connect_to(server.port());
  for (int i = 0; i < 2; ++i) {
    const TimePoint begin = Clock::now();
    ASSERT_TRUE(socket.send("GET /api HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n"));
    ASSERT_THAT(socket.receive(kPatience, "\r\n\r\nOK"), HasStatus(200));
    if (i == 0) continue;
    EXPECT_TRUE(socket.closed_by_peer(kPatience));
    EXPECT_GE(Clock::now() - begin, 100ms);
  }
}

TEST(Server, MayBeStartedAnewAtOnce) {
  int port = 0;
  {
    ServerUnderTest first({"--base-delay", "0s"});
    port = first.port();
    EXPECT_THAT(get(port, kPatience), HasStatus(200));
    first.signal(SIGTERM);
    EXPECT_EQ(first.exit_code(), 0);
  }
  const ChildProcess second(RETRYSTORM_SERVER, {"--port", std::to_string(port)});
  EXPECT_TRUE(second.says("listening on")) << second.err();
}

// The second request is turned away at once: the first would take an hour, or has the only token for 50 s.
TEST(Server, TurnsAwayAsItIsAskedTo) {
  const Arguments limited{"--base-delay=1ms", "--rate-limit=0.02", "--rate-burst=1"},
      shed{"--base-delay=1h", "--shed-above=1"};
  const struct {
    Arguments arguments;
    int status;
    std::string hint;  // of Retry-After
  } cases[] = {
      {limited, 429, "(50|[34][0-9])"},
      {limited + Arguments{"--throttle-status=400", "--hint=none"}, 400, ""},
      {shed, 503, "1"},
      {shed + Arguments{"--hint=spread", "--hint-for=41s", "--hint-to=43s"}, 503, "4[123]"},
      {{"--base-delay=1h", "--error-share=1"}, 503, ""},
      {{"--service=workers", "--workers=1", "--service-time=1h", "--queue-length=0"}, 503, "1"},
  };
  for (const auto& [arguments, status, hint] : cases) {
    const ServerUnderTest server(arguments);
    const Socket first = connect_to(server.port());
    ASSERT_TRUE(first.send("GET /api HTTP/1.1\r\nHost: h\r\n\r\n"));
    if (arguments[0] == limited[0]) {
      ASSERT_THAT(first.receive(kPatience), HasStatus(200));
    }
    const std::string answer = get(server.port(), kPatience);
    EXPECT_THAT(answer, AllOf(HasStatus(status), HasHeader("Connection: close")))
        << arguments.back();
    std::smatch found;
    std::regex_search(answer, found, std::regex("\r\nRetry-After: ([0-9]+)\r\n"));
    EXPECT_TRUE(std::regex_match(found[1].str(), std::regex(hint))) << arguments.back() << answer;
    if (status != 400) continue;
    EXPECT_THAT(answer, HasHeader("Content-Type: application/x-amz-json-1.0"));
    EXPECT_THAT(answer, HasSubstr(R"({"__type":"com.amazonaws.dynamodb.v20120810#)"
                                  R"(ProvisionedThroughputExceededException",)"));
  }
}

TEST(Server, TellsTheSeedThatItDrew) {
  const ServerUnderTest drawn({"--error-share", "0.5"});
  EXPECT_TRUE(drawn.says("seed ")) << drawn.err();
  for (const Arguments& arguments :
       {Arguments{"--error-share", "0.5", "--seed", "1"}, Arguments{}}) {
    const ServerUnderTest server(arguments);
    EXPECT_THAT(server.err(), Not(HasSubstr("seed")));
  }
}

// With a token, errors may be ordered later, so the option may have an effect.
TEST(Server, TakesATimeOfErrorsThatItMayHave) {
  const TempDir dir;
  const ServerUnderTest server(
      {"--error-after", "service", "--admin-port", "any", "--admin-token-file", dir.file("token")});
  EXPECT_THAT(server.err(), Not(HasSubstr("no effect")));
}

TEST(Server, WritesJsonLines) {
  const TempDir dir;
  const std::string path = dir.file("server.jsonl");
  ServerUnderTest server({"--base-delay", "20ms", "--report-interval", "100ms", "--json", path});
  EXPECT_THAT(get(server.port(), kPatience), HasStatus(200));
  ASSERT_TRUE(eventually([&] { return lines(read_file(path)).size() >= 4; }));
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(), 0);

  const auto json = read_json_lines(path);
  EXPECT_EQ(json[0]["type"], "start");
  EXPECT_EQ(json[0]["program"], "server");
  EXPECT_EQ(json[0]["port"], server.port());
  EXPECT_EQ(json[0]["base_delay"], "20ms");
  EXPECT_EQ(json[0]["backlog"], 256);
  double served = 0, last_t = 0, longest = 0;
  for (std::size_t i = 1; i < json.size(); ++i) {
    EXPECT_EQ(json[i]["type"], "interval");
    EXPECT_GT(json[i]["t"].get<double>(), last_t);
    const auto& p99 = json[i]["served_ms"]["p99"];
    EXPECT_EQ(p99.is_number(), json[i]["served"] > 0) << json[i];
    if (p99.is_number()) longest = std::max(longest, p99.get<double>());
    EXPECT_TRUE(json[i]["late_ms"]["p50"].is_null());
    served += json[i]["served"].get<double>() * (json[i]["t"].get<double>() - last_t);
    last_t = json[i]["t"];
  }
  EXPECT_NEAR(served, 1, 0.1);
  EXPECT_GE(longest, 19.9);
}

TEST(Server, CallsMissedIntervalsOff) {
  ServerUnderTest server({"--report-interval", "20ms"});
  ASSERT_TRUE(eventually([&] { return !server.out().empty(); }));
  server.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return server.state() == 'T'; }));
  const std::size_t before = lines(server.out()).size();
  // Long enough for a hundred lines.
  const TimePoint frozen = Clock::now();
  ASSERT_TRUE(eventually([&] { return Clock::now() >= frozen + 2s; }));
  server.signal(SIGCONT);
  ASSERT_TRUE(eventually([&] { return lines(server.out()).size() >= before + 10; }));
  // The stamps show when each line was written. If missed lines were printed later, these would
  // have the same stamp. The stamps of the actual lines are about 20 ms apart.
  const auto written = lines(server.out());
  std::set<std::string> stamps;
  for (std::size_t i = before; i < before + 10; ++i) stamps.insert(written[i].substr(0, 19));
  EXPECT_GE(stamps.size(), 8);
}

TEST(ServerOnIpv6, NamesAUrlThatTheClientTakes) {
  ChildProcess server(RETRYSTORM_SERVER, {"--host", "::1", "--port", "0", "--admin-port", "any"});
  ASSERT_TRUE(eventually([&] {
    return server.exit_code(0s) || server.err().find("/api\n") != std::string::npos;
  })) << server.err();
  const std::string said = server.err();
  if (server.exit_code(0s)) GTEST_SKIP() << "there is no IPv6 here: " << said;
  const std::size_t at = said.find("http://[::1]:");
  ASSERT_NE(at, std::string::npos) << said;
  const Ended client =
      succeeded(RETRYSTORM_CLIENT, {"--url", said.substr(at, said.find('\n', at) - at), "--clients",
                                    "5", "--lambda", "50ms", "--duration", "1s"});
  EXPECT_THAT(client.out, testing::Not(HasSubstr(" 0 OK")));
}

}  // namespace
}  // namespace retrystorm::test
