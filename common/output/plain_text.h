// Text for people on standard output and error: what others wrote commands no terminal, and no log's reader.
#pragma once

#include <mutex>
#include <ostream>
#include <streambuf>
#include <string_view>

namespace retrystorm {

// While it exists, a stream's text passes through it. It prints `?` for each control character but tabs and line
// breaks, and within what makes a line a command in the log of a CI: "::" at its begin, "##[" anywhere. Safe from
// any thread.
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
  std::ostream& stream_;
  std::streambuf* const to_;
  std::mutex mutex_;
  // Of the current line, without blanks at its begin: its length, its last letter, and how many # end it.
  std::size_t length_ = 0, hashes_ = 0;
  char last_ = 0;
};

}  // namespace retrystorm
