// The live page over real sockets: what it shows, what it does, and which clients may use it.
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// Whether one of the events that a page got has this value.
MATCHER_P2(HasEvent, name, value, "") {
  const std::string text = arg;
  for (const std::string& line : lines(text)) {
    if (!line.starts_with("data: ")) continue;
    const auto event = nlohmann::json::parse(line.substr(6), nullptr, false);
    if (event.is_object() && event.contains(name) && event[name] == value) return true;
  }
  return false;
}

class DashboardTest : public testing::Test {
 protected:
  DashboardTest() {
    if (!client_.says("#token=") || !client_.says("\n")) {
      throw std::runtime_error("no page: " + client_.err());
    }
    const std::string said = client_.err();
    port_ = client_.port_after("live page: http://127.0.0.1:");
    const std::size_t token = said.find("#token=") + 7;
    token_ = said.substr(token, said.find('\n', token) - token);
    // cpp-httplib fills its tables at the first request, and protects them in code that the thread
    // sanitizer cannot see. This first request is therefore sent alone.
    get_page("/");
  }

  std::string own_host() const { return "127.0.0.1:" + std::to_string(port_); }

  std::string ask(const std::string& request) const {
    const Socket socket = connect_to(port_);
    socket.send(request);
    return socket.receive(kPatience);
  }

  std::string get_page(const std::string& path) const {
    return ask("GET " + path + " HTTP/1.1\r\nHost: " + own_host() + "\r\n\r\n");
  }

