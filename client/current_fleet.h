// The clients of the run at hand, for whoever looks at them from another thread.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "client/fleet.h"

namespace retrystorm {

// A run may end and another begin while somebody looks. All members are safe from any thread.
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
