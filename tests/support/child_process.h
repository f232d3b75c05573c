// A program under test as a real process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "tests/support/temp_dir.h"

namespace retrystorm::test {

// How much slower the programs may be than in a release build, because of sanitizers.
#if RETRYSTORM_SANITIZED
constexpr int kSlowness = 5;
#else
constexpr int kSlowness = 1;
#endif

// How many times as long as documented an end may take. A sanitizer looks for leaks at the end: 0.4 s alone, 5 s
// beside three busy processes. An end that waits for what never comes takes for ever.
constexpr int kEndSlowness = kSlowness > 1 ? 4 * kSlowness : 1;

// A sanitizer maps more address space than there is memory.
constexpr bool kCanRunOutOfMemory = !RETRYSTORM_SANITIZED;

// Whether the programs can be tested without any free descriptor. The undefined behaviour sanitizer
// opens a pipe to check whether memory is readable. Without a descriptor it reports every object as
// invalid.
constexpr bool kCanRunOutOfDescriptors = !RETRYSTORM_CHECKS_MEMORY;

// How long a test waits for an event that must happen. Only failing tests wait this long.
constexpr Duration kPatience = std::chrono::seconds(10 * kSlowness);

// Checks `condition` every few milliseconds. Returns false if it did not become true in time.
bool eventually(const std::function<bool()>& condition, Duration within = kPatience);

using Arguments = std::vector<std::string>;
Arguments operator+(Arguments first, const Arguments& more);

// Runs a program with its output in files. The destructor ends the process. It first asks the
// process to end, so that a sanitizer can report errors, which then fail the test. The process is
// also killed if the test dies.
class ChildProcess {
 public:
  // descriptors: how many files the program may open; 0 = the limit of this process.
  // prepare: called in the child process just before it executes the program.
  explicit ChildProcess(const std::string& program, Arguments arguments = {},
                        std::size_t descriptors = 0, const std::function<void()>& prepare = {});
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;

  // Waits for the end. Returns the exit code, or 128 + the signal that ended the process, or
  // std::nullopt if it is still running.
  std::optional<int> exit_code(Duration within = kPatience);

  std::string out() const { return read_file(dir_.file("out")); }
  std::string err() const { return read_file(dir_.file("err")); }

  // Waits until standard error contains this.
  bool says(const std::string& text) const;

  // The port that it says after these words; 0 if it does not.
  int port_after(const std::string& words) const;
  int admin_port() const { return port_after("metrics on http://127.0.0.1:"); }

  // What it has of memory, in bytes.
  std::size_t memory() const;

  // The state letter from /proc: 'T' is stopped. '?' if there is no such process.
  char state() const;

 private:
  void end();

  TempDir dir_;
  pid_t pid_ = -1;
  std::optional<int> exit_code_;
};

// What a program said until it ended. The code is -1 if it has not ended in time.
struct Ended {
  int code;
  std::string out, err;
};
Ended ended(const std::string& program, const Arguments& arguments, Duration within = kPatience);
// Of one that must end with success.
Ended succeeded(const std::string& program, const Arguments& arguments,
                Duration within = kPatience);

// The lines that a program writes with --json, and the last of them, its summary. It must end with success.
std::vector<nlohmann::json> json_lines_of(const std::string& program, const Arguments& arguments);
nlohmann::json summary_of(const std::string& program, const Arguments& arguments);
// The last window of those lines.
nlohmann::json last_interval(const std::vector<nlohmann::json>& lines);

// A running server that listens on a free port of loopback.
class ServerUnderTest : public ChildProcess {
 public:
  explicit ServerUnderTest(Arguments arguments = {}, std::size_t descriptors = 0);

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/api"; }

 private:
  int port_ = 0;
};

class ClientUnderTest : public ChildProcess {
 public:
  explicit ClientUnderTest(Arguments arguments);
};

}  // namespace retrystorm::test
