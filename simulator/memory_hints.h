// Hints to the machine about memory use. They never change a result.
#pragma once

#include <cstddef>

#include "model/base/fifo.h"
#include "model/base/prefetch.h"
#include "simulator/caller.h"

namespace retrystorm {

// Requests large pages, which speed up random access. Call before the memory's first use. Does
// nothing where there are no large pages.
void prefer_large_pages(void* memory, std::size_t bytes);

// Predicts which attempts will leave a server soon: usually the oldest.
class DeparturePrefetch {
 public:
  void enter(const Attempt& attempt) { inside_.push(attempt); }

  // One attempt leaves. Returns the one expected to leave `kPrefetch` places later. At least one
  // must have entered.
  const Attempt& leave() {
    const Attempt& soon = inside_.peek(kPrefetch);
    inside_.pop();
    return soon;
  }

 private:
  Fifo<Attempt> inside_;
};

}  // namespace retrystorm
