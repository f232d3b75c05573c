#include "model/retry/backoff.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

namespace retrystorm {
namespace {

// factor^n by squaring: the same on every machine.
double power(double factor, std::uint32_t n) {
  double result = 1;
  for (; n > 0; n /= 2, factor *= factor) {
    if (n % 2 == 1) result *= factor;
  }
  return result;
}

// Not a comma: settings files and sweeps part their values there.
constexpr char kBetweenNumbers = '+';

std::vector<double> parse_table(std::string_view text) {
  constexpr std::size_t kMostNumbers = 1000;
  constexpr double kMost = 1e9;
  std::vector<double> table;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(kBetweenNumbers, begin), text.size());
    table.push_back(parse_number(text.substr(begin, end - begin), 0, kMost));
    begin = end + 1;
  }
  if (table.size() > kMostNumbers) throw std::invalid_argument("more than 1000 numbers");
  return table;
}

std::string print_table(const std::vector<double>& table) {
  std::string text;
  for (const double number : table) {
    if (!text.empty()) text += kBetweenNumbers;
    // Without an exponent, which could have a plus of its own.
    std::array<char, 400> digits{};
    text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                             std::chars_format::fixed)
                                   .ptr);
  }
  return text;
}

}  // namespace

void declare_options(OptionList& options, BackoffSettings& settings) {
  constexpr double kLarge = 1e9;
  options.group("Backoff: how long to wait before a retry");
  options.choice<Growth>("growth", settings.growth,
                         {{"none", Growth::kNone},
                          {"constant", Growth::kConstant},
                          {"linear", Growth::kLinear},
                          {"exponential", Growth::kExponential},
                          {"table", Growth::kTable}},
                         "how the waits of one request grow");
  options
      .duration(
          "backoff-base,min-delay,fixed-delay,simple-backoff-delay,linear-initial,truncated-base",
          settings.base, "first wait")
      .basic = "Retries";
  options
      .number("backoff-factor,factor", settings.factor,
              "exponential: what each failure multiplies the wait by", 1, kLarge)
      .over("1", "5");
  options.duration("backoff-step,linear-step", settings.step, "linear: what each failure adds");
  options.text(
      "backoff-table",
      "table: what multiplies the first, second, ... wait; the last number goes on",
      [&table = settings.table](std::string_view text) { table = parse_table(text); },
      [&table = settings.table] { return print_table(table); });
  options.duration_or_none("backoff-cap,max-delay,maximum-backoff", settings.cap, "longest wait")
      .over("200ms", "2m")
      .basic = "Retries";
  options.choice<CapApplies>(
      "cap-applies", settings.cap_applies,
      {{"before-jitter", CapApplies::kBeforeJitter}, {"after-jitter", CapApplies::kAfterJitter}},
      "whether the cap bounds the wait before or after its jitter");
  Jitter& jitter = settings.jitter;
  options
      .text(
          "jitter",
          "KIND[:AMOUNT], the randomness of a wait: none, full, equal, normal:0.1 (or 0.1), "
          "proportional:0.2, additive:1s (or 1%), exponential, decorrelated, polly",
          [&jitter](std::string_view text) { jitter = parse_jitter(text); },
          [&jitter] { return to_string(jitter); })
      .like({"none", "full", "equal", "normal:0.1", "proportional:0.2", "additive:1s",
             "decorrelated"})
      .basic = "Retries";
  Option& random = options.text(
      "random", "the same as --jitter=additive:DURATION",
      [&jitter](std::string_view text) {
        if (text != kNoneWord) {
          jitter = parse_jitter("additive:" + std::string(text));
        } else if (jitter.kind == Jitter::Kind::kAdditive) {
          jitter = {};
        }
      },
      [&jitter] {
        if (jitter.kind != Jitter::Kind::kAdditive) return std::string(kNoneWord);
        const std::string both = to_string(jitter);
        return both.substr(both.find(':') + 1);
      });
  random.same_as = "jitter";
  options.choice<GrowFrom>(
      "grow-from", settings.grow_from,
      {{"unjittered", GrowFrom::kUnjittered}, {"jittered", GrowFrom::kJittered}},
      "exponential: whether a wait grows from the computed or from the jittered one before");
  options.choice<BackoffFrom>(
      "backoff-from", settings.from,
      {{"min-delay", BackoffFrom::kBase}, {"think-time", BackoffFrom::kThinkTime}},
      "exponential: start from min-delay, as the article says, or from the last think-time, as the "
      "original's code does");
  options.yes_or_no("jitter-first", settings.jitter_first, "whether the first wait is jittered");
  options.yes_or_no("first-at-once", settings.first_at_once,
                    "whether the first retry waits for nothing");
  options
      .duration_or_none("throttled-base", settings.throttled_base,
                        "first wait after 429, or 503 with Retry-After; none = as the others")
      .over("100ms", "10s");
}

