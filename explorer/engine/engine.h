// The explorer's engine: answers questions in JSON with simulations.
#pragma once

#include <string>
#include <string_view>

namespace retrystorm {

// Answers {"ask": WHAT, ...}, or returns {"error": SENTENCE}. Throws nothing. `given`: options by
// name (see describe.h), of a service "api.workers" (see services.h). `seed` and `seeds`: whole numbers, or their texts.
//
//   catalogue                      the options and the named strategies (see describe.h)
//   describe   given seed          what is known without a run (see describe.h)
//   run        given seed          one run: {"client": [...], "server": [...]}, the objects of its
//                                  JSON Lines, an interval a second (longer for a long run),
//                                  and {"events", "peak_concurrency", "interval_s", "result"}, and
//                                  {"outlook": {"line": text, "lines": [[label, figure], ...], "figures": {...}}}:
//                                  the outlook, computed before the run, and {"places": {"t": [...],
//                                  "services": [{name: [...]}, ...]}}: where the attempts of each service's
//                                  callers lie at these times (see simulator/server_node.h), also while
//                                  it is frozen. {"graph"}: services behind services, their windows and
//                                  which of them died; null if there is one. {"hosts": {"all": N, "each": N, "t": [...],
//                                  "boxes": [[[state, out, busy, workers, inside, attempts, failed], ...], ...]}}:
//                                  at the end of each interval, of so many hosts beside each other, so that the boxes
//                                  are not too many, the worst one's state (see model/run/host_report.h), the share
//                                  of their pickers that have ejected them, and sums; null if there is one host
//   lines      given seed          the same as the text that `simulate` writes to --json (without
//                                  the first line) and to --server-json:
//                                  {"client": "...", "server": "..."}
//   batch      given seeds interval_s
//                                  many runs: {"results": [...]}, one for each seed; with
//                                  `interval_s` also {"t": [...], "series": {name: [[...], ...]}}
//   summarize  results against     a summary of results: {"cell": {...}} as a row of a sweep;
//                                  with `against` (results of the same seeds, in the same order)
//                                  {"difference": {name: {value, low, high}}}: results - against
//   trials     given seed results runs
//                                  what the answer of these results may hang on, with so many runs of each trial (see
//                                  study/trials.h): {"any": is there anything to try?, "hangs": has a trial another
//                                  answer?, "lines": [text, ...], as `simulate` prints them}
//   share      hits runs           the 95 % interval of a share: {"low", "high"}
//   waits      given seed clients attempts
//                                  the waits of clients whose attempts all fail, in seconds:
//                                  {"clients": [{"waits": [...], "gave_up": false}, ...]}
//
// Gives up a question that takes longer than `patience_s` (10 s).
std::string answer(std::string_view question);

}  // namespace retrystorm
