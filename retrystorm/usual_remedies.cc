#include "retrystorm/usual_remedies.h"

#include <algorithm>
#include <cmath>

#include "model/base/text.h"
#include "model/run/outlook_formulas.h"
#include "simulator/graph/topology_options.h"

namespace retrystorm {
namespace {

// A number of a remedy, in one case.
struct Bound {
  double value = kUnlimited;  // infinite if it cannot be computed
  double has = kUnlimited;    // the one that the service has already
};

struct Bounds {
  Bound rate, shed_above, places, age;  // `age` in seconds
};

ServiceOptions service_of(const ScenarioOptions& scenario) {
  if (!scenario.graph.on()) return scenario.service;
  const Topology topology = topology_of(scenario);
  return topology.nodes[find_node(topology, scenario.graph.outage_of, "--outage-of")].service;
}

// Up to two digits, so that 119.2 is 120.
double rounded_up(double value) {
  if (!(value > 0 && std::isfinite(value))) return value;
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return to_digits(std::ceil(to_digits(value / unit, 9)) * unit, 2);
}

// Of requests or workers: a whole number.
double whole(double count) {
  return std::ceil(rounded_up(count));
}

// The rules. With a number that is half of the timeout or less, a request that is let in can still be answered in time.
Bounds bounds_of(const ScenarioOptions& scenario) {
  const ServiceOptions service = service_of(scenario);
  const double capacity = capacity_of(service);
  Bounds bounds;
  bounds.rate.has = service.rate_limit.rate > 0 ? service.rate_limit.rate : kUnlimited;
  bounds.shed_above.has = or_unlimited(service.shed_above, 0);
  bounds.places.has = or_unlimited(service.workers.queue_length, WorkerSettings::kUnbounded);
  if (service.workers.drop.kind == QueueDrop::Kind::kAge) {
    bounds.age.has = to_seconds(service.workers.drop.time);
  }

  // How much of the load comes to one of several services is not computed.
  ScenarioOptions unscaled = scenario;
  unscaled.scale = 1;
  const double load = scenario.graph.on() ? kUnlimited : look_ahead(unscaled).wanted;
  if (load < capacity && capacity != kUnlimited) {
    const double rate = load + (capacity - load) / 5;
    bounds.rate.value = rounded_up(rate) < capacity ? rounded_up(rate) : rate;
  }
  if (!scenario.workload.has_timeout()) return bounds;
  const Duration half = scale(scenario.workload.timeout, 0.5);
  bounds.age.value = to_seconds(half);
  if (service.capacity == Capacity::kCurve) {
    const double late = late_from(service, half);
    bounds.shed_above.value = whole(late);
    bounds.places.value = whole(late / 2);
  } else if (capacity != kUnlimited) {
    const double answered = capacity * to_seconds(half);
    bounds.shed_above.value =
        whole(std::max(answered, static_cast<double>(service.workers.workers)));
    bounds.places.value = whole(answered / 2);
  }
  return bounds;
}

// The least of all cases, and the least bound that any of them has.
Bound least(const std::vector<Bounds>& cases, Bound Bounds::*which) {
  Bound result;
  for (const Bounds& each : cases) {
    result.value = std::min(result.value, (each.*which).value);
    result.has = std::min(result.has, (each.*which).has);
  }
  return result;
}

}  // namespace

std::vector<UsualRemedy> usual_remedies(const std::vector<ScenarioOptions>& cases) {
  std::vector<Bounds> bounds;
  bounds.reserve(cases.size());
  for (const ScenarioOptions& each : cases) bounds.push_back(bounds_of(each));

  std::vector<UsualRemedy> all{{"nothing", ""},
                               {"a tenth of the load for 60 s", "60s load 0.1; 120s load 1"},
                               {"hardly any load and then steps",
                                "60s load 0.01; 80s load 0.25; 100s load 0.5; 120s load 1"},
                               {"twice the capacity", "60s capacity 2"},
                               {"ten times the capacity", "60s capacity 10"}};
  // `%` stands for the number.
  const auto add = [&](Bound Bounds::*which, const std::string& unknown, const std::string& title,
                       const std::string& actions, const std::string& unit = "",
                       const std::string& typed_unit = "") {
    const Bound bound = least(bounds, which);
    const auto with = [](std::string text, const std::string& number) {
      return text.replace(text.find('%'), 1, number);
    };
    if (bound.value == kUnlimited || bound.value < 1e-6) {
      all.push_back({with(title, "..."), "", unknown});
      return;
    }
    const std::string number = print_number(to_digits(bound.value, 6));
    UsualRemedy remedy{with(title, number + unit), with(actions, number + typed_unit)};
    if (bound.has <= bound.value) {
      remedy.left_out =
          "it is not below the limit that the service has, " + print_number(bound.has) + unit;
    }
    all.push_back(std::move(remedy));
  };
  const std::string no_answers =
      "what is answered within half of the timeout is not known (--timeout, --service-time)";
  add(&Bounds::rate, "the load is not known to be below the capacity", "rate limit of %",
      "60s set rate-limit=%", "/s");
  add(&Bounds::shed_above, no_answers, "shed above %", "60s set shed-above=%");
  all.push_back({"restart", "60s restart"});
  add(&Bounds::shed_above, no_answers, "restart and shed above %",
      "60s restart; 60s set shed-above=%");
  add(&Bounds::places, no_answers, "a queue of % places", "60s set queue-length=%");
  add(&Bounds::age, "there is no timeout", "drop what has waited %", "60s set queue-drop=age:%",
      " s", "s");
  all.push_back({"newest first (LIFO)", "60s set queue-order=lifo"});
  return all;
}

}  // namespace retrystorm
