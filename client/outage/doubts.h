// Whether the outage of a run was one: a verdict is about an outage that began, was felt, and ended.
#pragma once

#include "model/run/disturbance.h"
#include "model/run/recovery.h"

namespace retrystorm {

// What the client knows of the outage that it made.
struct OutageDoubts {
  // Signals may stop another process than the one that answers, and commands may do anything. What
  // the clients and the service do happens.
  Disturbance::By by = Disturbance::By::kClients;
  bool begin_failed = false;
  bool end_failed = false;  // of a command that is over, or should be
};

// Takes back a verdict for which there was no outage, or for which it may go on.
Recovery with_doubts(Recovery recovery, const OutageDoubts& doubts);

}  // namespace retrystorm
