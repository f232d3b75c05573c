#include "common/os/descriptor.h"

#include <unistd.h>

#include <bitset>
#include <cstddef>
#include <mutex>

namespace retrystorm {
namespace {

// A list of our own: /proc/self/fd is not everywhere, and reading it needs a descriptor. The system gives the lowest
// free number, so that none is beyond the end.
std::mutex connections_mutex;
std::bitset<1 << 20> connections;

void note(int number, bool is_connection) {
  const auto place = static_cast<std::size_t>(number);
  if (number < 0 || place >= connections.size()) return;
  const std::scoped_lock lock(connections_mutex);
  connections[place] = is_connection;
}

}  // namespace

Descriptor Descriptor::of_connection(int number) {
  note(number, true);
  return Descriptor(number);
}

Descriptor::~Descriptor() {
  if (number_ < 0) return;
  note(number_, false);
  close(number_);
}

void each_connection(const std::function<bool(int number)>& use) {
  // The lock is taken for each: with thousands of them, others would wait for long.
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const std::scoped_lock lock(connections_mutex);
    if (!connections[i]) i = connections._Find_next(i);
    if (i < connections.size() && use(static_cast<int>(i))) connections[i] = false;
  }
}

}  // namespace retrystorm
