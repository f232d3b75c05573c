#include "tests/support/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <thread>

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;

// Disables the admin port: only one of several servers could have the default one.
Arguments on_a_free_port(Arguments arguments) {
  arguments.insert(arguments.begin(), {"--port", "0", "--admin-port", "0"});
  return arguments;
}

// Runs in the child after fork(), so it may only use functions that are safe there.
[[noreturn]] void become(char** command, const char* out, const char* err, std::size_t descriptors,
                         const std::function<void()>& prepare) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int to = O_WRONLY | O_CREAT | O_APPEND;
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(open(out, to, 0600), STDOUT_FILENO);
  dup2(open(err, to, 0600), STDERR_FILENO);
  if (descriptors > 0) {
    const rlimit limit{descriptors, descriptors};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (prepare) prepare();
  execv(command[0], command);
  _exit(127);
}

}  // namespace

bool eventually(const std::function<bool()>& condition, Duration within) {
  for (const TimePoint deadline = Clock::now() + within; !condition();) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

ChildProcess::ChildProcess(const std::string& program, Arguments arguments, std::size_t descriptors,
                           const std::function<void()>& prepare) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> command;
  for (std::string& word : arguments) command.push_back(word.data());
  command.push_back(nullptr);
  const std::string out = dir_.file("out");
  const std::string err = dir_.file("err");
  pid_ = fork();
  if (pid_ == 0) become(command.data(), out.c_str(), err.c_str(), descriptors, prepare);
  if (pid_ < 0) throw std::runtime_error("cannot fork");
}

ChildProcess::~ChildProcess() {
  end();
  const std::string said = err();
  for (const char* bad :
       {"ThreadSanitizer", "AddressSanitizer", "LeakSanitizer", "runtime error"}) {
    if (said.find(bad) == std::string::npos) continue;
    ADD_FAILURE() << said;
    break;
  }
}

void ChildProcess::end() {
  if (exit_code(0s)) return;
  signal(SIGTERM);
  signal(SIGCONT);
  if (exit_code(2s * kSlowness)) return;
  signal(SIGKILL);
  exit_code();
}

void ChildProcess::signal(int number) const {
  if (!exit_code_) kill(pid_, number);
}

std::optional<int> ChildProcess::exit_code(Duration within) {
  const auto ended = [this] {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
  };
  if (!exit_code_) eventually(ended, within);
  return exit_code_;
}

bool ChildProcess::says(const std::string& text) const {
  return eventually([&] { return err().find(text) != std::string::npos; });
}

int ChildProcess::port_after(const std::string& words) const {
  int port = 0;
  eventually([&] {
    const std::string said = err();
    const std::size_t at = said.find(words);
    if (at == said.npos || said.find('/', at + words.size()) == said.npos) return false;
    port = std::stoi(said.substr(at + words.size()));
    return true;
  });
  return port;
}

std::size_t ChildProcess::memory() const {
  const std::string status = read_file("/proc/" + std::to_string(pid_) + "/status");
  return std::stoul(status.substr(status.find("VmRSS:") + 6)) * 1024;
}

char ChildProcess::state() const {
  // "PID (NAME) STATE ...", where the name may contain anything.
  const std::string stat = read_file("/proc/" + std::to_string(pid_) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? '?' : stat.at(name_end + 2);
}

Arguments operator+(Arguments first, const Arguments& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

Ended ended(const std::string& program, const Arguments& arguments, Duration within) {
  ChildProcess process(program, arguments);
  const int code = process.exit_code(within).value_or(-1);
  return {code, process.out(), process.err()};
}

Ended succeeded(const std::string& program, const Arguments& arguments, Duration within) {
  Ended run = ended(program, arguments, within);
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  return run;
}

std::vector<nlohmann::json> json_lines_of(const std::string& program, const Arguments& arguments) {
  const TempDir dir;
  succeeded(program, arguments + Arguments{"--json", dir.file("json")});
  return read_json_lines(dir.file("json"));
}

nlohmann::json summary_of(const std::string& program, const Arguments& arguments) {
  return json_lines_of(program, arguments).back();
}

nlohmann::json last_interval(const std::vector<nlohmann::json>& lines) {
  return *std::find_if(lines.rbegin(), lines.rend(),
                       [](const auto& each) { return each["type"] == "interval"; });
}

ServerUnderTest::ServerUnderTest(Arguments arguments, std::size_t descriptors)
    : ChildProcess(RETRYSTORM_SERVER, on_a_free_port(std::move(arguments)), descriptors) {
  if (!says("/api\n")) throw std::runtime_error("the server did not start: " + err());
  port_ = port_after("listening on http://127.0.0.1:");
}

ClientUnderTest::ClientUnderTest(Arguments arguments)
    : ChildProcess(RETRYSTORM_CLIENT, std::move(arguments)) {}

}  // namespace retrystorm::test
