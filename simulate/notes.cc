#include "simulate/notes.h"

#include "model/base/text.h"
#include "model/run/disturbance.h"
#include "model/run/outlook.h"
#include "words/words.h"

namespace retrystorm {

void RunNotes::on_outage(Duration t, OutageEvent event, const std::string&) {
  const bool begins = event == OutageEvent::kBegin;
  const Disturbance& outage = options_.timeline.outage;
  if (loses_connections(outage)) {
    if (begins) note_(clock_text(t) + ' ' + std::string(kConnectionsLost));
    return;
  }
  const std::string words = words_of(statement_of(outage));
  const std::string name = begins                                      ? words
                           : outage.kind == Disturbance::Kind::kFreeze ? "awake"
                                                                       : "over: " + words;
  note_(clock_text(t) + ' ' + name +
        (begins ? " for " + brief_duration(options_.outage_length()) : ""));
}

void RunNotes::on_action(Duration t, const std::string& what) {
  note_(clock_text(t) + ' ' + what);
}

}  // namespace retrystorm
