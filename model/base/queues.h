// Queues for very many items, first in, first out, or the earliest due first; and a hint to the machine about memory that
// is needed soon.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// Grows by doubling and never shrinks. An item that was taken out stays in its moved-from state.
template <typename Item>
class Fifo {
 public:
  bool empty() const { return first_ == end_; }
  std::size_t size() const { return end_ - first_; }

  void push(Item item) {
    if (size() == items_.size()) grow();
    slot(end_++) = std::move(item);
  }

  const Item& front() const { return peek(0); }
  void pop() { ++first_; }

  // Removes the front item and returns it.
  Item take() { return std::move(slot(first_++)); }

  const Item& back() const { return items_[(end_ - 1) & (items_.size() - 1)]; }
  void pop_back() { --end_; }
  Item take_back() { return std::move(slot(--end_)); }

  // Removes all items for which `gone` is true. The others keep their order.
  template <typename Gone>
  void erase_if(const Gone& gone) {
    for (std::size_t left = size(); left > 0; --left) {
      Item item = take();
      if (!gone(item)) push(std::move(item));
    }
  }

  // How many items `is_so` is true for.
  template <typename Predicate>
  std::size_t count_if(const Predicate& is_so) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i) count += is_so(peek(i)) ? 1 : 0;
    return count;
  }

  // The item that will be at the front after `ahead` pops. There must be such an item.
  Item& at(std::size_t ahead) { return slot(first_ + ahead); }

  // The same, read-only. If there is no such item, returns some earlier one.
  const Item& peek(std::size_t ahead) const {
    return items_[(first_ + ahead) & (items_.size() - 1)];
  }

 private:
  Item& slot(std::uint64_t position) { return items_[position & (items_.size() - 1)]; }

  void grow() {
    std::vector<Item> old(items_.empty() ? 4 : items_.size() * 2);
    items_.swap(old);
    for (std::uint64_t i = first_; i != end_; ++i) slot(i) = std::move(old[i & (old.size() - 1)]);
  }

  std::vector<Item> items_;  // their number is a power of two
  std::uint64_t first_ = 0;  // positions only increase; they wrap around in `items_`
  std::uint64_t end_ = 0;
};

// How many clients or requests ahead memory is prefetched. With a million clients, a client is seldom in the
// cache.
inline constexpr std::size_t kPrefetch = 16;

// Prefetches `item`, which will be written soon.
template <typename Item>
void prefetch(const Item& item) {
#if defined(__GNUC__)
  __builtin_prefetch(&item, 1);
  // Without this, GCC 12 takes a function that only prefetches for one that does nothing, and leaves out its calls.
  asm volatile("");
#endif
}

// Which of a fixed number of items has the least key; of equal ones the first. A change costs O(log n), a look nothing.
template <typename Key>
class Tournament {
 public:
  // All begin with this key. At least one item.
  Tournament(std::size_t items, const Key& key)
      : keys_(items, key), leaves_(std::bit_ceil(items)), winners_(2 * leaves_) {
    for (std::size_t i = 0; i < leaves_; ++i) {
      winners_[leaves_ + i] = static_cast<std::uint32_t>(std::min(i, items - 1));
    }
    for (std::size_t at = leaves_; --at > 0;) winners_[at] = better(2 * at);
  }

  std::uint32_t first() const { return winners_[1]; }
  const Key& least() const { return keys_[first()]; }

  // Does nothing if it has this key already.
  void update(std::size_t item, const Key& key) {
    if (keys_[item] != key) set(item, key);
  }

  void set(std::size_t item, const Key& key) {
    keys_[item] = key;
    for (std::size_t at = (leaves_ + item) / 2; at > 0; at /= 2) {
      const std::uint32_t winner = better(2 * at);
      if (winner == winners_[at] && winner != item) return;  // nor does it win further up
      winners_[at] = winner;
    }
  }

 private:
  std::uint32_t better(std::size_t left) const {
    const std::uint32_t a = winners_[left], b = winners_[left + 1];
    return keys_[b] < keys_[a] ? b : a;
  }

  std::vector<Key> keys_;
  std::size_t leaves_;
  std::vector<std::uint32_t> winners_;  // of each pair of a tree; the first one's is at 1
};

// Items due at the same time come out in the order in which they were added. Adding in order of due
// time (for example, when every item takes equally long) costs no more than in a queue. `Item`
// should be small; it is copied.
template <typename Item>
class Agenda {
 public:
  struct Entry {
    TimePoint due;
    std::uint32_t number;  // counts the additions; wraps around
    Item item;
  };

  bool empty() const { return in_order_.empty() && others_.empty(); }
  std::size_t size() const { return in_order_.size() + others_.size(); }

  void add(TimePoint due, const Item& item) {
    const Entry entry{due, next_number_++, item};
    if (in_order_.empty() || due >= last_in_order_) {
      in_order_.push(entry);
      last_in_order_ = due;
    } else {
      others_.push_back(entry);
      put(others_.size() - 1, entry);
    }
  }

  // The agenda must not be empty.
  const Entry& first() const {
    if (others_.empty()) return in_order_.front();
    if (in_order_.empty() || later(in_order_.front(), others_.front())) return others_.front();
    return in_order_.front();
  }

  // For prefetching: an item that comes some `ahead` places after the first, or some other one, which may have been
  // removed. The agenda must not be empty.
  const Item& soon(std::size_t ahead) const {
    if (!in_order_.empty()) {
      prefetch(in_order_.peek(2 * ahead));
      return in_order_.peek(ahead).item;
    }
    return others_[std::min(ahead, others_.size() - 1)].item;
  }

  // Removes the first item. The agenda must not be empty.
  void pop() {
    if (&first() != others_.data()) return in_order_.pop();
    const Entry last = others_.back();
    others_.pop_back();
    if (others_.empty()) return;
    // The earlier entries move up, and the last one fills the free place at the bottom.
    std::size_t free = 0;
    while (true) {
      const std::size_t child = kChildren * free + 1;
      if (child >= others_.size()) break;
      const std::size_t end = std::min(child + kChildren, others_.size());
      std::size_t earliest = child;
      for (std::size_t i = child + 1; i < end; ++i) {
        if (later(others_[earliest], others_[i])) earliest = i;
      }
      others_[free] = others_[earliest];
      free = earliest;
    }
    put(free, last);
  }

  // Removes all items for which `gone` is true.
  template <typename Gone>
  void erase_if(const Gone& gone) {
    const auto gone_entry = [&gone](const Entry& entry) { return gone(entry.item); };
    in_order_.erase_if(gone_entry);
    std::erase_if(others_, gone_entry);
    // A sorted array is a heap.
    std::sort(others_.begin(), others_.end(),
              [](const Entry& a, const Entry& b) { return later(b, a); });
  }

 private:
  // A flat heap touches less memory than a binary heap.
  static constexpr std::size_t kChildren = 4;

  static bool later(const Entry& a, const Entry& b) {
    return a.due != b.due ? a.due > b.due : static_cast<std::int32_t>(a.number - b.number) > 0;
  }

  // Puts the entry at this free place or above it.
  void put(std::size_t free, const Entry& entry) {
    while (free > 0) {
      const std::size_t parent = (free - 1) / kChildren;
      if (!later(others_[parent], entry)) break;
      others_[free] = others_[parent];
      free = parent;
    }
    others_[free] = entry;
  }

  Fifo<Entry> in_order_;
  TimePoint last_in_order_{};
  std::vector<Entry> others_;  // a heap
  std::uint32_t next_number_ = 0;
};

}  // namespace retrystorm
