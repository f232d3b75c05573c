// Words to the machine about memory; no rule of the experiment depends on them.
#pragma once

#include <cstddef>

#include "model/base/fifo.h"
#include "simulator/caller.h"

namespace retrystorm {

// Memory that is used in no order at all is found faster in large pages. To be called before its
// first use; where there are no such pages, nothing changes.
void prefer_large_pages(void* memory, std::size_t bytes);

// How far ahead of its use a client's memory is asked for: with a million clients it is seldom in
// the cache.
inline constexpr std::size_t kPrefetch = 16;

// `item` will be written to soon.
template <typename Item>
void prefetch(const Item& item) {
#if defined(__GNUC__)
  __builtin_prefetch(&item, 1);
#endif
}

// Guesses who leaves a server soon: mostly those who entered first.
class Foresight {
 public:
  void enter(const Attempt& attempt) { inside_.push(attempt); }

  // One leaves, of whom at least one must have entered: who will be `kPrefetch` places later?
  const Attempt& leave() {
    const Attempt& soon = inside_.peek(kPrefetch);
    inside_.pop();
    return soon;
  }

 private:
  Fifo<Attempt> inside_;
};

}  // namespace retrystorm
