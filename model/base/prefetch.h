// A hint to the machine about memory that is needed soon. It never changes a result.
#pragma once

#include <cstddef>

namespace retrystorm {

// How many clients or requests ahead memory is prefetched. With a million clients, a client is seldom in the
// cache.
inline constexpr std::size_t kPrefetch = 16;

// Prefetches `item`, which will be written soon.
template <typename Item>
void prefetch(const Item& item) {
#if defined(__GNUC__)
  __builtin_prefetch(&item, 1);
#endif
}

}  // namespace retrystorm
