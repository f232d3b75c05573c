#include "model/service/service_options.h"

namespace retrystorm {

void declare_options(OptionList& options, ServiceOptions& service, Engine engine) {
  constexpr std::uint64_t kMany = 1'000'000'000;
  constexpr double kLarge = 1e9;
  const bool real = engine == Engine::kReal;
  // With the many options of a simulation its short help would be long.
  const char* in_curve = real ? "Service" : "";
  options.group("Service");
  options
      .choice<Capacity>("service", service.capacity,
                        {{"curve", Capacity::kCurve}, {"workers", Capacity::kWorkers}},
                        "serves all at once, or so many at a time")
      .basic = "Service";
  options.group("Service curve");
  options
      .duration("base-delay,baseDelay", service.base_delay,
                "delay of a request while concurrency is within the limit")
      .basic = in_curve;
  options.count("limit", service.limit, "concurrency served without slowing down", 0, kMany)
      .in("requests")
      .basic = "Service";
  // Where both programs' options meet, --factor is the clients'.
  options
      .number(real ? "factor,curve-factor" : "curve-factor", service.factor,
              "the delay grows by this factor for every k requests above the limit", 1, kLarge)
      .over("1", "1.5")
      .basic = in_curve;
  options.number("k", service.k, "requests above the limit that make one factor", 1e-9, kLarge)
      .in("requests")
      .basic = in_curve;

  options.group("Workers");
  declare_options(options, service.workers);

  options.group("Queues and admission");
  options
      .count("backlog", service.backlog,
             "the kernel's accept queue; it fills while the server is frozen", 0,
             real ? 65535 : kMany)
      .in("connections")
      .basic = "Service";
  options
      .count("max-connections", service.max_connections,
             real ? "connections accepted at a time; 0 = all the descriptors but a reserve"
                  : "connections accepted at a time; 0 = no limit",
             0, kMany)
      .in("connections");
  declare_options(options, service.rate_limit);
  options
      .count("shed-above", service.shed_above,
             "concurrency above which a request gets 503 at once; 0 = off", 0, kMany)
      .in("requests")
      .over("0", "5000")
      .basic = "Service";
  declare_options(options, service.hint);
  declare_options(options, service.errors);
  declare_options(options, service.rate_limit.autoscale);
}

void find_unused(UnusedOptions& unused, const ServiceOptions& service) {
  if (service.capacity == Capacity::kCurve) {
    find_unused<WorkerSettings>(unused, service.workers, {}, "without --service=workers");
  } else {
    find_unused(unused, service.workers);
    const ServiceOptions usual;
    const auto find_of_curve = [&unused](const char* name, bool given) {
      if (given) unused.emplace(name, name + std::string(" has no effect with --service=workers"));
    };
    find_of_curve("base-delay", service.base_delay != usual.base_delay);
    find_of_curve("limit", service.limit != usual.limit);
    find_of_curve("curve-factor", service.factor != usual.factor);
    find_of_curve("k", service.k != usual.k);
  }
  find_unused(unused, service.rate_limit);
  find_unused(unused, service.hint);
  find_unused(unused, service.errors);
}

void check(const ServiceOptions& service) {
  check(service.hint);
  check(service.rate_limit.autoscale, service.rate_limit.rate);
}

}  // namespace retrystorm