void find_unused(UnusedOptions& unused, const BackoffSettings& settings,
                 const BackoffSettings& usual) {
  const auto find = [&](const std::string& why, const std::vector<std::string_view>& names) {
    find_unused<BackoffSettings>(unused, settings, usual, why, names);
  };
  const Jitter& jitter = settings.jitter;
  const auto find_unless = [&](Growth growth, const std::string& name,
                               const std::vector<std::string_view>& names) {
    if (jitter.is_growth()) {
      find("with --jitter=" + to_string(jitter) + ", which computes the wait itself", names);
    } else if (settings.growth != growth) {
      find("without --growth=" + name, names);
    }
  };
  find_unless(Growth::kExponential, "exponential", {"backoff-factor", "grow-from", "backoff-from"});
  find_unless(Growth::kLinear, "linear", {"backoff-step"});
  find_unless(Growth::kTable, "table", {"backoff-table"});
  if (jitter.is_growth()) {
    find("with --jitter=" + to_string(jitter),
         {"cap-applies", "jitter-first", "first-at-once", "throttled-base"});
  } else if (jitter.kind == Jitter::Kind::kNone) {
    find("without --jitter", {"cap-applies", "jitter-first"});
  } else if (settings.cap == Duration::max()) {
    find("without --backoff-cap", {"cap-applies"});
  }
  if (settings.growth == Growth::kNone) find("with --growth=none", {"throttled-base"});
}

Duration Backoff::grown(RetryState& state, bool throttled) const {
  const BackoffSettings& s = settings_;
  const std::uint32_t n = state.retries;
  const bool two_bases = s.throttled_base != Duration::max();
  const Duration base = throttled && two_bases ? s.throttled_base : s.base;
  switch (s.growth) {
    case Growth::kNone:
      return Duration::zero();
    case Growth::kConstant:
      return base;
    case Growth::kLinear:
      return saturating_add(base, scale(s.step, n));
    case Growth::kTable:
      return scale(base, s.table[std::min<std::size_t>(n, s.table.size() - 1)]);
    case Growth::kExponential:
      break;
  }
  // The wait before may have grown from the other base.
  if (two_bases) return scale(base, power(s.factor, n));
  return n == 0 && s.from == BackoffFrom::kBase ? base : scale(state.backoff, s.factor);
}

// The jitters whose wait follows from the one before.
Duration Backoff::remembered(RetryState& state, Random& random) const {
  const BackoffSettings& s = settings_;
  const double u = random.uniform();
  if (s.jitter.kind == Jitter::Kind::kDecorrelated) {
    const Duration last = state.retries == 0 ? s.base : state.backoff;
    const double spread = 3 * to_seconds(last) - to_seconds(s.base);
    state.backoff = std::min(saturating_add(s.base, from_seconds(u * spread)), s.cap);
    return state.backoff;
  }
  // In nanoseconds of a second's median, which is more than Polly keeps.
  double before = state.retries == 0 ? 0 : to_seconds(state.backoff);
  const Duration wait = polly_wait(s.base, state.retries, u, before);
  state.backoff = from_seconds(before);
  return std::min(wait, s.cap);
}

std::optional<Duration> Backoff::constant_wait(const BackoffSettings& settings) {
  const bool varies = settings.growth != Growth::kConstant ||
                      settings.jitter.kind != Jitter::Kind::kNone || settings.first_at_once ||
                      settings.throttled_base != Duration::max();
  return varies ? std::nullopt : std::optional(std::min(settings.base, settings.cap));
}

Duration Backoff::computed(RetryState& state, bool throttled, Random& random) const {
  const BackoffSettings& s = settings_;
  if (s.jitter.is_growth()) return remembered(state, random);
  const bool first = state.retries == 0;
  const bool before = s.cap_applies == CapApplies::kBeforeJitter;
  Duration wait = grown(state, throttled);
  if (before) wait = std::min(wait, s.cap);
  const bool jittered = !first || s.jitter_first || s.from == BackoffFrom::kThinkTime;
  const Duration made_random = jittered ? s.jitter.of(wait, random) : wait;
  // A wait that was cut off at 0 has lost its size: grown from it, all further ones would be 0.
  const bool from_jittered = s.grow_from == GrowFrom::kJittered && made_random > Duration::zero();
  state.backoff = from_jittered ? made_random : wait;
  if (first && s.first_at_once) return Duration::zero();
  return before ? made_random : std::min(made_random, s.cap);
}

}  // namespace retrystorm
