// A file of JSON Lines: one object per line, the first one of the program and its version. A reader sees each line soon
// after it is written.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "common/output/json_text.h"
#include "common/output/output_file.h"
#include "common/output/output_queue.h"

namespace retrystorm {

// "1.0.0"
extern const char* const kVersion;

// The commit that was built: "2f76069a1", or "2f76069a1-dirty" if files differed from it when CMake
// configured the build, or "" if it is not known.
extern const char* const kRevision;

// "retrystorm 1.0.0 (2f76069a1)"
std::string version_text();

// The program, its version, the command that repeats the run, and every option. `started_at` is the
// wall-clock time at `t` = 0. Readers can use it to align files of programs that were started at
// different times. Virtual time has none.
Json start_json(const std::string& program, const std::string& command, const Json& options,
                std::optional<std::chrono::system_clock::time_point> started_at = std::nullopt);

// "# simulate --runs=9, retrystorm 1.0.0 (2f76069a1), seed 5", in one line whatever the command is.
std::string csv_comment(const std::string& command, std::uint64_t seed);

// A separate thread writes to the file, so that a disk that hangs, or a pipe whose reader has
// stopped, does not block the caller. Not safe for concurrent use, except for `stop_waiting`.
class JsonLines {
 public:
  // Empties the file. Without a path, nothing is written. `when_full` says what happens to lines
  // for which the queue has no room.
  JsonLines(OutputFile file, OutputQueue::WhenFull when_full);
  // Opens the file as `OutputFile` does. `write` waits while the queue is full.
  explicit JsonLines(const std::string& path);
  ~JsonLines();

  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;

  // A failure (for example, a full disk) is printed once on standard error, and so is the number of
  // dropped lines. The run continues.
  void write(const Json& object);
  // A function that writes its argument to this file. This object must outlive the function.
  auto sink() {
    return [this](const Json& object) { write(object); };
  }

  // With `WhenFull::kWait`: from now on, drops lines instead of waiting.
  void stop_waiting();

  // Waits until everything is written. If the file accepts nothing more, drops the rest and prints
  // how much was lost. Nothing is written after this call. Returns false if writing failed; dropped
  // lines do not count as a failure.
  bool finish();

 private:
  OutputFile file_;
  std::atomic<bool> waits_;
  std::optional<OutputQueue>
      queue_;  // as long as this object: another thread may call `stop_waiting`
  bool finished_ = false, failed_ = false;
};

}  // namespace retrystorm
