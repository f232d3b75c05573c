// What is due when: the earliest first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/duration.h"
#include "model/base/fifo.h"

namespace retrystorm {

// What is due at the same moment comes in the order in which it was added. What is added in the
// order of its times, as things that all take equally long are, costs no more than in a queue.
// `Item` is small and is copied.
template <typename Item>
class Agenda {
 public:
  struct Entry {
    TimePoint due;
    std::uint32_t number;  // counts on, and wraps around
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

  // There must be one.
  const Entry& first() const {
    if (others_.empty()) return in_order_.front();
    if (in_order_.empty() || later(in_order_.front(), others_.front())) return others_.front();
    return in_order_.front();
  }

  // Takes the first out.
  void pop() {
    if (&first() != others_.data()) return in_order_.pop();
    const Entry last = others_.back();
    others_.pop_back();
    if (others_.empty()) return;
    // The earlier ones move up, and the last takes the place that is left at the bottom.
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

  // Forgets all for which `gone` is true.
  template <typename Gone>
  void erase_if(const Gone& gone) {
    const auto gone_entry = [&gone](const Entry& entry) { return gone(entry.item); };
    in_order_.erase_if(gone_entry);
    std::erase_if(others_, gone_entry);
    // What is sorted is a heap.
    std::sort(others_.begin(), others_.end(),
              [](const Entry& a, const Entry& b) { return later(b, a); });
  }

 private:
  // A flat heap touches less memory than a binary one.
  static constexpr std::size_t kChildren = 4;

  static bool later(const Entry& a, const Entry& b) {
    return a.due != b.due ? a.due > b.due : static_cast<std::int32_t>(a.number - b.number) > 0;
  }

  // Into a place that is free, or above it.
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
