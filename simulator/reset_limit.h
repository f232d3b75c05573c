// How many resets of HTTP/2 streams a server takes before it closes the connection.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// A token bucket for each process of clients, as nghttp2 has one for each connection (CVE-2023-44487). Times
// passed in never decrease.
class ResetLimit {
 public:
  // `most`: resets at once. `rate`: further ones a second.
  ResetLimit(std::size_t most, double rate) : most_(static_cast<double>(most)), rate_(rate) {}

  // Takes up to `count` resets of a process. Returns how many; if that is less, its connections are closed, and new
  // ones begin with a full bucket.
  std::size_t take(TimePoint now, std::uint32_t process, std::size_t count) {
    if (process >= buckets_.size()) buckets_.resize(process + 1, {most_, now});
    Bucket& bucket = buckets_[process];
    bucket.left = std::min(most_, bucket.left + rate_ * to_seconds(now - bucket.since));
    bucket.since = now;
    const auto taken = std::min(count, static_cast<std::size_t>(bucket.left));
    bucket.left = taken < count ? most_ : bucket.left - static_cast<double>(taken);
    return taken;
  }

 private:
  struct Bucket {
    double left;
    TimePoint since;
  };

  double most_, rate_;
  std::vector<Bucket> buckets_;  // by process
};

}  // namespace retrystorm
