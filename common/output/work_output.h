// The output of a program that computes, and the events that interrupt its work.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "common/os/process.h"
#include "common/output/json_lines.h"
#include "common/output/output_file.h"
#include "common/output/output_queue.h"

namespace retrystorm {

// The standard streams and the program's JSON Lines files. While this object exists, the work is
// interrupted by a signal to end, or when standard output has no reader any more.
class WorkOutput {
 public:
  explicit WorkOutput(OutputFile json, OutputFile server_json = OutputFile(""))
      : streams_(signals_, OutputQueue::WhenFull::kWait),
        json_(std::move(json), OutputQueue::WhenFull::kWait),
        server_json_(std::move(server_json), OutputQueue::WhenFull::kWait),
        thread_([this](const std::stop_token& done) { watch(done); }) {}

  JsonLines& json() { return json_; }
  JsonLines& server_json() { return server_json_; }

  // Prints a line on standard error, in order with standard output.
  void note(const std::string& line) { streams_.note(line); }

  bool interrupted() const { return interrupted_; }

  // Returns true if standard output still has a reader.
  bool has_reader() const { return !streams_.closed(); }

  // Call it after the work. Returns the exit code as far as it depends on the output.
  int finish() {
    const bool json_written = json_.finish();
    const bool written = server_json_.finish() && json_written;
    const int code = streams_.finish();
    return written ? code : 1;
  }

 private:
  void watch(const std::stop_token& done) {
    const std::stop_callback no_more(done, [this] { signals_.cancel(); });
    if (!signals_.wait()) return;
    interrupted_ = true;
    streams_.out().stop_waiting();
    json_.stop_waiting();
    server_json_.stop_waiting();
  }

  EndSignals signals_;
  StandardStreams streams_;
  JsonLines json_;
  JsonLines server_json_;
  std::atomic<bool> interrupted_{false};
  std::jthread thread_;
};

}  // namespace retrystorm
