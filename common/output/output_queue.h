// What a program prints, taken off the hands of the threads that print it: a terminal that is
// stopped (Ctrl-S) or a pipe that nobody reads holds up nobody but a thread of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <streambuf>
#include <string>

#include "common/os/process.h"
#include "model/base/duration.h"

namespace retrystorm {

// The stream of one descriptor, a bounded queue before it. Safe from any thread; what several
// threads print at a time is put together a line, or a flush, at a time.
class OutputQueue final : public std::streambuf {
 public:
  enum class WhenFull {
    kDrop,  // lines are dropped, counted, and told of once the queue has moved on
    kWait   // whoever prints waits until `stop_waiting`
  };

  // `name` is what the descriptor is called in messages, which `tell` prints: once the queue has
  // moved on after lines were dropped, and when it cannot be written to. `closed` is called, once,
  // when nobody can read it any more. Both by another thread, but not after this object's end.
  struct Listener {
    std::string name;
    std::function<void(const std::string&)> tell;
    std::function<void()> closed;
  };

  OutputQueue(int descriptor, WhenFull when_full, Listener listener);
  // What is not written yet may still be, but not for certain: see `drained`.
  ~OutputQueue() override;

  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  // Waits until all is written, or never will be. Returns whether it is so in time.
  bool drained(Duration within);
  void stop_waiting();

  // Gives up what is queued. Returns how many lines are lost, of which nobody was told.
  std::size_t abandon();

  bool closed() const;  // nobody reads any more
  bool failed() const;  // it could not be written to: a full disk, say

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int_type overflow(int_type letter) override;
  int sync() override;

 private:
  struct State;

  // Shared with the thread, which may be stuck for longer than this object, and the program, last.
  std::shared_ptr<State> state_;
};

// While it lives, std::cout and std::cerr go through such queues. When nobody reads standard output
// any more, that asks for the end.
class StandardStreams {
 public:
  // `signals` outlives it.
  // `when_full` is for standard output.
  StandardStreams(EndSignals& signals, OutputQueue::WhenFull when_full);
  ~StandardStreams();

  StandardStreams(const StandardStreams&) = delete;
  StandardStreams& operator=(const StandardStreams&) = delete;

  OutputQueue& out() { return out_; }
  bool closed() const { return out_.closed(); }

  // Waits until all is written; once the end is asked for, only for a moment. Returns the
  // program's exit code, as far as it depends on its output: 1 when that could not be written, 141
  // when nobody read it any more, as shells tell of programs that SIGPIPE has ended.
  int finish();

 private:
  EndSignals& signals_;
  OutputQueue err_;
  OutputQueue out_;
  std::streambuf* const old_err_;
  std::streambuf* const old_out_;
};

// For a program that has printed all it will, without such queues. Returns whether all is written;
// if not, says so on standard error.
bool flush_standard_output();

}  // namespace retrystorm
