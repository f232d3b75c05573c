// The scripted outage. No server may stay frozen.
#include <sys/wait.h>
#include <unistd.h>

#include "client/outage/server_process.h"
#include "tests/support/child_process.h"
#include "tests/support/refusal.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

bool frozen(const ChildProcess& process) {
  return eventually([&] { return process.state() == 'T'; });
}

bool awake(const ChildProcess& process) {
  return eventually([&] { return process.state() == 'S' || process.state() == 'R'; });
}

void own_group() {
  setpgid(0, 0);
}

// A client that freezes the server shortly after its start, for one hour.
Arguments freezing(const ServerUnderTest& server, const std::string& json) {
  return {"--url",       server.url(), "--server-pid", std::to_string(server.pid()),
          "--clients",   "20",         "--lambda",     "10ms",
          "--outage-at", "100ms",      "--outage-for", "1h",
          "--duration",  "10m",        "--json",       json,
          "--timeout",   "1m"};
}

// A process and the processes that it has started, according to /proc.
std::vector<pid_t> with_children(pid_t parent) {
  std::vector<pid_t> all{parent};
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string status = read_file(entry.path() / "status");
    if (status.find("\nPPid:\t" + std::to_string(parent) + "\n") == std::string::npos) continue;
    all.push_back(std::stoi(entry.path().filename()));
  }
  return all;
}

// Like `pkill -9 client; pkill -9 -f client; kill -9 $(pidof client)`: kills the processes whose
// name in the kernel or command line matches. Returns the number of processes, and how many were
// killed.
std::pair<std::size_t, std::size_t> kill_what_is_called_client(pid_t client) {
  std::vector<pid_t> called;
  const std::vector<pid_t> all = with_children(client);
  for (const pid_t each : all) {
    const std::string folder = "/proc/" + std::to_string(each);
    const std::string names = read_file(folder + "/comm") + read_file(folder + "/cmdline");
    if (names.find("client") != std::string::npos) called.push_back(each);
  }
  for (const pid_t each : called) kill(each, SIGKILL);
  return {all.size(), called.size()};
}

class Outage : public testing::Test {
 protected:
  std::string json_path() const { return dir_.file("client.jsonl"); }

  ServerUnderTest server_{{"--base-delay", "1ms"}};

 private:
  TempDir dir_;
};

TEST_F(Outage, FreezesAndWakesTheServer) {
  ClientUnderTest client(freezing(server_, json_path()) +
                         Arguments{"--outage-for", "700ms", "--duration", "2s"});
  EXPECT_TRUE(frozen(server_));
  ASSERT_EQ(client.exit_code(), 0);
  EXPECT_TRUE(awake(server_));
  EXPECT_THAT(client.err(), HasSubstr("server frozen for 700ms\nserver awake\n"));

  std::vector<nlohmann::json> events;
  for (const auto& line : read_json_lines(json_path())) {
    if (line["type"] == "outage") events.push_back(line);
  }
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[0]["event"], "stop");
  EXPECT_EQ(events[1]["event"], "continue");
  const double stop = events[0]["t"], go_on = events[1]["t"];
  EXPECT_GE(stop, 0.1);
  EXPECT_GE(go_on - stop, 0.699);  // the times are rounded
  EXPECT_EQ(read_json_lines(json_path()).back()["verdict"], "undecided");
}

// A server that answers with the processes that it has started, as a shell's or one with workers of its own.
TEST_F(Outage, FreezesAllThatTheServerHasStarted) {
  const ChildProcess parent("/bin/sh", {"-c", "sh -c 'sleep 20 & wait' & wait"});
  std::vector<pid_t> all;
  ASSERT_TRUE(eventually([&] { return (all = process_tree(parent.pid())).size() == 3; }));
  EXPECT_EQ(all.front(), parent.pid());
  const auto all_are_frozen = [&all](bool are) {
    return std::ranges::all_of(all, [are](pid_t each) {
      const std::string stat = read_file("/proc/" + std::to_string(each) + "/stat");
      return (stat.find(") T ") != std::string::npos) == are;
    });
  };
  ClientUnderTest client({"--url", server_.url(), "--server-pid", std::to_string(parent.pid()),
                          "--clients=20", "--outage-at=100ms", "--outage-for=1h",
                          "--duration=600ms"});
  EXPECT_TRUE(eventually([&] { return all_are_frozen(true); }));
  EXPECT_EQ(client.exit_code(), 0);
  EXPECT_TRUE(eventually([&] { return all_are_frozen(false); }));
  for (const pid_t each : all) kill(each, SIGKILL);
}

// Nothing times out, and nothing is retried.
TEST_F(Outage, HoldsClientsWithoutATimeout) {
  // Not before a slow machine has answered something.
  const Arguments more{"--timeout=none", "--outage-at=" + std::to_string(200 * kSlowness) + "ms",
                       "--outage-for=500ms", "--duration=" + std::to_string(2 * kSlowness) + "s"};
  succeeded(RETRYSTORM_CLIENT, freezing(server_, json_path()) + more);
  const auto summary = read_json_lines(json_path()).back();
  EXPECT_GT(summary["ok"], 20);
  for (const char* none : {"retries", "timed_out", "errors"}) EXPECT_EQ(summary[none], 0) << none;
}

