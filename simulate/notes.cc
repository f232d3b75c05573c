#include "simulate/notes.h"

#include "model/base/text.h"
#include "model/run/disturbance.h"
#include "model/run/outlook.h"
#include "simulate/next_to_try.h"

namespace retrystorm {

void RunNotes::on_outage(Duration t, OutageEvent event, const std::string&) {
  const bool begins = event == OutageEvent::kBegin;
  const Disturbance& outage = options_.timeline.outage;
  if (loses_connections(outage)) {
    if (begins) note_(clock_text(t) + ' ' + std::string(kConnectionsLost));
    return;
  }
  const std::string words = in_words(outage);
  const std::string name = begins                                      ? words
                           : outage.kind == Disturbance::Kind::kFreeze ? "awake"
                                                                       : "over: " + words;
  note_(clock_text(t) + ' ' + name +
        (begins ? " for " + brief_duration(options_.outage_length()) : ""));
}

void RunNotes::on_action(Duration t, const std::string& what) {
  note_(clock_text(t) + ' ' + what);
}

void RunNotes::on_summary(const Summary& summary) {
  const Recovery& recovery = summary.recovery;
  const bool judged =
      recovery.verdict != Verdict::kNoOutage && recovery.verdict != Verdict::kUndecided;
  if (judged) {
    note_("1 run:     " + std::string(to_string(recovery.verdict)) +
          "; --runs=100 tells how often it ends like this");
  }
  if (judged) {
    note_("words:     --explain " + std::string(to_string(recovery.verdict)) +
          ", or any other word here, says what it means");
  }
  if (recovery.to_watch) return;  // the reason says it
  std::string text;
  for (const Suggestion& each : next_to_try(options_, seen_in(summary))) {
    text += (text.empty() ? "" : ", or ") + each.text;
  }
  const bool down =
      recovery.verdict == Verdict::kCollapsed || recovery.verdict == Verdict::kRelapsed;
  if (down && !loses_connections(options_.timeline.outage)) {
    text += text.empty() ? "" : "; ";
    text += "retrystorm remedies says what ends it";
  }
  if (text.empty()) return;
  std::string lines = wrapped("try:       ", text, 11);
  lines.pop_back();  // a note ends with a line break
  note_(lines);
}

}  // namespace retrystorm
