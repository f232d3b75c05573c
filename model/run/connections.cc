#include "model/run/connections.h"

#include <array>
#include <vector>

namespace retrystorm {

void declare_options(OptionList& options, ConnectionSettings& settings,
                     std::function<void()> take_library) {
  options.group("Connections");
  Option& kind = options.choice<Connections>("connections", settings.kind,
                                             {{"new", Connections::kNew},
                                              {"keep-alive", Connections::kKeepAlive},
                                              {"multiplexed", Connections::kMultiplexed}},
                                             "how attempts connect");
  kind.basic = "Clients";
  if (take_library) {
    kind.choices.push_back(kLibraryWay);
    kind.set = [others = kind.set, choices = kind.choices,
                take_library = std::move(take_library)](std::string_view text) {
      if (text == kLibraryWay) return take_library();
      if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
        refuse(unknown_name(text, choices));
      }
      others(text);
    };
  }
  options
      .count_or_none(
          "pool-size", settings.pool_size,
          "kept: how many connections a process may have, idle or in use; none = no limit, if "
          "multiplexed 1",
          1, 1'000'000'000, "connections")
      .with_range("1", "1000");
  options
      .count_or_none(
          "pool-max-idle", settings.pool_max_idle,
          "keep-alive: how many connections of a process may be idle; the next one is closed "
          "after its answer; none = no limit",
          1, 1'000'000'000, "connections")
      .with_range("1", "1000");
  options
      .duration_or_none("pool-idle", settings.pool_idle,
                        "keep-alive: how long a connection may be idle before it is closed; none = "
                        "for ever",
                        std::chrono::milliseconds(1))
      .with_range("100ms", "5m");
  options.choice<PoolOrder>(
      "pool-order", settings.pool_order, {{"lifo", PoolOrder::kLifo}, {"fifo", PoolOrder::kFifo}},
      "keep-alive: which idle connection is taken, the one used last or the one idle for longest");
  options
      .duration_or_none("pool-wait", settings.pool_wait,
                        "kept: how long an attempt may wait in line for a connection of a full "
                        "pool; then it fails; none = until it times out")
      .with_range("10ms", "30s");
  options.yes_or_no("pool-wait-counts", settings.pool_wait_counts,
                    "kept: whether --timeout includes the wait in line for a connection");
  options
      .count("streams", settings.streams,
             "multiplexed: how many attempts a connection takes at a time (HTTP/2: nginx announces "
             "128, Go 250)",
             1, 10'000, "attempts")
      .with_range("1", "1000");
  options.yes_or_no(
      "retry-lost", settings.retry_lost,
      "kept: whether a process sends an attempt again at once, without asking the retry "
      "policy, when the server closes its kept connection before it answers");
  options.no_effect("pool-wait pool-wait-counts", [&settings] {
    const bool bounded =
        settings.multiplexed() || settings.pool_size != ConnectionSettings::kUnbounded;
    return bounded ? "" : "without --pool-size";
  });
  options.no_effect("pool-max-idle", [&settings] {
    const bool all = settings.pool_size != ConnectionSettings::kUnbounded &&
                     settings.pool_max_idle >= settings.pool_size;
    return all ? "with a --pool-size that is no greater" : "";
  });
  options.needs_after("connections", "connections=keep-alive|multiplexed");
  options.needs("pool-max-idle pool-idle pool-order", "connections=keep-alive");
  options.needs("streams", "connections=multiplexed");
}

void check(const ConnectionSettings& settings, Duration timeout) {
  if (!settings.kept() || !settings.pool_wait_counts) return;
  if (settings.pool_wait == Duration::max() || settings.pool_wait <= timeout) return;
  refuse("--pool-wait " + format_duration(settings.pool_wait) + " is longer than --timeout " +
         format_duration(timeout) + ", which includes it (--pool-wait-counts)");
}

namespace {

// The options of a backoff, as those of reconnects.
constexpr std::array<RenamedOption, 7> kReconnectWaits{{
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
  options.add_renamed(waits, kReconnectWaits);
  options.count("reconnect-calls", settings.calls,
                "what it costs the service that a client connects: so many requests, one after the "
                "other",
                1, 1000, "requests");
}

}  // namespace retrystorm
