// The explorer's engine: the simulation behind questions and answers in JSON.
#pragma once

#include <string>
#include <string_view>

namespace retrystorm {

// Answers {"ask": WHAT, ...}; what it cannot answer with {"error": SENTENCE}. Throws nothing.
// `given` are options by name (see given.h), `seed` and `seeds` numbers.
//
//   catalogue                      the options and the named strategies (see knobs.h)
//   look       given seed          what is known without a run (see given.h)
//   run        given seed          one run: {"client": [...], "server": [...]}, the objects of its
//                                  JSON Lines, an interval a second (longer where the run is long),
//                                  and {"events", "peak_concurrency", "interval_s", "result"}
//   lines      given seed          the same as the text that `simulate` writes to --json (but for
//                                  its first line) and to --server-json:
//                                  {"client": "...", "server": "..."}
//   batch      given seeds interval_s
//                                  many runs: {"results": [...]}, one for each seed; with
//                                  `interval_s` also {"t": [...], "series": {name: [[...], ...]}}
//   summarize  results against     what results say together: {"cell": {...}} as a row of a sweep;
//                                  with `against` (results of the same seeds, in the same order)
//                                  {"difference": {name: {value, low, high}}}, these from those
//   share      hits runs           the 95 % interval of a share: {"low", "high"}
//   waits      given seed clients attempts
//                                  the waits of clients whose attempts all fail, in seconds:
//                                  {"clients": [{"waits": [...], "gave_up": false}, ...]}
//
// A question that would take over `patience_s` (10 s) is given up.
std::string answer(std::string_view question);

}  // namespace retrystorm
