// The waits of all clients, in the order in which they end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// A calendar queue (Brown 1988) for a run whose end is known: time is cut into buckets of one
// width, and only the bucket at hand is kept in order. What ends after the run is not kept at all.
class WaitQueue {
 public:
  // A wait: when it ends, and whose it is. Waits that end together are ordered by client.
  struct Wait {
    TimePoint end;
    std::uint32_t client;

    bool operator<(const Wait& other) const {
      return end != other.end ? end < other.end : client < other.client;
    }
  };

  // `expected` is about how many waits there are at a time: it decides how fine the buckets are.
  // They need eight bytes for each four seconds between start and end, at the least.
  WaitQueue(TimePoint start, TimePoint end, std::size_t expected);

  // `wait.end` must not be before the end of the wait that was popped last.
  void push(const Wait& wait);

  // The end of the first wait, `TimePoint::max()` when there is none.
  TimePoint next() {
    if (position_ == current_.size() && late_.empty()) open_next_buckets();
    const TimePoint in_order = position_ < current_.size() ? first_in_order().end : kNever;
    return late_.empty() ? in_order : std::min(in_order, late_.front().end);
  }

  // Takes the first wait out; `next` must have found one.
  Wait pop();

  // Takes all of them out, in no order. Those that end after the run are not among them: nothing
  // can bring them back.
  std::vector<Wait> take_all();

  // Who will be popped soon, if that is known already: for a prefetch. Any client otherwise.
  std::uint32_t soon(std::size_t ahead) const {
    return position_ + ahead < current_.size() ? client_of(current_[position_ + ahead]) : 0;
  }

 private:
  // A wait within its bucket in one number that sorts as the waits do: nanoseconds since the
  // bucket's start above, the client below.
  using Key = std::uint64_t;
  static constexpr int kClientBits = 32;
  static std::uint32_t client_of(Key key) { return static_cast<std::uint32_t>(key); }

  // Buckets are lists of blocks, so that they need no memory of their own until they are used and
  // give it back when they have been. Only the first block of a list may have room.
  struct Block {
    static constexpr std::uint32_t kCapacity = 31;
    Key keys[kCapacity];
    std::uint32_t next;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Bucket {
    std::uint32_t block = kNone;
    std::uint32_t size = Block::kCapacity;  // of the first block: here, for it is always at hand
  };
  static constexpr TimePoint kNever = TimePoint::max();

  Wait first_in_order() const {
    const Key key = current_[position_];
    return {current_start_ + Duration(static_cast<std::int64_t>(key >> kClientBits)),
            client_of(key)};
  }
  std::uint32_t take_block(std::uint32_t next);
  void open_next_bucket();   // there must be one; its waits are in no order
  void open_next_buckets();  // up to one that is not empty
  void sort_current();

  TimePoint start_, end_;
  int shift_ = 0;  // a bucket is 2^shift nanoseconds wide
  std::vector<Bucket> buckets_;
  std::vector<Block> blocks_;
  std::uint32_t free_ = kNone;

  std::uint64_t current_bucket_ = 0;
  TimePoint current_start_;
  std::vector<Key> current_;  // of the current bucket, in order from `position_` on
  std::size_t position_ = 0;
  std::vector<Key> unsorted_;  // of `sort_current`: kept for their memory
  std::vector<std::uint32_t> slices_;
  std::vector<Wait> late_;  // a heap: came into the current bucket after it was opened
  std::size_t later_ = 0;   // waits in the buckets after the current one
};

}  // namespace retrystorm
