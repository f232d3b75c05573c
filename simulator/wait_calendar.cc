#include "simulator/wait_calendar.h"

#include <bit>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace retrystorm {
namespace {

// How many waits there are for each bucket of the run. Most waits end within the next tenth of the
// run. With this number, a bucket fits into the fastest cache when it is sorted, and its blocks are
// mostly full.
constexpr std::size_t kWaitsPerBucket = 256;
// With fewer clients, buckets are narrower: a wait that ends in the current bucket needs the heap,
// which costs more. Of a run of two minutes a bucket is then a tenth of a second.
constexpr std::size_t kFewestBuckets = 1024;
// A key must hold a bucket's nanoseconds and the client.
constexpr int kWidestShift = 32;

struct Later {
  bool operator()(const WaitCalendar::Wait& a, const WaitCalendar::Wait& b) const { return b < a; }
};

}  // namespace

void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kPage = 1 << 21;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t aligned = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (begin + bytes) / kPage * kPage;
  if (aligned < end) madvise(reinterpret_cast<void*>(aligned), end - aligned, MADV_HUGEPAGE);
#endif
}

WaitCalendar::WaitCalendar(TimePoint start, TimePoint end, std::size_t expected)
    : start_(start), end_(end), current_start_(start) {
  const auto length = static_cast<std::uint64_t>((end - start).count()) + 1;
  const std::size_t wanted = std::max(expected / kWaitsPerBucket, kFewestBuckets);
  shift_ = std::min(static_cast<int>(std::bit_width(length / wanted)), kWidestShift);
  buckets_.resize((length >> shift_) + 1);
  // Full blocks for all waits, and for each bucket one that is not full.
  blocks_.reserve(expected / Block::kCapacity + buckets_.size());
  prefer_large_pages(blocks_.data(), blocks_.capacity() * sizeof(Block));
}

std::uint32_t WaitCalendar::take_block(std::uint32_t next) {
  std::uint32_t block = free_;
  if (block == kNone) {
    block = static_cast<std::uint32_t>(blocks_.size());
    blocks_.emplace_back();
  } else {
    free_ = blocks_[block].next;
  }
  blocks_[block].next = next;
  return block;
}

void WaitCalendar::push(const Wait& wait) {
  if (wait.end > end_) return;
  const auto since_start = static_cast<std::uint64_t>((wait.end - start_).count());
  const std::size_t bucket = since_start >> shift_;
  if (bucket <= current_bucket_) {
    late_.push_back(wait);
    std::push_heap(late_.begin(), late_.end(), Later());
    return;
  }
  Bucket& list = buckets_[bucket];
  if (list.size == Block::kCapacity) list = {take_block(list.block), 0};
  const std::uint64_t since_bucket = since_start - (std::uint64_t{bucket} << shift_);
  blocks_[list.block].keys[list.size++] = since_bucket << kClientBits | wait.client;
  ++later_;
}

WaitCalendar::Wait WaitCalendar::pop() {
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

void WaitCalendar::open_next_bucket() {
  current_.clear();
  position_ = 0;
  auto [block, size] = std::exchange(buckets_[++current_bucket_], Bucket());
  for (; block != kNone; size = Block::kCapacity) {
    const Block& keys = blocks_[block];
    current_.insert(current_.end(), keys.keys, keys.keys + size);
    const std::uint32_t next = std::exchange(blocks_[block].next, free_);
    free_ = std::exchange(block, next);
  }
  current_start_ = start_ + Duration(static_cast<std::int64_t>(current_bucket_ << shift_));
  later_ -= current_.size();
}

void WaitCalendar::open_next_buckets() {
  current_.clear();
  position_ = 0;
  while (current_.empty() && later_ > 0) open_next_bucket();
  sort_current();
}

std::vector<WaitCalendar::Wait> WaitCalendar::take_all() {
  std::vector<Wait> all = std::exchange(late_, {});
  const std::uint64_t bucket = current_bucket_;
  while (true) {
    for (; position_ < current_.size(); ++position_) all.push_back(first_in_order());
    if (later_ == 0) break;
    open_next_bucket();
  }
  // Restore the current bucket, so that waits that end soon can be added again.
  current_bucket_ = bucket;
  return all;
}

void WaitCalendar::sort_current() {
  // Waits are spread evenly over a bucket. Slices of about four waits are almost in order. Sorting
  // them causes few branch mispredictions.
  constexpr std::size_t kFew = 64;
  if (current_.size() < kFew) return std::sort(current_.begin(), current_.end());
  const int slice_bits = static_cast<int>(std::bit_width(current_.size() / 4));
  const int slice_shift = std::max(kClientBits + shift_ - slice_bits, 0);
  slices_.assign((std::size_t{1} << slice_bits) + 1, 0);
  for (const Key key : current_) ++slices_[(key >> slice_shift) + 1];
  for (std::size_t i = 1; i < slices_.size(); ++i) slices_[i] += slices_[i - 1];

  unsorted_.swap(current_);
  current_.resize(unsorted_.size());
  for (const Key key : unsorted_) current_[slices_[key >> slice_shift]++] = key;
  // The position of each slice has moved to its end.
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < slices_.size(); ++i) {
    const std::size_t end = slices_[i];
    if (end - begin > 1) {
      std::sort(current_.begin() + static_cast<std::ptrdiff_t>(begin),
                current_.begin() + static_cast<std::ptrdiff_t>(end));
    }
    begin = end;
  }
}

}  // namespace retrystorm
