// A file descriptor that its owner closes on destruction.
#pragma once

#include <functional>
#include <utility>

namespace retrystorm {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  // Of a connection, which `each_connection` knows until it is closed.
  static Descriptor of_connection(int number);
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_ = -1;
};

// Calls `use` with each connection of this process, which is not closed meanwhile. Leaves out from now on those for
// which it returns true. Needs neither memory nor descriptors. Safe from any thread.
void each_connection(const std::function<bool(int number)>& use);

}  // namespace retrystorm
