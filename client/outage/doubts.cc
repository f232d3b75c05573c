#include "client/outage/doubts.h"

#include <string_view>

namespace retrystorm {

Recovery with_doubts(Recovery recovery, const OutageDoubts& doubts) {
  using By = Disturbance::By;
  const bool certain = doubts.by == By::kClients || doubts.by == By::kService;
  const auto take_back = [&recovery](std::string_view cause) {
    recovery.verdict = Verdict::kUndecided;
    recovery.causes = {{cause, {}}};
    recovery.to_watch.reset();
  };
  const bool recovered = recovery.verdict == Verdict::kRecovered;
  if (doubts.begin_failed && (recovered || recovery.verdict == Verdict::kUndecided)) {
    take_back("begin-failed");
    recovery.outage_failed = true;
  } else if (recovered) {
    if (recovery.unfelt && !certain) {
      take_back(doubts.by == By::kSignals ? "unfelt-signals" : "unfelt-commands");
    } else if (doubts.end_failed) {
      recovery.causes.push_back({"end-failed", {}});
    }
  } else if (doubts.end_failed && recovery.verdict != Verdict::kNoOutage) {
    take_back("may-go-on-failed");
  } else if (recovery.verdict == Verdict::kCollapsed && doubts.by == By::kCommands) {
    recovery.causes.push_back({"may-go-on", {}});
  }
  return recovery;
}

}  // namespace retrystorm
