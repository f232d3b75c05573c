#include "simulator/wait_queue.h"

#include <bit>
#include <utility>

namespace retrystorm {
namespace {

// So many waits for each bucket of the run, most of them in its next tenth: a bucket is sorted in
// the fastest cache, and its blocks are more full than empty.
constexpr std::size_t kWaitsPerBucket = 256;
constexpr std::size_t kFewestBuckets = 64;
// A bucket's nanoseconds must fit into a key beside the client.
constexpr int kWidestShift = 32;

struct Later {
  bool operator()(const WaitQueue::Wait& a, const WaitQueue::Wait& b) const { return b < a; }
};

}  // namespace

WaitQueue::WaitQueue(TimePoint start, TimePoint end, std::size_t expected)
    : start_(start), end_(end), current_start_(start) {
  const auto length = static_cast<std::uint64_t>((end - start).count()) + 1;
  const std::size_t wanted = std::max(expected / kWaitsPerBucket, kFewestBuckets);
  shift_ = std::min(static_cast<int>(std::bit_width(length / wanted)), kWidestShift);
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
  const auto since_start = static_cast<std::uint64_t>((wait.end - start_).count());
  const std::size_t bucket = since_start >> shift_;
  if (bucket <= current_bucket_) {
    late_.push_back(wait);
    std::push_heap(late_.begin(), late_.end(), Later());
    return;
  }
  std::uint32_t& head = buckets_[bucket];
  if (head == kNone || blocks_[head].size == Block::kCapacity) head = take_block(head);
  Block& block = blocks_[head];
  const std::uint64_t since_bucket = since_start - (std::uint64_t{bucket} << shift_);
  block.keys[block.size++] = since_bucket << kClientBits | wait.client;
  ++later_;
}

WaitQueue::Wait WaitQueue::pop() {
  if (position_ < current_.size()) {
    const Wait wait = first_in_order();
    if (late_.empty() || wait < late_.front()) {
      ++position_;
      return wait;
    }
  }
  std::pop_heap(late_.begin(), late_.end(), Later());
  const Wait wait = late_.back();
  late_.pop_back();
  return wait;
}

void WaitQueue::open_next_buckets() {
  current_.clear();
  position_ = 0;
  while (current_.empty() && later_ > 0) {
    std::uint32_t block = std::exchange(buckets_[++current_bucket_], kNone);
    while (block != kNone) {
      const Block& full = blocks_[block];
      current_.insert(current_.end(), full.keys, full.keys + full.size);
      const std::uint32_t next = std::exchange(blocks_[block].next, free_);
      free_ = std::exchange(block, next);
    }
  }
  current_start_ = start_ + Duration(static_cast<std::int64_t>(current_bucket_ << shift_));
  later_ -= current_.size();
  std::sort(current_.begin(), current_.end());
}

}  // namespace retrystorm
