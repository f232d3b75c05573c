#include "client/outage/server_process.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace retrystorm {
namespace {

constexpr char kFrozen = 'f';
constexpr char kAwake = 'a';

// Runs in the watchdog's process.
void wake_in_time(int messages, int server) {
  WatchdogMessage last{.what = kAwake};
  while (true) {
    if (is_ready(messages, POLLIN, last.until)) {
      if (!read_message(messages, last)) break;
    } else {
      pidfd_send_signal(server, SIGCONT, nullptr, 0);
      last.until = TimePoint::max();
    }
  }
  if (last.what == kFrozen) pidfd_send_signal(server, SIGCONT, nullptr, 0);
}

}  // namespace

std::vector<pid_t> process_tree(pid_t pid) {
  std::vector<pid_t> all{pid};
  std::error_code gone;
  const std::filesystem::path threads = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& each : std::filesystem::directory_iterator(threads, gone)) {
    std::ifstream children(each.path() / "children");
    for (pid_t child; children >> child;) {
      const std::vector<pid_t> its = process_tree(child);
      all.insert(all.end(), its.begin(), its.end());
    }
  }
  return all;
}

pid_t parent_of_same(pid_t pid) {
  const std::filesystem::path proc = "/proc";
  std::error_code gone;
  const auto program = [&](pid_t of) {
    return std::filesystem::read_symlink(proc / std::to_string(of) / "exe", gone);
  };
  std::ifstream status(proc / std::to_string(pid) / "status");
  for (std::string word; status >> word;) {
    if (word != "PPid:") continue;
    pid_t parent = 0;
    status >> parent;
    return parent > 1 && !program(pid).empty() && program(parent) == program(pid) ? parent : 0;
  }
  return 0;
}

ServerProcess::ServerProcess(pid_t pid) : pid_(pid), process_(pidfd_open(pid, 0)) {
  const int error = errno;
  const std::string who = "process " + std::to_string(pid);
  if (pid == getpid()) throw std::runtime_error(who + " is this client itself, not the server");
  if (pid == 1) throw std::runtime_error(who + " is the init process, not the server");
  if (!process_) {
    if (error == ESRCH) throw std::runtime_error("there is no " + who);
    throw std::system_error(error, std::generic_category(), who + " cannot be watched");
  }
  if (has_ended()) throw std::runtime_error(who + " has ended");
  send(0, who + " cannot be frozen");
  start_watchdog();
}

void ServerProcess::start_watchdog() {
  watchdog_.emplace("outage-watchdog", process_.number(),
                    [this](int messages) { wake_in_time(messages, process_.number()); });
}

void ServerProcess::freeze(TimePoint until) {
  // The watchdog gets the message first. So if this process is killed now, the server still wakes.
  const WatchdogMessage message{.what = kFrozen, .until = until};
  if (!watchdog_->send(message)) {  // it was killed
    start_watchdog();
    watchdog_->send(message);
  }
  try {
    signal(SIGSTOP);
  } catch (...) {
    watchdog_->send({.what = kAwake});
    throw;
  }
}

void ServerProcess::wake() {
  signal(SIGCONT);
  watchdog_->send({.what = kAwake});
}

void ServerProcess::signal(int number) {
  const std::string cannot =
      "the server (process " + std::to_string(pid_) + ") cannot be signalled";
  // Without this check, signals to a process that has ended but has not been waited for would seem
  // to succeed.
  if (has_ended()) throw std::runtime_error(cannot + ": it has ended");
  send(number, cannot);
}

void ServerProcess::send(int number, const std::string& cannot) const {
  if (pidfd_send_signal(process_.number(), number, nullptr, 0) != 0) {
    throw std::system_error(errno, std::generic_category(), cannot);
  }
}

}  // namespace retrystorm
