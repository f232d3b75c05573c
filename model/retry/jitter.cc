#include "model/retry/jitter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "model/base/portable_math.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

// What follows the colon.
enum class Amount { kNone, kShare, kTimeOrPercent };

struct KindInfo {
  std::string_view name;
  Jitter::Kind kind;
  Amount amount;
  double preset_amount;  // the share if none is given
};
constexpr std::array<KindInfo, 10> kKinds{{
    {"none", Jitter::Kind::kNone, Amount::kNone, 0},
    {"full", Jitter::Kind::kFull, Amount::kNone, 0},
    {"equal", Jitter::Kind::kEqual, Amount::kNone, 0},
    {"normal", Jitter::Kind::kNormal, Amount::kShare, 0.1},
    {"proportional", Jitter::Kind::kProportional, Amount::kShare, 0.2},
    {"shorter", Jitter::Kind::kShorter, Amount::kShare, 0.1},
    {"additive", Jitter::Kind::kAdditive, Amount::kTimeOrPercent, 0},
    {"exponential", Jitter::Kind::kExponential, Amount::kNone, 0},
    {"decorrelated", Jitter::Kind::kDecorrelated, Amount::kNone, 0},
    {"polly", Jitter::Kind::kPolly, Amount::kNone, 0},
}};
constexpr double kMostNormal = 1e9;
constexpr double kMostShare = 1;
constexpr double kMostPercent = 1e9;
constexpr Duration kUsualSpread = std::chrono::seconds(1);

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const KindInfo& each : kKinds) names.push_back(each.name);
  return names;
}

}  // namespace

Duration Jitter::of(Duration v, Random& random) const {
  switch (kind) {
    case Kind::kNone:
    case Kind::kDecorrelated:
    case Kind::kPolly:
      return v;
    case Kind::kFull:
      return scale(v, random.uniform());
    case Kind::kEqual:
      return scale(v, 0.5 + 0.5 * random.uniform());
    case Kind::kNormal:
      if (amount == 0) return v;
      return std::max(scale(v, 1 + amount * random.normal()), Duration::zero());
    case Kind::kProportional:
      if (amount == 0) return v;
      return scale(v, 1 + amount * (2 * random.uniform() - 1));
    case Kind::kShorter:
      if (amount == 0) return v;
      return scale(v, 1 - amount + amount * random.uniform());
    case Kind::kAdditive:
      if (amount > 0) return scale(v, 1 + amount / 100 * random.uniform());
      return saturating_add(v, scale(spread, random.uniform()));
    case Kind::kExponential:
      return random.exponential(v);
  }
  return v;
}

Jitter parse_jitter(std::string_view text) {
  if (!text.empty() && text.find_first_of("0123456789.+-") == 0) {
    return {.kind = Jitter::Kind::kNormal, .amount = parse_spread(text, kMostNormal)};
  }
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto info = std::find_if(kKinds.begin(), kKinds.end(),
                                 [name](const KindInfo& each) { return each.name == name; });
  if (info == kKinds.end()) throw std::invalid_argument(unknown_name(name, kind_names()));
  Jitter jitter{.kind = info->kind, .amount = info->preset_amount};
  if (info->amount == Amount::kTimeOrPercent) jitter.spread = kUsualSpread;
  if (colon == text.npos) return jitter;
  const std::string_view amount = text.substr(colon + 1);
  switch (info->amount) {
    case Amount::kNone:
      throw std::invalid_argument(in_quotes(text) + ": " + std::string(name) +
                                  " jitter takes no amount");
    case Amount::kShare:
      jitter.amount = info->kind == Jitter::Kind::kNormal ? parse_spread(amount, kMostNormal)
                                                          : parse_number(amount, 0, kMostShare);
      break;
    case Amount::kTimeOrPercent:
      if (amount.ends_with('%')) {
        jitter.amount = parse_number(amount.substr(0, amount.size() - 1), 0, kMostPercent);
        jitter.spread = Duration::zero();
      } else {
        jitter.spread = parse_duration(amount, Duration::zero());
      }
      break;
  }
  return jitter;
}

std::string to_string(const Jitter& jitter) {
  for (const KindInfo& each : kKinds) {
    if (each.kind != jitter.kind) continue;
    const std::string name(each.name);
    if (each.amount == Amount::kShare) return name + ':' + print_spread(jitter.amount);
    if (each.amount == Amount::kTimeOrPercent) {
      return name + ':' +
             (jitter.amount > 0 ? print_number(jitter.amount) + '%'
                                : format_duration(jitter.spread));
    }
    return name;
  }
  return "";
}

Duration polly_wait(Duration median, std::uint32_t n, double u, double& before) {
  constexpr double kScale = 1.4;
  constexpr double kLn2 = 0.69314718055994530942;
  constexpr double kLargestExponent = 1024;
  const double t = n + u;
  if (t >= kLargestExponent) return Duration::max();
  const double y = std::sqrt(4 * t);
  const double x = exponential(t * kLn2) * (1 - 2 / (exponential(2 * y) + 1));
  const double wait = (x - before) / kScale;
  before = x;
  return std::max(scale(median, wait), Duration::zero());
}

}  // namespace retrystorm
