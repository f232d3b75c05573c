// Says that nobody waits for the result of a call any more.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace retrystorm {

// Of one call, or of several that belong together. With those of `outer`, if there are any, these are let go, too.
// All members are safe from any thread.
class LetGo {
 public:
  explicit LetGo(std::shared_ptr<const LetGo> outer = nullptr) : outer_(std::move(outer)) {}

  void set() { set_ = true; }
  bool is_set() const { return set_ || (outer_ != nullptr && outer_->is_set()); }

 private:
  const std::shared_ptr<const LetGo> outer_;
  std::atomic<bool> set_{false};
};

}  // namespace retrystorm
