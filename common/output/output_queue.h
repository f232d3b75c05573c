// Writes a program's output, to standard streams and files, on separate threads. A stopped terminal
// (Ctrl-S), a pipe without an active reader or a disk that hangs then blocks no other thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "common/os/process.h"
#include "model/base/duration.h"

namespace retrystorm {

// While it exists, a stream's text passes through it. It prints `?` for each control character but tabs, line breaks and
// the colours of `painted`, and within what makes a line a command in the log of a CI: "::" at its begin, "##[error]"
// anywhere. Safe from any thread.
class PlainText final : public std::streambuf {
 public:
  explicit PlainText(std::ostream& stream) : stream_(stream), to_(stream.rdbuf(this)) {}
  ~PlainText() override { stream_.rdbuf(to_); }

  // Writes past it, for those who move the cursor on purpose.
  static void write_as_it_is(std::ostream& stream, std::string_view text);

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int_type overflow(int_type letter) override;
  int sync() override { return to_->pubsync(); }

 private:
  // The same for a text without colours. Holds `mutex_`.
  std::string plain(std::string_view text);

  std::ostream& stream_;
  std::streambuf* const to_;
  std::mutex mutex_;
  // Of the current line, without blanks at its begin: its length, its last letter, and how many # end it.
  std::size_t length_ = 0, hashes_ = 0;
  char last_ = 0;
};

// The stream of one descriptor, with a bounded queue. Safe from any thread: output of several
// threads is mixed only in whole lines or flushes.
class OutputQueue final : public std::streambuf {
 public:
  enum class WhenFull {
    kDrop,  // lines are dropped and counted; the count is reported later
    kWait   // the printing thread waits for room, until `stop_waiting`
  };

  // `name` is the descriptor's name in messages. `tell` prints messages: after lines were dropped
  // and the queue has room again, when the queue is abandoned, and when writing fails. `closed` is
  // called once, when the descriptor has no reader any more; without `closed`, this counts as a
  // failure. Both are called from any thread, but not after this object's end.
  struct Listener {
    std::string name;
    std::function<void(const std::string&)> tell;
    std::function<void()> closed;
  };

  // In bytes. Enough for hours of lines at the usual rate.
  static constexpr std::size_t kMostQueued = 1 << 20;

  // At most `most` bytes are queued.
  OutputQueue(int descriptor, WhenFull when_full, Listener listener,
              std::size_t most = kMostQueued);
  // Output that is not yet written may be lost: call `drained` first.
  ~OutputQueue() override;

  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  // Waits until everything is written, or can never be. Returns false if that takes longer than
  // `within`.
  bool drained(Duration within);
  void stop_waiting();

  // The number of bytes not yet written.
  std::size_t unwritten() const;

  // Discards the queue.
  void abandon();

  bool closed() const;  // there is no reader any more
  bool failed() const;  // writing failed: for example, the disk is full

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int_type overflow(int_type letter) override;
  int sync() override;

 private:
  struct State;

  // Shared with the thread, which may be blocked until after this object's and the program's end.
  std::shared_ptr<State> state_;
};

// While this object exists, std::cout and std::cerr are written through such queues. When standard
// output has no reader any more, requests the program's end.
class StandardStreams {
 public:
  // `signals` must outlive this object. `when_full` applies to standard output. If that waits when it is full, and both
  // lead to one file, both have one queue: all is printed in the order in which the program prints it.
  StandardStreams(EndSignals& signals, OutputQueue::WhenFull when_full);
  ~StandardStreams();

  StandardStreams(const StandardStreams&) = delete;
  StandardStreams& operator=(const StandardStreams&) = delete;

  OutputQueue& out() { return out_; }

  // Prints a line on standard error, after what was printed on standard output before, unless that
  // waits for its reader.
  void note(const std::string& line);

  bool closed() const { return out_.closed(); }

  // Waits until everything is written, but only briefly once the end is requested. Returns the
  // program's exit code as far as it depends on the output: 1 if writing failed, or 141 if there
  // was no reader any more (the code that shells report for programs ended by SIGPIPE).
  int finish();

 private:
  EndSignals& signals_;
  OutputQueue err_;
  OutputQueue out_;
  std::streambuf* const old_err_;
  std::streambuf* const old_out_;
  std::optional<PlainText> plain_out_, plain_err_;
};

// For a program that prints without such queues: flushes standard output after its last line. If
// that fails, prints a message on standard error and returns false.
bool flush_standard_output();

}  // namespace retrystorm
