#include "simulator/wait_queue.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace retrystorm {
namespace {

// With so many waits to a bucket, sorting one stays in the fastest cache, and the blocks of the
// buckets are more full than empty.
constexpr std::size_t kWaitsPerBucket = 512;
constexpr std::size_t kFewestBuckets = 64;

struct Later {
  bool operator()(const WaitQueue::Wait& a, const WaitQueue::Wait& b) const { return b < a; }
};

}  // namespace

WaitQueue::WaitQueue(TimePoint start, TimePoint end, std::size_t expected)
    : start_(start), end_(end) {
  const auto length = static_cast<std::uint64_t>((end - start).count()) + 1;
  const std::size_t wanted = std::max(expected / kWaitsPerBucket, kFewestBuckets);
  shift_ = static_cast<int>(std::bit_width(length / wanted));
  buckets_.assign((length >> shift_) + 1, kNone);
}

std::uint32_t WaitQueue::take_block(std::uint32_t next) {
  std::uint32_t block = free_;
  if (block == kNone) {
    block = static_cast<std::uint32_t>(blocks_.size());
    blocks_.emplace_back();
  } else {
    free_ = blocks_[block].next;
  }
  blocks_[block].size = 0;
  blocks_[block].next = next;
  return block;
}

void WaitQueue::push(const Wait& wait) {
  if (wait.end > end_) return;
  const std::size_t index = bucket_of(wait.end);
  if (index <= current_bucket_) {
    late_.push_back(wait);
    std::push_heap(late_.begin(), late_.end(), Later());
    return;
  }
  std::uint32_t& head = buckets_[index];
  if (head == kNone || blocks_[head].size == Block::kCapacity) head = take_block(head);
  Block& block = blocks_[head];
  block.waits[block.size++] = wait;
  ++later_;
}

WaitQueue::Wait WaitQueue::pop() {
  if (position_ < current_.size() && (late_.empty() || current_[position_] < late_.front())) {
    return current_[position_++];
  }
  std::pop_heap(late_.begin(), late_.end(), Later());
  const Wait wait = late_.back();
  late_.pop_back();
  return wait;
}

std::uint32_t WaitQueue::soon(std::size_t ahead) const {
  return position_ + ahead < current_.size() ? current_[position_ + ahead].client : 0;
}

void WaitQueue::open_next_buckets() {
  current_.clear();
  position_ = 0;
  while (current_.empty() && later_ > 0) {
    std::uint32_t block = std::exchange(buckets_[++current_bucket_], kNone);
    while (block != kNone) {
      const Block& full = blocks_[block];
      if (full.next != kNone) {
        const auto* ahead = reinterpret_cast<const char*>(&blocks_[full.next]);
        for (std::size_t line = 0; line < sizeof(Block); line += 64)
          __builtin_prefetch(ahead + line);
      }
      current_.insert(current_.end(), full.waits, full.waits + full.size);
      const std::uint32_t next = std::exchange(blocks_[block].next, free_);
      free_ = std::exchange(block, next);
    }
  }
  later_ -= current_.size();
  std::sort(current_.begin(), current_.end());
}

}  // namespace retrystorm
