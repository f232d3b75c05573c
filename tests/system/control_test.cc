// A running server that receives orders on its admin port, and a client that sends them.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

#include "common/exit_code.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using ::testing::ContainsRegex;

class Control : public testing::Test {
 protected:
  explicit Control(const Arguments& service = {"--base-delay", "20ms"})
      : server_(service +
                Arguments{"--admin-port", "any", "--admin-token-file", dir_.file("token")}) {}

  std::string token() const {
    const std::string text = read_file(dir_.file("token"));
    return text.substr(0, text.find('\n'));
  }

  // Posts orders and returns the admin port's answer.
  std::string post(const std::string& orders, const std::string& path = "/control",
                   const std::string& more = "") const {
    return post_with(token(), orders, path, more);
  }
  std::string post_with(const std::string& token, const std::string& orders,
                        const std::string& path = "/control", const std::string& more = "",
                        const std::string& host = "127.0.0.1") const {
    const Socket socket = connect_to(admin_);
    socket.send("POST " + path + " HTTP/1.1\r\nHost: " + host + ':' + std::to_string(admin_) +
                "\r\nX-Retrystorm-Token: " + token + "\r\n" + more +
                "Content-Length: " + std::to_string(orders.size()) + "\r\n\r\n" + orders);
    return socket.receive(kPatience);
  }

