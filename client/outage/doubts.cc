#include "client/outage/doubts.h"

#include <string>

namespace retrystorm {

Recovery with_doubts(Recovery recovery, const OutageDoubts& doubts) {
  using By = Disturbance::By;
  const bool certain = doubts.by == By::kClients || doubts.by == By::kService;
  const auto take_back = [&recovery](const std::string& reason) {
    recovery.verdict = Verdict::kUndecided;
    recovery.reason = reason;
    recovery.to_watch.reset();
  };
  const bool recovered = recovery.verdict == Verdict::kRecovered;
  if (doubts.begin_failed && (recovered || recovery.verdict == Verdict::kUndecided)) {
    take_back("the outage did not happen: --outage-begin failed");
    recovery.outage_failed = true;
  } else if (recovered) {
    if (recovery.unfelt && !certain) {
      take_back("the outage was not felt, the service answered all through it as before: " +
                std::string(doubts.by == By::kSignals ? "is --server-pid the process that answers?"
                                                      : "did --outage-begin reach what answers?"));
    } else if (doubts.end_failed) {
      recovery.reason += "; --outage-end failed";
    }
  } else if (doubts.end_failed && recovery.verdict != Verdict::kNoOutage) {
    take_back("the outage may go on: --outage-end failed");
  } else if (recovery.verdict == Verdict::kCollapsed && doubts.by == By::kCommands) {
    recovery.reason += "; or the outage goes on: did --outage-end reach what answers?";
  }
  return recovery;
}

}  // namespace retrystorm
