#include "model/retry/concurrency_limit.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace retrystorm {
namespace {

constexpr std::uint64_t kMostConcurrent = 1'000'000'000;

ConcurrencyLimitSettings::Kind limit_kind(std::string_view name) {
  using Kind = ConcurrencyLimitSettings::Kind;
  if (name == kNoneWord) return Kind::kNone;
  if (name == "fixed") return Kind::kFixed;
  if (name == "aimd") return Kind::kAimd;
  throw std::invalid_argument(unknown_name(name, {kNoneWord, "fixed", "aimd"}));
}

// KIND[:LIMIT]
void parse_limit(std::string_view text, ConcurrencyLimitSettings& settings) {
  using Kind = ConcurrencyLimitSettings::Kind;
  const std::size_t colon = text.find(':');
  const Kind kind = limit_kind(text.substr(0, colon));
  std::uint32_t start = ConcurrencyLimitSettings().start;
  if (colon != text.npos) {
    if (kind == Kind::kNone) throw std::invalid_argument("none takes no limit");
    start = static_cast<std::uint32_t>(parse_count(text.substr(colon + 1), 1, kMostConcurrent));
  } else if (kind == Kind::kFixed) {
    throw std::invalid_argument("fixed takes a limit (fixed:100)");
  }
  settings.kind = kind;
  settings.start = start;
}

std::string print_limit(const ConcurrencyLimitSettings& settings) {
  using Kind = ConcurrencyLimitSettings::Kind;
  if (settings.kind == Kind::kNone) return std::string(kNoneWord);
  return (settings.kind == Kind::kFixed ? "fixed:" : "aimd:") + std::to_string(settings.start);
}

}  // namespace

void declare_options(OptionList& options, ConcurrencyLimitSettings& settings) {
  options.group("Concurrency limit of a process: refuses attempts beyond it");
  options
      .text(
          "concurrency-limit",
          "how many attempts may be in flight, as KIND[:LIMIT]: none, fixed:100, aimd:20 (starts "
          "at 20 and adapts)",
          [&settings](std::string_view text) { parse_limit(text, settings); },
          [&settings] { return print_limit(settings); })
      .with_examples({"none", "fixed:10", "aimd:20"});
  options.count("limit-min", settings.least, "aimd: the lowest limit", 1, kMostConcurrent)
      .with_unit("attempts");
  options.count("limit-max", settings.most, "aimd: the highest limit", 1, kMostConcurrent)
      .with_unit("attempts");
  options.number("limit-decrease", settings.decrease,
                 "aimd: the factor by which each dropped attempt lowers the limit", 0, 1);
  options.duration_or_none("limit-slow", settings.slow,
                           "aimd: how long an attempt may take before it counts as dropped");
}

void find_unused(UnusedOptions& unused, const ConcurrencyLimitSettings& settings) {
  if (settings.kind == ConcurrencyLimitSettings::Kind::kAimd) return;
  find_unused<ConcurrencyLimitSettings>(unused, settings, {}, "without --concurrency-limit=aimd",
                                        {"limit-min", "limit-max", "limit-decrease", "limit-slow"});
}

void check(const ConcurrencyLimitSettings& settings) {
  if (settings.kind != ConcurrencyLimitSettings::Kind::kAimd) return;
  if (settings.least > settings.most) {
    throw std::invalid_argument("limit-min is above limit-max");
  }
  if (settings.start < settings.least || settings.start > settings.most) {
    throw std::invalid_argument("concurrency-limit starts outside limit-min and limit-max");
  }
}

ConcurrencyLimit::ConcurrencyLimit(const ConcurrencyLimitSettings& settings)
    : settings_(settings), limit_(settings.start) {}

Permission ConcurrencyLimit::ask(TimePoint /*now*/, Random& /*random*/) {
  if (in_flight_ >= limit_) return {.kind = Permission::Kind::kRefused};
  ++in_flight_;
  return {};
}

void ConcurrencyLimit::take_back(TimePoint /*now*/) {
  --in_flight_;
}

void ConcurrencyLimit::attempt_cancelled(TimePoint /*now*/) {
  if (in_flight_ > 0) --in_flight_;
}

void ConcurrencyLimit::attempt_ended(TimePoint /*now*/, const AttemptResult& result) {
  const std::uint64_t in_use = in_flight_;
  if (in_flight_ > 0) --in_flight_;
  if (settings_.kind != ConcurrencyLimitSettings::Kind::kAimd) return;
  const bool ok = result.outcome == Outcome::kOk;
  if (result.accepted && !ok) return;
  if (!ok || result.latency > settings_.slow) {
    limit_ = static_cast<std::uint32_t>(settings_.decrease * limit_);
  } else if (2 * in_use >= limit_) {
    ++limit_;
  }
  limit_ = std::clamp(limit_, settings_.least, settings_.most);
}

}  // namespace retrystorm
