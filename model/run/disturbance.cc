#include "model/run/disturbance.h"

#include <algorithm>
#include <array>

namespace retrystorm {
namespace {

struct KindOfDisturbance {
  Disturbance::Kind kind;
  Disturbance::By by;
  std::string_view name;
  // Describes the value, if the kind has one.
  std::string_view value{};
  double least = 0, most = 0;
  double idle = -1;  // with this value it leaves all as it is
};

constexpr auto kOutageKinds = [] {
  using Kind = Disturbance::Kind;
  using By = Disturbance::By;
  return std::array{
      KindOfDisturbance{Kind::kFreeze, By::kSignals, "freeze"},
      KindOfDisturbance{Kind::kDrop, By::kService, "drop"},
      KindOfDisturbance{Kind::kSlow, By::kService, "slow", "F", 1, kMostFactor, 1},
      KindOfDisturbance{Kind::kErrors, By::kService, "errors", "SHARE[:STATUS]", 0, 1, 0},
      KindOfDisturbance{Kind::kCapacity, By::kService, "capacity", "F", kLeastFactor, 1, 1},
      KindOfDisturbance{Kind::kThrottle, By::kService, "throttle", "R", kLeastFactor, kHighestRate},
      KindOfDisturbance{Kind::kLoad, By::kClients, "load", "F", kLeastFactor, kMostFactor, 1},
      KindOfDisturbance{Kind::kReconnect, By::kClients, "reconnect"},
      KindOfDisturbance{Kind::kCommand, By::kCommands, "command"},
      KindOfDisturbance{Kind::kRestart, By::kActions, "restart"},
      KindOfDisturbance{Kind::kLoadStep, By::kActions, "load", "F"},
  };
}();

const KindOfDisturbance& about(Disturbance::Kind kind) {
  return kOutageKinds[static_cast<std::size_t>(kind)];
}

}  // namespace

Disturbance parse_disturbance(std::string_view text, Engine engine) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::vector<std::string_view> known;
  for (const KindOfDisturbance& each : kOutageKinds) {
    if (each.kind == Disturbance::Kind::kCommand && engine == Engine::kSimulated) continue;
    if (each.by == Disturbance::By::kActions) continue;
    known.push_back(each.name);
    if (each.name != name) continue;
    if (each.value.empty() != (colon == text.npos)) {
      refuse(in_quotes(text) + ": " +
             (each.value.empty()
                  ? std::string(name) + " takes no value"
                  : std::string(name) + ':' + std::string(each.value) + " is expected"));
    }
    if (each.value.empty()) return {.kind = each.kind};
    Disturbance disturbance{.kind = each.kind};
    std::string_view value = text.substr(colon + 1);
    const std::size_t second = value.find(':');
    if (each.kind == Disturbance::Kind::kErrors && second != value.npos) {
      disturbance.status = static_cast<int>(
          parse_count(value.substr(second + 1), kLeastErrorStatus, kMostErrorStatus));
      value = value.substr(0, second);
    }
    const auto parse = each.kind == Disturbance::Kind::kThrottle ? parse_rate
                       : each.kind == Disturbance::Kind::kErrors ? parse_number
                                                                 : parse_factor;
    disturbance.value = parse(value, each.least, each.most);
    return disturbance;
  }
  if (name == "none") refuse("no outage is --outage-for=0s");
  refuse(unknown_name(name, known));
}

std::string print_disturbance(const Disturbance& disturbance) {
  const KindOfDisturbance& kind = about(disturbance.kind);
  const std::string name(kind.name);
  if (kind.value.empty()) return name;
  return name + ':' + print_number(disturbance.value) +
         (disturbance.status ? ':' + std::to_string(*disturbance.status) : "");
}

Conditions& apply(const Disturbance& disturbance, Conditions& conditions) {
  switch (disturbance.kind) {
    case Disturbance::Kind::kSlow:
      conditions.slow *= disturbance.value;
      break;
    case Disturbance::Kind::kErrors:
      conditions.errors = either_fails(conditions.errors, disturbance.value);
      if (disturbance.status) conditions.error_status = disturbance.status;
      break;
    case Disturbance::Kind::kCapacity:
      conditions.capacity *= disturbance.value;
      break;
    case Disturbance::Kind::kThrottle:
      conditions.rate_limit =
          std::min(conditions.rate_limit.value_or(disturbance.value), disturbance.value);
      break;
    default:
      break;
  }
  return conditions;
}

bool does_nothing(const Disturbance& disturbance) {
  return disturbance.value == about(disturbance.kind).idle;
}

Disturbance::By made_by(const Disturbance& disturbance) {
  return about(disturbance.kind).by;
}

}  // namespace retrystorm
