#include "retrystorm/usual_remedies.h"

#include <algorithm>
#include <cmath>

#include "model/base/text.h"
#include "model/run/outlook_formulas.h"
#include "simulator/graph/topology_options.h"

namespace retrystorm {
namespace {

// The least number of a remedy that suits all cases. Infinite if it cannot be computed.
struct Bound {
  double value = kUnlimited;
  double has = kUnlimited;  // the least that a service has already

  void see(double its_value, double its_own) {
    value = std::min(value, its_value);
    has = std::min(has, its_own);
  }
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

// Takes a case by the rules. With a number that is half of the timeout or less, a request that is let in can still be
// answered in time.
void see(const ScenarioOptions& scenario, Bounds& bounds) {
  const ServiceOptions service = service_of(scenario);
  const double capacity = capacity_of(service);
  // How much of the load comes to one of several services is not computed.
  ScenarioOptions unscaled = scenario;
  unscaled.scale = 1;
  const double load = scenario.graph.on() ? kUnlimited : look_ahead(unscaled).wanted;
  double rate = kUnlimited, shed_above = kUnlimited, places = kUnlimited, age = kUnlimited;
  if (load < capacity && capacity != kUnlimited) {
    const double above = load + (capacity - load) / 5;
    rate = rounded_up(above) < capacity ? rounded_up(above) : above;
  }
  if (scenario.workload.has_timeout()) {
    const Duration half = scale(scenario.workload.timeout, 0.5);
    age = to_seconds(half);
    if (service.capacity == Capacity::kCurve) {
      shed_above = whole(late_from(service, half));
      places = whole(late_from(service, half) / 2);
    } else if (capacity != kUnlimited) {
      const double answered = capacity * age;
      shed_above = whole(std::max(answered, static_cast<double>(service.workers.workers)));
      places = whole(answered / 2);
    }
  }
  bounds.rate.see(rate, service.rate_limit.rate > 0 ? service.rate_limit.rate : kUnlimited);
  bounds.shed_above.see(shed_above, or_unlimited(service.shed_above, 0));
  bounds.places.see(places, or_unlimited(service.workers.queue_length, WorkerSettings::kUnbounded));
  const QueueDrop& drop = service.workers.drop;
  bounds.age.see(age, drop.kind == QueueDrop::Kind::kAge ? to_seconds(drop.time) : kUnlimited);
}

}  // namespace

std::vector<UsualRemedy> usual_remedies(const std::vector<ScenarioOptions>& cases) {
  Bounds bounds;
  for (const ScenarioOptions& each : cases) see(each, bounds);
  std::vector<UsualRemedy> all{{"nothing", ""},
                               {"a tenth of the load for 60 s", "60s load 0.1; 120s load 1"},
                               {"hardly any load and then steps",
                                "60s load 0.01; 80s load 0.25; 100s load 0.5; 120s load 1"},
                               {"twice the capacity", "60s capacity 2"},
                               {"ten times the capacity", "60s capacity 10"}};
  // `%` stands for the number.
  const auto add = [&](const Bound& bound, const std::string& unknown, const std::string& title,
                       const std::string& actions, const std::string& unit = "",
                       const std::string& typed_unit = "") {
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
  add(bounds.rate, "the load is not known to be below the capacity", "rate limit of %",
      "60s set rate-limit=%", "/s");
  add(bounds.shed_above, no_answers, "shed above %", "60s set shed-above=%");
  all.push_back({"restart", "60s restart"});
  add(bounds.shed_above, no_answers, "restart and shed above %",
      "60s restart; 60s set shed-above=%");
  add(bounds.places, no_answers, "a queue of % places", "60s set queue-length=%");
  add(bounds.age, "there is no timeout", "drop what has waited %", "60s set queue-drop=age:%", " s",
      "s");
  all.push_back({"newest first (LIFO)", "60s set queue-order=lifo"});
  return all;
}

}  // namespace retrystorm
