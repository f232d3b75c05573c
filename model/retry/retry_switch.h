// The switch of RetryGuard: no retries of a process while too many of its attempts fail.
#pragma once

#include <cstdint>
#include <limits>

#include "model/base/duration.h"
#include "model/base/option_list.h"

namespace retrystorm {

struct RetrySwitchSettings {
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  double share = kNone;  // of failed attempts: retries are off while more fail
  Duration after = std::chrono::seconds(30);

  bool on() const { return share != kNone; }
};

void declare_options(OptionList& options, RetrySwitchSettings& settings);

// Adds the options that were given but have no effect.
void find_unused(UnusedOptions& unused, const RetrySwitchSettings& settings);

// Retries are off once more than this share of the attempts has failed in each second for `after`, and on again
// once that was so in no second for as long. A second in which no attempt ended changes nothing.
// Source: RetryGuard (arXiv 2511.23278), algorithm 1. Simpler here: each process decides by what it
// sees itself, any failure counts, and retries are on at first. Not thread-safe.
class RetrySwitch {
 public:
  RetrySwitch(const RetrySwitchSettings& settings, TimePoint now)
      : settings_(settings), since_(now), second_ends_(now + kSecond) {}

  void attempt_ended(TimePoint now, bool failed);
  // May another attempt of a request be sent, a retry or a hedge?
  bool lets_retry(TimePoint now);

 private:
  static constexpr Duration kSecond = std::chrono::seconds(1);

  void advance(TimePoint now);

  RetrySwitchSettings settings_;
  bool off_ = false;
  bool high_ = false;  // did too many fail in the last second that counts?
  TimePoint since_;    // when the first of the seconds began that were all as that one
  TimePoint second_ends_;
  std::uint64_t ended_ = 0, failed_ = 0;  // in this second
};

}  // namespace retrystorm
