#include "tests/support/fifo.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "tests/support/child_process.h"

namespace retrystorm::test {
namespace {

// More than twice a start line, which alone must not look like a full FIFO.
constexpr int kSize = 4 * 4096;

}  // namespace

bool is_full(int pipe, int least) {
  int before = 0, same = 0;
  return eventually([&] {
    int there = 0;
    ioctl(pipe, FIONREAD, &there);
    same = there == before ? same + 1 : 0;
    before = there;
    return there >= least && same >= 20 * kSlowness;
  });
}

Fifo::Fifo(Reader reader) {
  if (mkfifo(path().c_str(), 0600) != 0) throw std::runtime_error("no FIFO");
  if (reader == Reader::kNone) return;
  reader_ = open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  fcntl(reader_, F_SETPIPE_SZ, kSize);
}

Fifo::~Fifo() {
  close_reader();
}

bool Fifo::full() const {
  return is_full(reader_, kSize / 2);
}

void Fifo::close_reader() const {
  if (reader_ >= 0) close(reader_);
  reader_ = -1;
}

std::string Fifo::read_what_is_there() const {
  std::string text(kSize, '\0');
  const ssize_t size = read(reader_, text.data(), text.size());
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

}  // namespace retrystorm::test
