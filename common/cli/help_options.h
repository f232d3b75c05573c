// Which options the help shows. All others stay valid on command lines and in files; --explain and the manual pages
// have them.
#pragma once

#include <array>
#include <string_view>

namespace retrystorm {

struct Asked {
  std::string_view group, name;
};

// The options of --help, in the order in which one asks, as far as a program has them.
inline constexpr std::array kAskedOptions{
    Asked{"Service", "workers"},      Asked{"Service", "service-time"},
    Asked{"Service", "queue-length"}, Asked{"Service", "backlog"},
    Asked{"Service", "replicas"},     Asked{"Load", "rate"},
    Asked{"Load", "clients"},         Asked{"Load", "think-time"},
    Asked{"Load", "timeout"},         Asked{"Load", "connections"},
    Asked{"Retries", "strategy"},     Asked{"Retries", "max-attempts"},
    Asked{"Retries", "backoff-base"}, Asked{"Retries", "backoff-cap"},
    Asked{"Retries", "jitter"},       Asked{"Retries", "retry-budget"},
    Asked{"Outage", "outage"},        Asked{"Outage", "outage-for"},
    Asked{"How often", "runs"},       Asked{"How often", "seed"},
    Asked{"How often", "sweep"},      Asked{"How often", "expect"},
    Asked{"Output", "verbose"},       Asked{"Output", "json"},
    Asked{"Output", "config"},
};

// What a program with the options of an experiment leaves out of --help but for these.
inline constexpr std::array<std::string_view, 5> kGroupsOfExperiment{"Clients", "Retries",
                                                                     "Service", "Run", "Outage"};

// What --help-all leaves out: second forms, and what presets and files need and hardly anybody types. With a "-" at the
// end: all names that begin so.
inline constexpr std::string_view kOfFiles =
    "exponential-backoff max-retries clients-per-process random fault capacity csv markdown "
    "time-limit splay capacity-within scale picker pick-per connection-age eject panic subset host-warm-up workers-start "
    "outage-of retry-at replicas- syn-linear-timeouts deadline-check backoff-step backoff-table "
    "backoff-from cap-applies grow-from jitter-first first-at-once pacer throttled-base "
    "retry-after-max hedge- initial-interval max-interval up-multiplier down-multiplier "
    "down-threshold randomization max-randomization budget- breaker- throttle- "
    "concurrency-limit- rate-decrease rate-scale rate-smoothing rate-min rate-burst client-rate "
    "retry-switch switch-after when-refused pool- streams retry-lost reconnect- rejection-cost "
    "server-idle reset-limit shed-status hint- error- autoscale- waiting deadline-propagation "
    "report-interval server-report-interval cell print-processes server-lines "
    "server-json trace call-";

}  // namespace retrystorm
