// A first-in, first-out queue in one block of memory that is reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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
    std::vector<Item> old(items_.empty() ? 16 : items_.size() * 2);
    items_.swap(old);
    for (std::uint64_t i = first_; i != end_; ++i) slot(i) = std::move(old[i & (old.size() - 1)]);
  }

  std::vector<Item> items_;  // their number is a power of two
  std::uint64_t first_ = 0;  // positions only increase; they wrap around in `items_`
  std::uint64_t end_ = 0;
};

}  // namespace retrystorm
