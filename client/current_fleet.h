// The clients of the current run, for readers on other threads.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "client/fleet.h"

namespace retrystorm {

// A run may end, and another one begin, while a reader uses the old one. Thread-safe.
class CurrentFleet {
 public:
  void set(std::shared_ptr<const Fleet> fleet) {
    const std::scoped_lock lock(mutex_);
    fleet_.swap(fleet);
  }

  // Null before the first run begins.
  std::shared_ptr<const Fleet> get() const {
    const std::scoped_lock lock(mutex_);
    return fleet_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Fleet> fleet_;
};

}  // namespace retrystorm
