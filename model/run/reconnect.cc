#include "model/run/reconnect.h"

#include <array>

namespace retrystorm {
namespace {

// The options of a backoff, as those of reconnects.
constexpr std::array<RenamedOption, 7> kWaits{{
    {"growth", "reconnect-growth",
     "how the waits grow of a client that lost its connection (--outage=reconnect) and cannot "
     "connect"},
    {"backoff-base", "reconnect-base",
     "how long a client waits before it tries to connect for the first time; with full jitter the "
     "window over which clients come back"},
    {"backoff-factor", "reconnect-factor",
     "exponential: the factor by which each failure to connect lengthens the wait"},
    {"backoff-step", "reconnect-step", "linear: how much longer each failure makes the wait"},
    {"backoff-table", "reconnect-table",
     "table: the factors for the first, second, ... wait; the last one repeats"},
    {"backoff-cap", "reconnect-cap", "how long a wait to connect may be"},
    {"jitter", "reconnect-jitter", "the randomness of each wait to connect, as --jitter"},
}};

}  // namespace

void declare_options(OptionList& options, ReconnectSettings& settings) {
  options.group("Reconnects: how clients come back");
  OptionList waits;
  declare_options(waits, settings.backoff);
  options.add_renamed(waits, kWaits);
  options
      .count("reconnect-calls", settings.calls,
             "what it costs the service that a client connects: so many requests, one after the "
             "other",
             1, 1000)
      .with_unit("requests");
}

void find_unused(UnusedOptions& unused, const ReconnectSettings& settings) {
  UnusedOptions waits;
  find_unused(waits, settings.backoff, ReconnectSettings().backoff);
  unused.merge(renamed(waits, kWaits));
}

}  // namespace retrystorm