  std::string post(const std::string& path, const std::string& body, const std::string& token,
                   const std::string& origin) const {
    return ask("POST " + path + " HTTP/1.1\r\nHost: " + own_host() + "\r\n" +
               (token.empty() ? "" : "X-Retrystorm-Token: " + token + "\r\n") +
               (origin.empty() ? "" : "Origin: " + origin + "\r\n") +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  std::string command(const std::string& what, const std::string& body) const {
    return post("/control/" + what, body, token_, "http://" + own_host());
  }

  Socket listen() const {
    Socket socket = connect_to(port_);
    socket.send("GET /events HTTP/1.1\r\nHost: " + own_host() + "\r\n\r\n");
    return socket;
  }

  bool server_is(const std::string& states) const {
    return eventually([&] { return states.find(server_.state()) != std::string::npos; });
  }

  FakeServer status_{[](const Socket& socket) {
    socket.receive(kPatience, "\r\n\r\n");
    socket.send(
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        R"({"concurrency":42,"last_delay_s":0.25})");
  }};
  ServerUnderTest server_{{"--base-delay", "1ms"}};
  TempDir dir_;
  static constexpr std::uint64_t kSeed = 18446744073709551557u;
  ClientUnderTest client_{
      {"--url=" + server_.url(), "--server-pid=" + std::to_string(server_.pid()),
       "--seed=" + std::to_string(kSeed), "--clients=20", "--lambda=10ms", "--timeout=300ms",
       "--duration=10m", "--json=" + dir_.file("json"), "--server-status=" + status_.url(),
       "--dashboard", "--dashboard-port=0"}};
  int port_ = 0;
  std::string token_;
};

TEST_F(DashboardTest, ServesThePageAndItsParts) {
  for (const auto& [path, part] : {std::pair("/", "<title>retrystorm"),
                                   {"/", "Content-Security-Policy: default-src 'none'"},
                                   {"/charts.js", "Okabe"},
                                   {"/page.css", "text/css"},
                                   {"/chart.min.js", "Chart.js v3"}}) {
    EXPECT_THAT(get_page(path), AllOf(HasStatus(200), HasSubstr(part)));
  }
  EXPECT_THAT(get_page("/control/freeze"), HasStatus(404));
}

// A second freeze is not a second outage. The page says what it does instead.
TEST_F(DashboardTest, FreezesAndWakes) {
  const Socket page = listen();
  ASSERT_THAT(command("freeze", R"({"seconds":600})"), HasStatus(202));
  ASSERT_TRUE(server_is("T"));
  EXPECT_THAT(page.receive(kPatience, "stop"), HasEvent("event", "stop"));
  ASSERT_THAT(command("freeze", R"({"seconds":60})"), HasStatus(202));
  EXPECT_TRUE(client_.says("the server is already frozen for longer than that: "));
  ASSERT_THAT(command("freeze", R"({"seconds":1200})"), HasStatus(202));
  const std::string longer =
      "the server is already frozen: it now stays frozen for 20m0s from now on";
  EXPECT_TRUE(client_.says(longer));
  EXPECT_THAT(page.receive(kPatience, longer),
              AllOf(HasSubstr(R"({"type":"notice","text":"the server is already frozen for )"),
                    HasSubstr(R"({"type":"notice","text":")" + longer)));
  ASSERT_THAT(command("wake", "{}"), HasStatus(202));
  EXPECT_TRUE(server_is("SR"));
  EXPECT_THAT(page.receive(kPatience, "continue"), HasEvent("event", "continue"));
}

TEST_F(DashboardTest, TellsTheHistoryAndWhatHappens) {
  const std::string first = listen().receive(kPatience, "\"t\":1.");
  EXPECT_THAT(first, AllOf(HasHeader("Content-Type: text/event-stream"), HasEvent("type", "start"),
                           HasEvent("strategy", "fixed"),
                           // As text, because a browser rounds numbers of more than 53 bits.
                           HasEvent("seed", std::to_string(kSeed)),
                           HasEvent("server",
                                    nlohmann::json{{"concurrency", 42.0}, {"last_delay_s", 0.25}}),
                           HasSubstr(R"("thinking":)")));
  const Socket late = listen();
  EXPECT_THAT(late.receive(kPatience, "\"t\":1."), HasEvent("type", "start"));
  EXPECT_THAT(late.receive(kPatience, "\"t\":2."), HasEvent("type", "interval"));
}

TEST_F(DashboardTest, RefusesWhoHasNoTokenAndOtherOrigins) {
  const std::string ours = "http://" + own_host(), body = R"({"seconds":60})";
  for (const auto& [token, origin] : {std::pair(std::string(), ours),
                                      {std::string(32, '0'), ours},
                                      {token_ + '0', ours},
                                      {token_, ""},
                                      {token_, "null"},
                                      {token_, "http://evil.example"},
                                      {token_, "http://127.0.0.1:1"}}) {
    EXPECT_THAT(post("/control/freeze", body, token, origin), HasStatus(403)) << token << origin;
  }
  EXPECT_THAT(post("/control/restart", R"({"strategy":"linear"})", "", ours), HasStatus(403));
  EXPECT_NE(server_.state(), 'T');
}

TEST_F(DashboardTest, RefusesNamesThatAreNotItsOwn) {
  const std::string name = "evil.example:" + std::to_string(port_);
  for (const std::string path : {"/", "/events", "/page.js"}) {
    EXPECT_THAT(ask("GET " + path + " HTTP/1.1\r\nHost: " + name + "\r\n\r\n"), HasStatus(403));
  }
  EXPECT_THAT(ask("POST /control/wake HTTP/1.1\r\nHost: " + name + "\r\nOrigin: http://" + name +
                  "\r\nX-Retrystorm-Token: " + token_ + "\r\nContent-Length: 0\r\n\r\n"),
              HasStatus(403));
  EXPECT_THAT(
      ask("GET /events HTTP/1.1\r\nHost: " + own_host() + "\r\nSec-Fetch-Site: cross-site\r\n\r\n"),
      HasStatus(403));
}

TEST_F(DashboardTest, RefusesNonsense) {
  const auto refused = HasStatus(400);
  for (const std::string body : {"", "{}", "[]", "[1]", R"({"seconds":0})", R"({"seconds":-1})",
                                 R"({"seconds":"9"})", R"({"seconds":1e9})"}) {
    EXPECT_THAT(command("freeze", body), refused) << body;
  }
  EXPECT_THAT(command("restart", "{}"), refused);
  EXPECT_THAT(command("restart", R"({"strategy":"hope"})"),
              AllOf(refused, HasSubstr("is not known")));
  EXPECT_NE(server_.state(), 'T');
}

TEST_F(DashboardTest, ActsAsAtDoes) {
  const Socket browser = listen();
  ASSERT_THAT(command("act", R"({"action":"load 0.5"})"), HasStatus(202));
  EXPECT_THAT(browser.receive(kPatience, R"("what":"load 0.5")"), HasEvent("type", "action"));
  // This client has no token for its server.
  EXPECT_THAT(command("act", R"({"action":"restart"})"), HasStatus(409));
  for (const std::string body :
       {"{}", R"({"action":5})", R"({"action":"hope"})", R"({"action":"load 0.5\nrestart"})"}) {
    EXPECT_THAT(command("act", body), HasStatus(400)) << body;
  }
  EXPECT_THAT(post("/control/act", R"({"action":"load 2"})", "", "http://" + own_host()),
              HasStatus(403));
}

TEST_F(DashboardTest, StartsAgainWithAnotherStrategy) {
  const Socket browser = listen();
  browser.receive(kPatience, R"("type":"interval")");
  ASSERT_THAT(command("freeze", R"({"seconds":3600})"), HasStatus(202));
  ASSERT_TRUE(server_is("T"));
  ASSERT_THAT(command("restart", R"({"strategy":"linear"})"), HasStatus(202));
  // Closing the clients' sockets does not affect the browser's connection.
  EXPECT_THAT(browser.receive(kPatience, R"("strategy":"linear")"), HasEvent("type", "summary"));
  EXPECT_TRUE(server_is("SR"));
  EXPECT_THAT(browser.receive(kPatience, R"("type":"interval")"), Not(testing::IsEmpty()));

  client_.signal(SIGINT);
  ASSERT_EQ(client_.exit_code(), 0);
  std::vector<std::string> course;
  for (const auto& line : read_json_lines(dir_.file("json"))) {
    if (line["type"] == "start") course.push_back(line["strategy"]);
    if (line["type"] == "summary") course.push_back("summary");
    if (line["type"] == "start" && course.size() > 1) {
      EXPECT_THAT(std::string(line["command"]), testing::EndsWith(" --strategy=linear"));
      EXPECT_EQ(line["growth"], "linear");  // and the strategy's other settings
      EXPECT_EQ(line["backoff_base"], "1s");
    }
  }
  EXPECT_THAT(course, testing::ElementsAre("fixed", "summary", "linear", "summary"));
}

TEST_F(DashboardTest, TellsTheEndToTwentyBrowsers) {
  std::vector<Socket> browsers;
  for (int i = 0; i < 20; ++i) browsers.push_back(listen());
  for (const Socket& browser : browsers) {
    EXPECT_THAT(browser.receive(kPatience, R"("type":"interval")"), HasEvent("type", "interval"));
  }
  // Meanwhile the page is still served, and a silent connection does not block it for long.
  const Socket silent = connect_to(port_);
  EXPECT_THAT(get_page("/"), HasStatus(200));
  client_.signal(SIGTERM);
  for (const Socket& browser : browsers) {
    EXPECT_THAT(browser.receive(kPatience), HasEvent("type", "summary"));
  }
  EXPECT_EQ(client_.exit_code(3s * kSlowness), 0);
}

}  // namespace
}  // namespace retrystorm::test
