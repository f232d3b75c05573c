#include "model/retry/hedge.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace retrystorm {
namespace {

// "none", a duration, or "p95".
void parse_delay(std::string_view text, HedgeSettings& settings) {
  Duration delay = Duration::max();
  double percentile = 0;
  if (text.size() > 1 && text.front() == 'p' && text[1] != ' ') {
    const char* const wrong = " is no percentile between p0 and p100, such as p95";
    try {
      percentile = parse_number(text.substr(1), 0, 100);
    } catch (const std::invalid_argument&) {
      refuse(in_quotes(text) + wrong);
    }
    if (percentile <= 0 || percentile >= 100) refuse(in_quotes(text) + wrong);
  } else if (!is_none(text)) {
    delay = parse_duration(text, Duration::zero());
  }
  settings.delay = delay;
  settings.percentile = percentile;
}

std::string print_delay(const HedgeSettings& settings) {
  if (settings.percentile > 0) return 'p' + print_number(settings.percentile);
  return settings.delay == Duration::max() ? std::string(kNoneWord)
                                           : format_duration(settings.delay);
}

}  // namespace

void declare_options(OptionList& options, HedgeSettings& settings) {
  options.group("Hedging: another attempt while the first is still under way");
  options
      .text(
          "hedge",
          "how long after an attempt another one of the same request is sent if none has ended, the first "
          "good answer counts: a duration, or a percentile of the latencies that the process has seen (p95); "
          "none = no hedges",
          [&settings](std::string_view text) { parse_delay(text, settings); },
          [&settings] { return print_delay(settings); })
      .with_examples({"none", "50ms", "500ms", "p90", "p95", "p99"});
  options
      .count("hedge-max", settings.most,
             "how many hedges a request may have, beside its first attempt", 1, 1000, "hedges")
      .with_range("1", "20");
  options.yes_or_no("hedge-cancel", settings.cancel,
                    "whether the other attempts of a request are cancelled when one has won");
  options.number_or_none(
      "hedge-budget", settings.budget,
      "how many hedges a process may send, as a share of its requests of the last 10 s, beside "
      "10 a second; none = no limit",
      0, 1);
  options.choice<HedgeOn>(
      "hedge-on", settings.on, {{"delay", HedgeOn::kDelay}, {"timeout", HedgeOn::kTimeout}},
      "whether a hedge is sent after the delay, or when an attempt times out, which is then not cancelled: the "
      "retry goes beside it (Envoy's hedge_on_per_try_timeout)");
  options.needs("hedge hedge-max hedge-budget", "hedge-on!=timeout");
  options.no_effect("hedge-max hedge-cancel hedge-budget", [&settings] {
    return settings.on == HedgeOn::kTimeout || settings.any() ? "" : "without --hedge";
  });
}

HedgeProcess::HedgeProcess(const HedgeSettings& settings, TimePoint now)
    : settings_(settings),
      slice_ends_(now + kSlice),
      refresh_at_(now + kRefresh),
      balance_(now, HedgeSettings::kBudgetSpan, kBudgetSlices) {}

void HedgeProcess::request_begins(TimePoint now) {
  if (settings_.budget != HedgeSettings::kNoBudget) balance_.add(now, settings_.budget);
}

bool HedgeProcess::withdraw(TimePoint now) {
  if (settings_.budget == HedgeSettings::kNoBudget) return true;
  constexpr double kRounding = 1e-6;  // ten tenths may add up to slightly less than one
  const double reserve = HedgeSettings::kFree * to_seconds(HedgeSettings::kBudgetSpan);
  if (settings_.budget == 0 || reserve + balance_.total(now) < 1 - kRounding) return false;
  balance_.add(now, -1);
  return true;
}

void HedgeProcess::add_latency(TimePoint now, Duration latency) {
  if (settings_.percentile == 0) return;
  for (std::size_t i = 0; i < kSlices && now >= slice_ends_; ++i) {
    newest_ = (newest_ + 1) % kSlices;
    history_[newest_] = {};
    slice_ends_ = saturating_add(slice_ends_, kSlice);
  }
  if (now >= slice_ends_) slice_ends_ = saturating_add(now, kSlice);
  history_[newest_].add(latency);
}

Duration HedgeProcess::delay(TimePoint now) {
  if (settings_.percentile == 0) return settings_.delay;
  if (now < refresh_at_) return delay_;
  while (refresh_at_ <= now) refresh_at_ = saturating_add(refresh_at_, kRefresh);
  LatencyHistogram all;
  for (const LatencyHistogram& each : history_) all.add(each);
  const auto found = all.quantile(settings_.percentile / 100);
  // The upper end of the quantile's bin: if most latencies are equal, those have no hedge.
  constexpr double kBin = 1.004;
  if (found) delay_ = std::max(scale(*found, kBin), kLeast);
  return delay_;
}

}  // namespace retrystorm
