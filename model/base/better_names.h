// Options that have a better name than the one that machine output has: people read the better one, both are taken.
#pragma once

#include <array>
#include <string_view>

namespace retrystorm {

struct BetterName {
  std::string_view old;     // the first name: the key in JSON
  std::string_view better;  // in help
  std::string_view
      group{};  // the group of options that this holds for, or how it begins; empty: all
};

// Each option of this name that an `OptionList` declares gets the better one, too: on command lines, in files of
// settings, in sweeps and links.
inline constexpr std::array kBetterNames{
    BetterName{"lambda", "think-time"},
    BetterName{"growth", "backoff"},
    BetterName{"limit", "curve-limit"},
    BetterName{"factor", "curve-factor"},
    BetterName{"limit-min", "concurrency-limit-min"},
    BetterName{"limit-max", "concurrency-limit-max"},
    BetterName{"limit-slow", "concurrency-limit-slow"},
    BetterName{"limit-decrease", "concurrency-limit-decrease"},
    BetterName{"calls", "calls-per-task",
               "Job"},  // those of a server are the services that it calls
    BetterName{"capacity", "can-do", "What is known"},
};

}  // namespace retrystorm