// Which waits for no attempt either.
TEST_F(Outage, EndsWithTheRun) {
  succeeded(RETRYSTORM_CLIENT,
            freezing(server_, json_path()) + Arguments{"--timeout=none", "--duration=600ms"});
  EXPECT_TRUE(awake(server_));
  const auto json = read_json_lines(json_path());
  EXPECT_EQ(json[json.size() - 2]["event"], "continue");
}

TEST_F(Outage, IsSkippedWhenTheServerHasEnded) {
  ClientUnderTest client(freezing(server_, json_path()) + Arguments{"--outage-at", "1s",
                                                                    "--duration", "1500ms",
                                                                    "--report-interval", "100ms"});
  const std::regex answered(R"("p50":\d)");  // a client whose service was never there ends at once
  ASSERT_TRUE(eventually([&] { return std::regex_search(read_file(json_path()), answered); }));
  server_.signal(SIGKILL);
  ASSERT_EQ(server_.exit_code(), 128 + SIGKILL);  // waits, so that the process has ended
  ASSERT_EQ(client.exit_code(), 1);
  EXPECT_THAT(client.err(), HasSubstr("cannot be signalled"));
  EXPECT_EQ(read_json_lines(json_path()).back()["verdict"], "no outage");
  EXPECT_EQ(read_json_lines(json_path()).back()["reason"], "the outage could not be begun");
}

// A client whose outage consists of commands that each append a word to a file.
Arguments commanding(const ServerUnderTest& server, const TempDir& dir) {
  const std::string words = dir.file("words"), pid = std::to_string(server.pid());
  return {"--url=" + server.url(),
          "--clients=20",
          "--lambda=10ms",
          "--outage=command",
          "--outage-begin=echo begun >>" + words + "; kill -STOP " + pid,
          "--outage-end=kill -CONT " + pid + "; echo ended >>" + words,
          "--outage-at=100ms",
          "--outage-for=1h",
          "--duration=10m",
          "--json=" + dir.file("client.jsonl")};
}

struct Way {
  const char* name;
  std::function<void(const ChildProcess&)> end;
  int code;  // of the client
};

// For example by a shell's `kill -9 %1`, or by `timeout -s KILL`. Ctrl-\ also signals the whole group, and Ctrl-Z stops
// the client, but not its watchdog.
const Way kWays[] = {
    {"Killed", [](const ChildProcess& client) { client.signal(SIGKILL); }, 128 + SIGKILL},
    {"GroupKilled", [](const ChildProcess& client) { kill(-client.pid(), SIGKILL); },
     128 + SIGKILL},
    {"GroupQuits", [](const ChildProcess& client) { kill(-client.pid(), SIGQUIT); }, 128 + SIGQUIT},
    {"KilledWhileStopped",
     [](const ChildProcess& client) {
       kill(-client.pid(), SIGTSTP);
       ASSERT_TRUE(frozen(client));
       client.signal(SIGKILL);
     },
     128 + SIGKILL},
    {"AllThatIsCalledClientKilled",
     [](const ChildProcess& client) {
       EXPECT_THAT(kill_what_is_called_client(client.pid()), testing::Pair(2, 1));
     },
     128 + SIGKILL},
    {"Interrupted", [](const ChildProcess& client) { client.signal(SIGINT); }, 0},
};

class EndedOutage : public testing::TestWithParam<Way> {};

