// The waits of all clients, ordered by their ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"

namespace retrystorm {

// Requests large pages, which speed up random access. Call before the memory's first use. Does
// nothing where there are no large pages.
void prefer_large_pages(void* memory, std::size_t bytes);

// A calendar queue (Brown 1988) for a run with a known end. Time is divided into buckets of equal
// width, and only the current bucket is sorted. Waits that end after the run are not stored.
class WaitCalendar {
 public:
  // The end of a wait, and its client. Waits with the same end are ordered by client.
  struct Wait {
    TimePoint end;
    std::uint32_t client;

    bool operator<(const Wait& other) const {
      return end != other.end ? end < other.end : client < other.client;
    }
  };

  // `expected`: the approximate number of waits at a time. It sets the number of buckets. They need
  // at least eight bytes for every four seconds between start and end.
  WaitCalendar(TimePoint start, TimePoint end, std::size_t expected);

  // `wait.end` must not be before the end of the last wait popped.
  void push(const Wait& wait);

  // The end of the first wait. `TimePoint::max()` if there is none. An event loop asks after every event.
  [[gnu::always_inline]] TimePoint next() {
    if (position_ == current_.size() && late_.empty() && later_ > 0) open_next_buckets();
    const TimePoint in_order = position_ < current_.size() ? first_in_order().end : kNever;
    return late_.empty() ? in_order : std::min(in_order, late_.front().end);
  }

  // Removes and returns the first wait. `next` must have found one.
  Wait pop();

  // Removes and returns all waits, unordered. Waits that end after the run are lost.
  std::vector<Wait> take_all();

  // For prefetching: the client to be popped `ahead` places later, if known. Otherwise any client.
  std::uint32_t soon(std::size_t ahead) const {
    return position_ + ahead < current_.size() ? client_of(current_[position_ + ahead]) : 0;
  }

 private:
  // A wait within its bucket, as one number that sorts like the waits. The high bits are
  // nanoseconds since the start of the bucket, the low bits are the client.
  using Key = std::uint64_t;
  static constexpr int kClientBits = 32;
  static std::uint32_t client_of(Key key) { return static_cast<std::uint32_t>(key); }

  // A bucket is a list of blocks. It needs no blocks until it is used, and returns them afterwards.
  // Only the first block of a list may have room.
  struct Block {
    static constexpr std::uint32_t kCapacity = 31;
    Key keys[kCapacity];
    std::uint32_t next;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Bucket {
    std::uint32_t block = kNone;
    std::uint32_t size = Block::kCapacity;  // of the first block; kept here to be in the cache
  };
  static constexpr TimePoint kNever = TimePoint::max();

  Wait first_in_order() const {
    const Key key = current_[position_];
    return {current_start_ + Duration(static_cast<std::int64_t>(key >> kClientBits)),
            client_of(key)};
  }
  std::uint32_t take_block(std::uint32_t next);
  void open_next_bucket();   // there must be one; its waits are unsorted
  void open_next_buckets();  // until one is not empty
  void sort_current();

  TimePoint start_, end_;
  int shift_ = 0;  // a bucket is 2^shift nanoseconds wide
  std::vector<Bucket> buckets_;
  std::vector<Block> blocks_;
  std::uint32_t free_ = kNone;

  std::uint64_t current_bucket_ = 0;
  TimePoint current_start_;
  std::vector<Key> current_;  // of the current bucket, sorted from `position_` on
  std::size_t position_ = 0;
  std::vector<Key> unsorted_;  // for `sort_current`, kept to reuse its memory
  std::vector<std::uint32_t> slices_;
  std::vector<Wait> late_;  // a heap of waits added to the current bucket after it was opened
  std::size_t later_ = 0;   // waits in the buckets after the current one
};

}  // namespace retrystorm
