#include "model/run/disturbance.h"

#include <array>
#include <stdexcept>

namespace retrystorm {
namespace {

struct KindOfDisturbance {
  Disturbance::Kind kind;
  std::string_view name;
  // Of its value, where it has one.
  std::string_view value{};
  double least = 0, most = 0;
};

constexpr double kLeastFactor = 1e-3, kMostFactor = 1e3;

constexpr std::array kKinds{
    KindOfDisturbance{Disturbance::Kind::kFreeze, "freeze"},
    KindOfDisturbance{Disturbance::Kind::kDrop, "drop"},
    KindOfDisturbance{Disturbance::Kind::kSlow, "slow", "F", kLeastFactor, kMostFactor},
    KindOfDisturbance{Disturbance::Kind::kErrors, "errors", "SHARE", 0, 1},
    KindOfDisturbance{Disturbance::Kind::kCapacity, "capacity", "F", kLeastFactor, kMostFactor},
    KindOfDisturbance{Disturbance::Kind::kLoad, "load", "F", kLeastFactor, kMostFactor},
    KindOfDisturbance{Disturbance::Kind::kCommand, "command"},
};

const KindOfDisturbance& about(Disturbance::Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

}  // namespace

Disturbance parse_disturbance(std::string_view text, Engine engine) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::vector<std::string_view> known;
  for (const KindOfDisturbance& each : kKinds) {
    if (each.kind == Disturbance::Kind::kCommand && engine == Engine::kSimulated) continue;
    known.push_back(each.name);
    if (each.name != name) continue;
    if (each.value.empty() != (colon == text.npos)) {
      throw std::invalid_argument(
          in_quotes(text) + ": " +
          (each.value.empty() ? std::string(name) + " has no value"
                              : std::string(name) + ':' + std::string(each.value) + " is meant"));
    }
    if (each.value.empty()) return {.kind = each.kind};
    return {.kind = each.kind,
            .value = parse_number(std::string(text.substr(colon + 1)), each.least, each.most)};
  }
  throw std::invalid_argument(unknown_name(name, known));
}

std::string print_disturbance(const Disturbance& disturbance) {
  const KindOfDisturbance& kind = about(disturbance.kind);
  const std::string name(kind.name);
  return kind.value.empty() ? name : name + ':' + print_number(disturbance.value);
}

Conditions& impose(const Disturbance& disturbance, Conditions& conditions) {
  switch (disturbance.kind) {
    case Disturbance::Kind::kSlow:
      conditions.slow *= disturbance.value;
      break;
    case Disturbance::Kind::kErrors:
      conditions.errors = disturbance.value;
      break;
    case Disturbance::Kind::kCapacity:
      conditions.capacity *= disturbance.value;
      break;
    default:
      break;
  }
  return conditions;
}

bool is_of_service(const Disturbance& disturbance) {
  switch (disturbance.kind) {
    case Disturbance::Kind::kDrop:
    case Disturbance::Kind::kSlow:
    case Disturbance::Kind::kErrors:
    case Disturbance::Kind::kCapacity:
      return true;
    default:
      return false;
  }
}

}  // namespace retrystorm