TEST_P(EndedOutage, LeavesNoServerFrozen) {
  for (const bool by_commands : {false, true}) {
    const TempDir dir;
    const ServerUnderTest server({"--base-delay", "1ms"});
    ChildProcess client(
        RETRYSTORM_CLIENT,
        by_commands ? commanding(server, dir) : freezing(server, dir.file("client.jsonl")), 0,
        own_group);
    ASSERT_TRUE(frozen(server)) << by_commands;
    GetParam().end(client);
    ASSERT_EQ(client.exit_code(), GetParam().code) << by_commands;
    EXPECT_TRUE(awake(server)) << by_commands;
    EXPECT_THAT(get(server.port(), kPatience), HasStatus(200));
    if (by_commands) {
      EXPECT_TRUE(eventually([&] { return read_file(dir.file("words")) == "begun\nended\n"; }));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(When, EndedOutage, testing::ValuesIn(kWays),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(StoppedClient, LeavesNoServerFrozen) {
  for (const bool by_commands : {false, true}) {
    const TempDir dir;
    const ServerUnderTest server({"--base-delay", "1ms"});
    ClientUnderTest client(
        (by_commands ? commanding(server, dir) : freezing(server, dir.file("client.jsonl"))) +
        Arguments{"--outage-for", kSlowness > 1 ? "4s" : "1s"});
    ASSERT_TRUE(frozen(server)) << by_commands;
    client.signal(SIGSTOP);
    ASSERT_TRUE(frozen(client));
    EXPECT_TRUE(awake(server)) << by_commands;
    if (by_commands) {
      EXPECT_TRUE(eventually([&] { return read_file(dir.file("words")) == "begun\nended\n"; }));
    }
    EXPECT_EQ(client.state(), 'T');
  }
}

TEST(CommandedOutage, BeginsAndEndsByCommands) {
  const TempDir dir;
  const ServerUnderTest server({"--base-delay", "1ms"});
  Arguments arguments = commanding(server, dir);
  // Under a sanitizer a command takes its time to start; one that has not ended by then counts as failed.
  const std::string length = kSlowness > 1 ? "4s" : "700ms";
  arguments.insert(arguments.end(),
                   {"--outage-for", length, "--duration", kSlowness > 1 ? "6s" : "2s"});
  ClientUnderTest client(arguments);
  EXPECT_TRUE(frozen(server));
  ASSERT_EQ(client.exit_code(), 0);
  EXPECT_TRUE(awake(server));
  EXPECT_EQ(read_file(dir.file("words")), "begun\nended\n");
  EXPECT_THAT(client.err(), HasSubstr("command for " + length + "\noutage over\n"));
  const auto json = read_json_lines(dir.file("client.jsonl"));
  std::vector<std::string> events;
  for (const auto& line : json) {
    if (line["type"] == "outage") events.push_back(line["event"]);
  }
  EXPECT_EQ(events.size(), 2);
  EXPECT_EQ(json.back()["failed_commands"], 0);
}

TEST(CommandedOutage, EndsTheRunWhereItDoesNotBegin) {
  const TempDir dir;
  const ServerUnderTest server({"--base-delay", "1ms"});
  Arguments arguments = commanding(server, dir);
  arguments.insert(arguments.end(), {"--outage-for", "30s", "--duration", "60s", "--outage-begin",
                                     "exit 3", "--outage-end", "echo told; exit 4"});
  ClientUnderTest client(arguments);
  ASSERT_EQ(client.exit_code(), 1);
  EXPECT_THAT(client.err(), testing::Not(HasSubstr("outage over")));
  EXPECT_THAT(client.err(), HasSubstr("exit code 3"));
  EXPECT_THAT(client.err(), HasSubstr("exit code 4"));
  EXPECT_THAT(client.out(), testing::Not(HasSubstr("told")));
  const auto summary = read_json_lines(dir.file("client.jsonl")).back();
  EXPECT_EQ(summary["failed_commands"], 2);
  EXPECT_LT(summary["elapsed_s"], 30);
}

TEST(ServerProcess, FreezesLonger) {
  const ServerUnderTest server;
  ServerProcess process(server.pid());
  const TimePoint now = Clock::now();
  process.freeze(saturating_add(now, 100ms));
  process.freeze(saturating_add(now, 700ms));
  ASSERT_TRUE(frozen(server));
  EXPECT_TRUE(awake(server));
  EXPECT_GE(Clock::now(), saturating_add(now, 700ms));
}

TEST(ServerProcess, HasAnotherWatchdogWhenOneWasKilled) {
  std::signal(SIGPIPE, SIG_IGN);  // as in the client
  const ServerUnderTest server;
  const std::vector<pid_t> before = with_children(getpid());
  ServerProcess process(server.pid());
  for (const pid_t each : with_children(getpid())) {
    if (std::find(before.begin(), before.end(), each) != before.end()) continue;
    kill(each, SIGKILL);
    siginfo_t ended{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(each), &ended, WEXITED | WNOWAIT), 0);
  }
  process.freeze(saturating_add(Clock::now(), 300ms));
  ASSERT_TRUE(frozen(server));
  EXPECT_TRUE(awake(server));
}

TEST(ServerProcess, DoesNotFreezeWhatHasEnded) {
  const ServerUnderTest server;
  ServerProcess process(server.pid());
  server.signal(SIGKILL);
  // Its process id is still in use. Its state is that of its first thread, which may end first.
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(server.pid()), &ended, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(server.state(), 'Z');
  EXPECT_THROW(process.freeze(TimePoint::max()), std::runtime_error);
  EXPECT_THROW(process.wake(), std::runtime_error);
  expect_refusals<pid_t, std::runtime_error>([](pid_t pid) { ServerProcess another(pid); },
                                             {{server.pid(), "has ended"}});
}

TEST(ServerProcess, RefusesWhatIsNoServer) {
  expect_refusals<pid_t, std::runtime_error>([](pid_t pid) { ServerProcess process(pid); },
                                             {{getpid(), "is this client itself"},
                                              {1, "process 1 is the init process"},
                                              // Greater than any process id of Linux.
                                              {1 << 30, "no process 1073741824"}});
}

}  // namespace
}  // namespace retrystorm::test
