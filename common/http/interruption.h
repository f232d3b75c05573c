// Ends an attempt from another thread.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace retrystorm {

// Belongs to one attempt. All members are safe from any thread.
class Interruption {
 public:
  // The attempt ends soon, or if it has not begun, at once.
  void interrupt() {
    const std::scoped_lock lock(mutex_);
    interrupted_ = true;
    if (end_) end_();
  }
  bool interrupted() const {
    const std::scoped_lock lock(mutex_);
    return interrupted_;
  }

  // While it exists, `end` is called when the attempt is interrupted. `interruption` may be null.
  class Scope {
   public:
    Scope(Interruption* interruption, std::function<void()> end) : interruption_(interruption) {
      if (interruption_ == nullptr) return;
      const std::scoped_lock lock(interruption_->mutex_);
      if (interruption_->interrupted_) end();
      interruption_->end_ = std::move(end);
    }
    ~Scope() {
      if (interruption_ == nullptr) return;
      const std::scoped_lock lock(interruption_->mutex_);
      interruption_->end_ = nullptr;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Interruption* const interruption_;
  };

 private:
  mutable std::mutex mutex_;
  bool interrupted_ = false;
  std::function<void()> end_;
};

}  // namespace retrystorm
