#include "model/service/service_options.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace retrystorm {

namespace {

// How many resets a server takes on a connection at once, and further ones a second. Sources, read 2026-11:
// - nghttp2.h, nghttp2_option_set_stream_reset_rate_limit: a token bucket. Node's http2 has the same values.
// - nginx, ngx_http_v2.c: twice http2_max_concurrent_streams (128) new streams in one turn of its loop. So the rate
//   is beyond what clients send.
// - Netty, AbstractHttp2ConnectionHandlerBuilder: 200 in a window of 30 s.
// - Varnish, params.h: h2_rapid_reset_limit in h2_rapid_reset_period (60 s), of streams reset within 1 s.
struct ResetRule {
  std::string_view name;
  std::size_t most;
  double rate;
};
constexpr std::array<ResetRule, 4> kResetRules{
    {{"nghttp2", 1000, 33}, {"nginx", 256, 1e6}, {"netty", 200, 6.67}, {"varnish", 100, 1.67}}};

constexpr std::uint64_t kMany = 1'000'000'000;
constexpr double kLarge = 1e9;

// A server's name, or N:RATE. None: `kUnlimitedResets`.
ResetRule parse_reset_rule(std::string_view text) {
  if (is_none(text)) return {kNoneWord, ServiceOptions::kUnlimitedResets, 0};
  for (const ResetRule& each : kResetRules) {
    if (each.name == text) return each;
  }
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() != 2) {
    refuse(in_quotes(text) +
           " is no limit of resets: write N:RATE, such as 1000:33, or none, "
           "nghttp2, nginx, netty or varnish");
  }
  return {"", static_cast<std::size_t>(parse_count(parts[0], 1, kMany)),
          parse_rate(parts[1], 0, kLarge)};
}

}  // namespace

void declare_options(OptionList& options, ServiceOptions& service, Engine engine) {
  const bool real = engine == Engine::kReal;
  // In a simulation these are left out of the short help, because it has many options already.
  const char* in_curve = real ? "Service" : "";
  options.group("Service");
  options
      .choice<Capacity>("service", service.capacity,
                        {{"curve", Capacity::kCurve}, {"workers", Capacity::kWorkers}},
                        "serves all requests at once, or one per worker")
      .basic = "Service";
  options.group("Service curve");
  options
      .duration("base-delay,baseDelay", service.base_delay,
                "how long a request takes while concurrency is within the limit")
      .basic = in_curve;
  options
      .count("limit", service.limit, "how many requests are served at a time without slowing down",
             0, kMany, "requests")
      .basic = "Service";
  // If both programs' options are declared together, --factor belongs to the clients.
  options
      .number(real ? "factor,curve-factor" : "curve-factor", service.factor,
              "the delay grows by this factor for every k requests above the limit", 1, kLarge)
      .with_range("1", "1.5")
      .basic = in_curve;
  options
      .number("k", service.k,
              "how many requests above the limit multiply the delay by the factor once", 1e-9,
              kLarge, "requests")
      .basic = in_curve;
  options.needs(real ? "base-delay limit factor k" : "base-delay limit curve-factor k",
                "service!=workers");

  options.group("Workers");
  declare_options(options, service.workers);

  options.group("Queues and admission");
  options
      .count("backlog", service.backlog, "how many connections the kernel's accept queue holds", 0,
             real ? 65535 : kMany, "connections")
      .basic = "Service";
  options.choice<bool>(
      "accepts", service.when_free, {{"all", false}, {"when-free", true}},
      "workers: accepts every connection, as an event loop or an executor does, or one when a worker is "
      "free, which keeps it until it is closed, as threads that call accept: others wait in the backlog");
  options.needs("queue-length queue-order queue-drop", "accepts!=when-free");
  options.needs("workers service-time queue-length queue-order queue-drop rejection-cost accepts",
                "service=workers");
  options.count("max-connections", service.max_connections,
                real
                    ? "how many connections are accepted at a time; 0 = as many as the process may "
                      "open files, less a reserve"
                    : "how many connections are accepted at a time; 0 = no limit",
                0, kMany, "connections");
  options
      .duration_or_none("server-idle", service.server_idle,
                        "how long a kept connection may be idle before the server closes it; none "
                        "= until it needs room",
                        std::chrono::milliseconds(1))
      .with_range("1s", "5m");
  if (!real) {
    options
        .text(
            "reset-limit",
            "multiplexed: N:RATE = the server takes N timed out attempts of a connection at once, "
            "and RATE more a second; the next one closes the connection; as in nghttp2 (1000:33), "
            "nginx, netty or varnish; none = no limit",
            [&service](std::string_view text) {
              const ResetRule rule = parse_reset_rule(text);
              service.reset_limit = rule.most;
              service.reset_rate = rule.rate;
            },
            [&service] {
              if (service.reset_limit == ServiceOptions::kUnlimitedResets) {
                return std::string(kNoneWord);
              }
              return std::to_string(service.reset_limit) + ':' + print_number(service.reset_rate);
            })
        .with_examples({"none", "nghttp2", "nginx", "netty", "varnish", "100:10"});
  }
  declare_options(options, service.rate_limit);
  options
      .count("shed-above", service.shed_above,
             "the concurrency above which requests are shed; 0 = off", 0, kMany, "requests")
      .with_range("0", "5000")
      .basic = "Service";
  options.choice<int>("shed-status", service.shed_status, {{"503", 503}, {"429", 429}},
                      "the status of a request that --shed-above rejects; 429 as from a service "
                      "that limits its concurrency");
  std::vector<std::pair<std::string_view, Abandoned>> abandoned{{"serve", Abandoned::kServe},
                                                                {"skip", Abandoned::kSkip}};
  std::string what =
      "whether a request whose client has hung up is served to the end, or skipped when the server "
      "would accept it or a worker take it";
  if (!real) {
    abandoned.emplace_back("cancel", Abandoned::kCancel);
    what += ", or cancelled as soon as the client hangs up (no real server of ours does that)";
  }
  options.choice<Abandoned>("abandoned", service.abandoned, abandoned, what);
  options.needs("shed-status", "shed-above");
  declare_options(options, service.hint);
  declare_options(options, service.errors);
  declare_options(options, service.rate_limit.autoscale);
  options.needs("autoscale", "rate-limit");
}

