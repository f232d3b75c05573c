// A FIFO whose reader reads only on request.
#pragma once

#include <string>

#include "tests/support/temp_dir.h"

namespace retrystorm::test {

// Waits until a pipe's content has at least this many bytes and stops growing: an endless writer is then
// blocked.
bool is_full(int pipe, int least = 1);

// Holds two pages. The reader is open from the start, unless constructed without a reader.
class Fifo {
 public:
  enum class Reader { kThere, kNone };

  explicit Fifo(Reader reader = Reader::kThere);
  ~Fifo();

  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  std::string path() const { return dir_.file("fifo"); }

  void close_reader() const;
  // Reads without waiting for more.
  std::string read_what_is_there() const;
  // A line after the first one has at most a quarter of a page. The first one, which a program writes
  // before it begins its work, does not fill the page.
  bool full() const;

 private:
  TempDir dir_;
  mutable int reader_ = -1;
};

}  // namespace retrystorm::test
