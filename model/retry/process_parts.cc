#include "model/retry/process_parts.h"

namespace retrystorm {

void declare_options(OptionList& options, RetrySwitchSettings& settings) {
  options.group("Retry switch of a process: no retries while too much fails");
  options.number_or_none("retry-switch", settings.share,
                         "no retries while more than this share of the attempts fails", 0, 1);
  options.duration("switch-after", settings.after,
                   "how long more must fail before retries are off, and less before they are on",
                   std::chrono::seconds(1));
  options.needs("switch-after", "retry-switch");
}

void RetrySwitch::attempt_ended(TimePoint now, bool failed) {
  advance(now);
  ++ended_;
  failed_ += failed ? 1 : 0;
}

bool RetrySwitch::lets_retry(TimePoint now) {
  advance(now);
  return !off_;
}

void RetrySwitch::advance(TimePoint now) {
  if (now < second_ends_) return;
  if (ended_ > 0) {
    const bool high = static_cast<double>(failed_) > settings_.share * static_cast<double>(ended_);
    if (high != high_) since_ = second_ends_ - kSecond;
    high_ = high;
    if (second_ends_ - since_ >= settings_.after) off_ = high;
    ended_ = failed_ = 0;
  }
  second_ends_ += kSecond * ((now - second_ends_) / kSecond + 1);
}

}  // namespace retrystorm
