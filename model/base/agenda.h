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
      std::push_heap(others_.begin(), others_.end(), later);
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
    std::pop_heap(others_.begin(), others_.end(), later);
    others_.pop_back();
  }

  // Forgets all for which `gone` is true.
  template <typename Gone>
  void erase_if(const Gone& gone) {
    const auto gone_entry = [&gone](const Entry& entry) { return gone(entry.item); };
    in_order_.erase_if(gone_entry);
    std::erase_if(others_, gone_entry);
    std::make_heap(others_.begin(), others_.end(), later);
  }

 private:
  static bool later(const Entry& a, const Entry& b) {
    return a.due != b.due ? a.due > b.due : static_cast<std::int32_t>(a.number - b.number) > 0;
  }

  Fifo<Entry> in_order_;
  TimePoint last_in_order_{};
  std::vector<Entry> others_;  // a heap
  std::uint32_t next_number_ = 0;
};

}  // namespace retrystorm
