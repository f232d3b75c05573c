// A program under test as a real process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "tests/support/temp_dir.h"

namespace retrystorm::test {

// How much slower the programs may be than they are in a release build: sanitizers cost that much.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSlowness = 5;
#else
constexpr int kSlowness = 1;
#endif

// Can the programs be watched while they have no descriptor left? The undefined behaviour sanitizer
// opens a pipe to see whether memory can be read, and takes any object for a bad one without.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCanRunOutOfDescriptors = false;
#else
constexpr bool kCanRunOutOfDescriptors = true;
#endif

// How long a test waits for what must happen. Nobody waits so long unless something is broken.
constexpr Duration kPatience = std::chrono::seconds(10 * kSlowness);

// Looks every few milliseconds whether `condition` holds. Returns whether it did in time.
bool eventually(const std::function<bool()>& condition, Duration within = kPatience);

using Arguments = std::vector<std::string>;

// Runs a program with its output in files. When the object goes, so does the process: asked to end
// first, so that a sanitizer has its say, which makes the test fail. It dies with the test too.
class ChildProcess {
 public:
  // descriptors: how many files the program may open; 0 = as many as this process.
  // prepare: called in the child of the fork just before it becomes the program.
  explicit ChildProcess(const std::string& program, Arguments arguments = {},
                        std::size_t descriptors = 0, const std::function<void()>& prepare = {});
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;

  // Waits for the end. The exit code, 128 + the signal that ended the process, or nothing when it
  // still runs.
  std::optional<int> exit_code(Duration within = kPatience);

  std::string out() const { return read_file(dir_.file("out")); }
  std::string err() const { return read_file(dir_.file("err")); }

  // Waits until standard error contains this.
  bool says(const std::string& text) const;

  // As in /proc: 'T' is stopped. '?' when there is no such process.
  char state() const;

 private:
  void end();

  TempDir dir_;
  pid_t pid_ = -1;
  std::optional<int> exit_code_;
};

// A server on a free port of loopback, up and listening.
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
