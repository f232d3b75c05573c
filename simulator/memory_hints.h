// A word to the machine about memory; no rule of the experiment depends on it.
#pragma once

#include <cstddef>

namespace retrystorm {

// Memory that is used in no order at all is found faster in large pages. To be called before its
// first use; where there are no such pages, nothing changes.
void prefer_large_pages(void* memory, std::size_t bytes);

// `item` will be written to soon: with a million clients it is seldom in the cache.
template <typename Item>
void prefetch(const Item& item) {
#if defined(__GNUC__)
  __builtin_prefetch(&item, 1);
#endif
}

}  // namespace retrystorm