  // Sends a request and returns its connection.
  Socket request() const {
    Socket socket = connect_to(server_.port());
    socket.send("GET /api HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    return socket;
  }

  bool is_refused() const {
    try {
      connect_to(server_.port());
      return false;
    } catch (const std::runtime_error&) {
      return true;
    }
  }

  bool serves() const {
    return !is_refused() && get(server_.port(), kPatience).find("200 OK") != std::string::npos;
  }

  // The arguments of a client that sends orders to this server.
  Arguments telling(const Arguments& more) const {
    return Arguments{"--url=" + server_.url(),
                     "--server-admin=http://127.0.0.1:" + std::to_string(admin_),
                     "--admin-token-file=" + dir_.file("token"),
                     "--clients=20",
                     "--lambda=10ms",
                     "--json=" + dir_.file("client.jsonl")} +
           more;
  }
  std::vector<nlohmann::json> client_json() const {
    return read_json_lines(dir_.file("client.jsonl"));
  }

  const TempDir dir_;
  const ServerUnderTest server_;
  const int admin_ = server_.admin_port();
};

// Returns true if the other side has reset the connection, instead of closing it normally.
bool is_reset(const Socket& socket) {
  pollfd ready{socket.descriptor(), POLLIN, 0};
  if (poll(&ready, 1, static_cast<int>(kPatience / 1ms)) != 1) return false;
  char byte = 0;
  return recv(socket.descriptor(), &byte, 1, 0) < 0 && errno == ECONNRESET;
}

TEST_F(Control, IsForThoseWhoKnowTheToken) {
  EXPECT_THAT(post("capacity 2"), HasStatus(200));
  EXPECT_THAT(post_with("", "capacity 2"), HasStatus(403));
  EXPECT_THAT(post_with(std::string(32, '0'), "capacity 2"), HasStatus(403));
  EXPECT_THAT(post("capacity 2", "/control", "Origin: http://127.0.0.1\r\n"), HasStatus(403));
  EXPECT_THAT(post("capacity 2", "/control", "Sec-Fetch-Site: none\r\n"), HasStatus(403));
  EXPECT_THAT(post_with(token(), "capacity 2", "/control", "", "evil.example"), HasStatus(403));
  EXPECT_THAT(get(admin_, kPatience, "/control"), HasStatus(404));
  EXPECT_THAT(post(std::string(70'000, 'x')), HasStatus(413));
  EXPECT_THAT(server_.err(), Not(HasSubstr("token"))) << "what it prints is kept in logs";
  struct stat status {};
  ASSERT_EQ(stat(dir_.file("token").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Control, SetsWhatItIsTold) {
  EXPECT_THAT(post("set error-share=1"), HasStatus(200));
  EXPECT_THAT(get(server_.port(), kPatience), HasStatus(503));
  EXPECT_THAT(post("set error-status=500"), HasStatus(200));
  EXPECT_THAT(get(server_.port(), kPatience), HasStatus(500));
  EXPECT_THAT(post("set error-share=0\nset hint=none\n"), HasStatus(200));
  EXPECT_TRUE(serves());
}

TEST_F(Control, CarriesOutAllOrNothing) {
  EXPECT_THAT(post("set error-share=1\nset backlog=5"),
              AllOf(HasStatus(400), HasSubstr("backlog cannot change while the service runs")));
  for (const char* bad :
       {"set error-share=2", "set nothing=1", "load 2", "explode", "outage slow:3",
        "outage freeze for 1s", "outage slow:0 for 1s", "set queue-order=lifo"}) {
    EXPECT_THAT(post(std::string("set error-share=1\n") + bad), HasStatus(400)) << bad;
  }
  EXPECT_THAT(post("set error-share=1", "/control/check"), HasStatus(200));
  EXPECT_TRUE(serves());
}

class ControlOfASlowServer : public Control {
 protected:
  ControlOfASlowServer() : Control({"--base-delay", "1h", "--max-connections", "1"}) {}
};

TEST_F(ControlOfASlowServer, RestartsWithNothingLeft) {
  // One is in the service, one is accepted and waits for room, and one is in the accept queue.
  const Socket one = request(), two = request(), three = request();
  EXPECT_THAT(post("set base-delay=1ms\nrestart"), HasStatus(200));
  EXPECT_TRUE(is_reset(one));
  EXPECT_TRUE(is_reset(two));
  EXPECT_TRUE(is_reset(three));
  EXPECT_TRUE(eventually([this] { return serves(); }));
}

// A request with "Connection: keep-alive", and its answer.
bool answers(const Socket& socket) {
  socket.send("GET /api HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n");
  return socket.receive(kPatience, "\r\n\r\nOK").find("200 OK") != std::string::npos;
}

class ControlOfOneWorker : public Control {
 protected:
  ControlOfOneWorker()
      : Control({"--service", "workers", "--workers", "1", "--service-time", "1ms", "--accepts",
                 "when-free"}) {}
};

TEST_F(ControlOfOneWorker, AcceptsAsManyConnectionsAsItHasWorkers) {
  const Socket kept = connect_to(server_.port());
  ASSERT_TRUE(answers(kept));
  const Socket other = request();  // waits to be accepted
  EXPECT_THAT(post("set accepts=all"), HasSubstr("accepts cannot change"));
  EXPECT_THAT(post("set workers=2"), HasStatus(200));
  EXPECT_THAT(other.receive(kPatience), HasStatus(200));
  ASSERT_TRUE(answers(kept));
  // An outage that drops all, and a restart, do not wait for a worker.
  const Socket second = connect_to(server_.port());
  ASSERT_TRUE(answers(second));
  EXPECT_THAT(post("outage drop for 1h"), HasStatus(200));
  EXPECT_TRUE(is_refused());
  EXPECT_TRUE(is_reset(kept));
  EXPECT_THAT(post("outage ends"), HasStatus(200));
  EXPECT_TRUE(serves());
}

TEST_F(Control, DropsAndComesBack) {
  const Socket before = request();
  EXPECT_THAT(post("outage drop for 1h"), HasStatus(200));
  EXPECT_TRUE(is_refused());
  EXPECT_THAT(post("restart"), HasStatus(200)) << "it is down: nothing changes";
  EXPECT_TRUE(is_refused());
  EXPECT_THAT(post("outage ends"), HasStatus(200));
  EXPECT_TRUE(serves());
}

TEST_F(Control, EndsAnOutageThatNobodyEnds) {
  EXPECT_THAT(post("outage drop for 300ms"), HasStatus(200));
  EXPECT_TRUE(eventually([this] { return serves(); }));
  EXPECT_THAT(server_.err(), HasSubstr("no client ended it in time"));
  EXPECT_THAT(post("outage errors:1 for 300ms"), HasStatus(200));
  EXPECT_TRUE(eventually([this] { return serves(); }));
}

// An order in the middle of an outage does not change the time of its end.
TEST_F(Control, EndsAnOutageInTimeWhateverElseIsOrdered) {
  EXPECT_THAT(post("outage errors:1:502 for 1s"), HasStatus(200));
  EXPECT_THAT(get(server_.port(), kPatience), HasStatus(502));
  EXPECT_TRUE(eventually([this] {
    EXPECT_THAT(post("set hint=none"), HasStatus(200));
    return serves();
  }));
}

class ControlOfAThrottle : public Control {
 protected:
  ControlOfAThrottle() : Control({"--base-delay", "1ms", "--throttle-status", "503"}) {}
};

// Of one request every 1,000 s, the bucket holds the first one.
TEST_F(ControlOfAThrottle, LimitsTheRateForTheTimeOfAnOutage) {
  EXPECT_THAT(post("outage throttle:0.001 for 1h"), HasStatus(200));
  EXPECT_THAT(get(server_.port(), kPatience), HasStatus(200));
  EXPECT_THAT(get(server_.port(), kPatience), HasStatus(503));
  EXPECT_THAT(post("outage throttle:0.001 ends"), HasStatus(200));
  EXPECT_TRUE(serves());
  EXPECT_TRUE(serves());
}

TEST_F(Control, RefusesASecondOutage) {
  EXPECT_THAT(post("outage slow:2 for 1h"), HasStatus(200));
  for (const char* other :
       {"outage errors:1 for 1h", "outage slow:2 for 1h", "outage errors:1 ends"}) {
    EXPECT_THAT(post(other),
                AllOf(HasStatus(400), HasSubstr("another outage is in force: slow:2")));
  }
  EXPECT_THAT(post("outage errors:1 for 1h", "/control/check"), HasStatus(200))
      << "what is checked comes later";
  EXPECT_TRUE(serves());
  EXPECT_THAT(post("outage slow:2 ends"), HasStatus(200));
  EXPECT_THAT(post("outage slow:2 ends"), HasStatus(200)) << "it has ended: nothing changes";
  EXPECT_THAT(post("outage errors:1 for 1h\noutage ends"), HasStatus(200));
  EXPECT_TRUE(serves());
}

// Several clients order restarts at the same time.
TEST_F(Control, SurvivesRestartsThatComeTogether) {
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([this] {
      for (int n = 0; n < 50 && !HasFailure(); ++n) {
        EXPECT_THAT(post("restart"), HasStatus(200));
      }
    });
  }
  clients.clear();
  EXPECT_TRUE(serves());
}

TEST_F(Control, ListensAgainWhenItsPortIsFreeAgain) {
  EXPECT_THAT(post("outage drop for 2s"), HasStatus(200));
  {
    const Listener thief(128, server_.port());
    EXPECT_TRUE(server_.says("is already in use; trying again every second"));
  }
  EXPECT_TRUE(eventually([this] { return serves(); }));
  EXPECT_TRUE(server_.says("listening again"));
}

TEST_F(Control, StopsWhileItIsDown) {
  EXPECT_THAT(post("outage drop for 1h"), HasStatus(200));
  kill(server_.pid(), SIGTERM);
  EXPECT_TRUE(eventually([this] { return server_.state() == '?' || server_.state() == 'Z'; }));
}

TEST_F(Control, IsUsedByTheClient) {
  succeeded(RETRYSTORM_CLIENT, telling({"--outage", "drop", "--outage-at", "1s", "--outage-for",
                                        "1s", "--duration", "4s", "--at", "3s set error-share=1",
                                        "--at", "3500ms load 2", "--strategy", "none"}));
  std::vector<std::string> events;
  for (const auto& line : client_json()) {
    if (line["type"] == "outage" || line["type"] == "action") {
      events.push_back(line.value("event", "do") + ' ' + line["what"].get<std::string>());
    }
  }
  EXPECT_EQ(events, (std::vector<std::string>{"stop drop", "continue drop", "do set error-share=1",
                                              "do load 2"}));
  const auto summary = client_json().back();
  EXPECT_EQ(summary["outage"], "drop");
  EXPECT_EQ(summary["timed_out"], 0);
  EXPECT_GT(summary["errors"], 0);
  EXPECT_THAT(get(server_.port(), kPatience), HasStatus(503)) << "what was set stays";
}

// The load averages to twice the original, however often it changes while clients think, and also
// while some clients are sending.
TEST_F(Control, ChangesTheLoadAtAnyTime) {
  Arguments arguments{"--url",      server_.url(), "--clients",  "60",
                      "--lambda",   "1s",          "--duration", "3s",
                      "--strategy", "none",        "--json",     dir_.file("client.jsonl")};
  for (int at = 0; at < 3000; at += 20) {
    arguments.push_back("--at");
    arguments.push_back(std::to_string(at) + "ms load " + (at % 40 == 0 ? "3" : "1"));
  }
  succeeded(RETRYSTORM_CLIENT, arguments);
  const auto summary = client_json().back();
  // About 360 +- 19 thinking times end in 3 s, minus 4 % for the answers and the delays of a busy
  // machine. With only one of the two loads, it would be 180 or 540.
  EXPECT_GT(summary["ok"], 225);
  EXPECT_LT(summary["ok"], 440);
}

TEST_F(Control, OfALongOutageEndsWithTheClient) {
  ClientUnderTest client(telling(
      {"--outage", "drop", "--outage-at", "100ms", "--outage-for", "1h", "--duration", "10m"}));
  EXPECT_TRUE(eventually([this] { return is_refused(); }));
  client.signal(SIGINT);
  ASSERT_EQ(client.exit_code(), 0);
  EXPECT_TRUE(eventually([this] { return serves(); }));
}

// What a server that hangs has not read before the client ended it does not do when it wakes.
TEST_F(Control, RecordsNoOrderThatDidNotArriveAndLeavesNoneBehind) {
  ClientUnderTest client(telling({"--at", "1s set limit=77", "--outage=slow:30", "--outage-at=1s",
                                  "--outage-for=200ms", "--duration=1500ms"}));
  ASSERT_TRUE(client.says(" clients: "));  // the orders were looked at
  server_.signal(SIGSTOP);
  EXPECT_EQ(client.exit_code(), 1);  // the outage could not begin
  server_.signal(SIGCONT);
  EXPECT_THAT(post("set limit=55"), HasStatus(200));
  EXPECT_THAT(post("set limit=56"), HasStatus(200));
  for (const char* order : {"set limit=77", "slow:30"}) {
    EXPECT_THAT(server_.err(), Not(HasSubstr(order)));
  }
  for (const auto& line : client_json()) {
    EXPECT_NE(line["type"], "action");
    EXPECT_NE(line["type"], "outage");
  }
  EXPECT_EQ(client_json().back()["failed_orders"], 2);
  EXPECT_EQ(client_json().back()["verdict"], "undecided");
}

TEST_F(Control, RefusesBeforeItBegins) {
  const FakeServer no_reason([](const Socket& socket) {
    socket.receive(kPatience, "\r\n\r\n");
    socket.send("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n");
  });
  const std::vector<std::tuple<Arguments, int, std::string>> cases{
      {{"--at", "1s set backlog=5"}, kExitFault, "backlog cannot change"},
      {{"--at", "1s set queue-order=lifo"}, kExitFault, "without --service=workers"},
      {{"--at", "1s restart", "--admin-token-file", dir_.file("none")},
       kExitUnreadable,
       "there is no token in"},
      {{"--at", "1s restart", "--admin-token-file", "/dev/zero"},
       kExitUnreadable,
       "there is no token in"},
      {{"--at", "1s restart", "--server-admin", server_.url()},
       kExitFault,
       "is not the admin port of a"},
      {{"--at", "1s restart", "--server-admin", "http://127.0.0.1:1"},
       kExitFault,
       "does not answer"},
      {{"--at", "1s restart", "--server-admin", no_reason.url()},
       kExitFault,
       "status 500 and no reason"},
      {{"--at", "1s load 2"}, kExitWrongOptions, "has no effect without something that changes"},
  };
  for (const auto& [arguments, code, named] : cases) {
    const Ended client = ended(RETRYSTORM_CLIENT, telling(arguments));
    EXPECT_EQ(client.code, code) << named;
    EXPECT_EQ(client.out, "");
    EXPECT_EQ(lines(client.err).size(), 1) << client.err;
    EXPECT_THAT(client.err, HasSubstr(named));
  }
}

class TokenFile : public testing::Test {
 protected:
  const TempDir dir_;
  const std::filesystem::path path_{dir_.file("token")};
};

TEST_F(TokenFile, IsNoFileThatIsThereForAnotherPurpose) {
  const std::filesystem::path precious = dir_.file("precious");
  std::ofstream(precious) << "precious";
  std::filesystem::create_symlink(precious, dir_.file("link"));
  ASSERT_EQ(mkfifo(dir_.file("fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(dir_.file("folder"));
  for (const char* name : {"link", "fifo", "folder"}) {
    const Ended server = ended(RETRYSTORM_SERVER, {"--port", "0", "--admin-port", "any",
                                                   "--admin-token-file", dir_.file(name)});
    EXPECT_EQ(server.code, 1) << name;
    EXPECT_THAT(server.err, HasSubstr("it is not a regular file"));
  }
  EXPECT_TRUE(std::filesystem::is_symlink(dir_.file("link")));
  EXPECT_TRUE(std::filesystem::is_fifo(dir_.file("fifo")));
  EXPECT_TRUE(std::filesystem::is_empty(dir_.file("folder")));
  EXPECT_EQ(read_file(precious), "precious");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path_.parent_path()), {}), 4);
}

TEST_F(TokenFile, IsPrintedOnlyWhereThatIsAskedFor) {
  const ServerUnderTest server({"--admin-port", "any", "--print-token"});
  EXPECT_THAT(server.err(), ContainsRegex("admin token [0-9a-f]+\n"));
  const ServerUnderTest silent({"--admin-port", "any"});
  EXPECT_THAT(silent.err(), Not(HasSubstr("token")));
}

// Another user has put a link in the place of the token file.
TEST_F(TokenFile, IsWrittenThroughNoLink) {
  const std::filesystem::path precious = dir_.file("precious");
  std::ofstream(precious) << "precious";
  std::filesystem::create_symlink(precious, path_.string() + ".new");
  const ServerUnderTest server({"--admin-port", "any", "--admin-token-file", path_.string()});
  EXPECT_EQ(read_file(precious), "precious");
  EXPECT_EQ(read_file(path_).size(), 33);
}

}  // namespace
}  // namespace retrystorm::test