bool sends_hints(const ServiceOptions& service) {
  const bool bounded = service.capacity == Capacity::kWorkers &&
                       (service.workers.queue_length != WorkerSettings::kUnbounded ||
                        service.workers.drop.kind != QueueDrop::Kind::kNone);
  return service.hint.kind != HintKind::kNone &&
         (bounded || service.rate_limit.rate > 0 || service.shed_above > 0 ||
          (service.errors.share > 0 && hints_at_errors(service.hint, service.errors.status)));
}

void check(const ServiceOptions& service) {
  check(service.hint);
  check(service.rate_limit.autoscale, service.rate_limit.rate);
}

ServiceOptions with_conditions(const Conditions& conditions, ServiceOptions configured) {
  WorkerSettings& workers = configured.workers;
  configured.base_delay = scale(configured.base_delay, conditions.slow);
  workers.service_time = workers.service_time.times(conditions.slow);
  if (conditions.capacity != 1) {
    configured.limit = static_cast<std::size_t>(
        std::llround(static_cast<double>(configured.limit) * conditions.capacity));
    configured.k *= conditions.capacity;
    workers.workers = std::max<std::size_t>(
        static_cast<std::size_t>(
            std::llround(static_cast<double>(workers.workers) * conditions.capacity)),
        1);
  }
  configured.errors.share = either_fails(configured.errors.share, conditions.errors);
  configured.errors.status = conditions.error_status.value_or(configured.errors.status);
  if (conditions.rate_limit) {
    RateLimitSettings& limit = configured.rate_limit;
    const double most =
        limit.autoscale.kind == AutoscaleKind::kNone ? limit.rate : limit.autoscale.most;
    limit.rate = limit.rate > 0 ? std::min(*conditions.rate_limit, most) : *conditions.rate_limit;
    limit.autoscale = {};
  }
  return configured;
}

void change_option(ServiceOptions& configured, std::string_view name, std::string_view value,
                   Engine engine) {
  static constexpr std::array<std::string_view, 7> kFixed{
      "service",     "backlog",     "accepts",  "max-connections",
      "server-idle", "reset-limit", "abandoned"};
  ServiceOptions changed = configured;
  OptionList options;
  declare_options(options, changed, engine);
  options.set(name, value);
  const std::string& option = options.find(name)->name;
  if (std::find(kFixed.begin(), kFixed.end(), option) != kFixed.end()) {
    refuse(option + " cannot change while the service runs");
  }
  check(changed);
  const UnusedOptions unused = unused_of_part(changed);
  if (const auto found = unused.find(option); found != unused.end()) {
    throw NoEffect(found->second);
  }
  configured = changed;
}

}  // namespace retrystorm
