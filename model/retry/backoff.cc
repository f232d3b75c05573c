#include "model/retry/backoff.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "model/base/text.h"

namespace retrystorm {
namespace {

// factor^n by squaring, which gives the same result on every machine.
double power(double factor, std::uint32_t n) {
  double result = 1;
  for (; n > 0; n /= 2, factor *= factor) {
    if (n % 2 == 1) result *= factor;
  }
  return result;
}

// Not a comma, because commas separate values in settings files and sweeps.
constexpr char kBetweenNumbers = '+';

std::vector<double> parse_table(std::string_view text) {
  constexpr std::size_t kMostNumbers = 1000;
  constexpr double kMost = 1e9;
  std::vector<double> table;
  for (const std::string_view number : split(text, kBetweenNumbers)) {
    try {
      table.push_back(parse_number(number, 0, kMost));
    } catch (const std::invalid_argument& error) {
      refuse(std::string(error.what()) +
             ": these are multiples of --backoff-base, joined by +; "
             "waits of 1s, 1s, 2s, 3s are --backoff-base=1s "
             "--backoff-table=1+1+2+3");
    }
  }
  if (table.size() > kMostNumbers) refuse("more than 1000 numbers");
  return table;
}

std::string print_table(const std::vector<double>& table) {
  std::string text;
  for (const double number : table) {
    if (!text.empty()) text += kBetweenNumbers;
    // Without an exponent, because an exponent could contain a plus.
    std::array<char, 400> digits{};
    text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                             std::chars_format::fixed)
                                   .ptr);
  }
  return text;
}

// The wait before retry n (0 for the first one) by Polly's second formula (App-vNext/Polly,
// RetryHelper.cs): x(t) = 2^t * tanh(sqrt(4t)) at t = n + u, wait = (x - before) / 1.4 * median.
// `before` carries x to the next call. It is in units of the median and starts at 0.
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

void set_jitter(BackoffSettings& settings, const Jitter& jitter) {
  const bool other_kind = settings.jitter.kind != jitter.kind;
  settings.jitter = jitter;
  if (!other_kind) return;
  settings.grow_from = GrowFrom::kUnjittered;
  settings.jitter_first = true;
}

}  // namespace

void declare_options(OptionList& options, BackoffSettings& settings) {
  // Some libraries, such as gRPC, take factors below 1: the waits become shorter.
  constexpr double kLeast = 1e-3, kLarge = 1e9;
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
          settings.base, "how long to wait before the first retry")
      .basic = "Retries";
  options
      .number("backoff-factor,factor", settings.factor,
              "exponential: the factor by which each failure lengthens the wait", kLeast, kLarge)
      .with_range("1", "5");
  options.duration("backoff-step,linear-step", settings.step,
                   "linear: how much longer each failure makes the wait");
  options.text(
      "backoff-table",
      "table: the factors for the first, second, ... wait, such as 1+1+2+3+5 (Fibonacci); the "
      "last one repeats",
      [&table = settings.table](std::string_view text) { table = parse_table(text); },
      [&table = settings.table] { return print_table(table); });
  options
      .duration_or_none("backoff-cap,max-delay,maximum-backoff", settings.cap,
                        "how long a wait may be")
      .with_range("200ms", "2m");
  options.choice<CapApplies>(
      "cap-applies", settings.cap_applies,
      {{"before-jitter", CapApplies::kBeforeJitter}, {"after-jitter", CapApplies::kAfterJitter}},
      "whether the cap limits the wait before or after jitter is applied");
  const Jitter& jitter = settings.jitter;
  Option& randomness =
      options
          .text(
              "jitter",
              "the randomness of each wait, as KIND[:AMOUNT]: none, full, equal, normal:0.1 (or "
              "0.1), proportional:0.2, shorter:0.1, additive:1s or additive:1%, exponential, decorrelated, polly",
              [&settings](std::string_view text) { set_jitter(settings, parse_jitter(text)); },
              [&jitter] { return to_string(jitter); })
          .with_examples({"none", "full", "equal", "normal:0.1", "proportional:0.2", "additive:1s",
                          "decorrelated"});
  randomness.basic = "Retries";
  randomness.is_preset = true;
  Option& random = options.text(
      "random", "the same as --jitter=additive:DURATION",
      [&settings](std::string_view text) {
        if (text != kNoneWord) {
          set_jitter(settings, parse_jitter("additive:" + std::string(text)));
        } else if (settings.jitter.kind == Jitter::Kind::kAdditive) {
          set_jitter(settings, {});
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
      "exponential: whether each wait grows from the previous one before or after its jitter");
  options.choice<BackoffFrom>(
      "backoff-from", settings.from,
      {{"min-delay", BackoffFrom::kBase}, {"think-time", BackoffFrom::kThinkTime}},
      "exponential: whether waits start from min-delay (as in the article) or from the last "
      "think time (as in the original's code)");
  options.yes_or_no("jitter-first", settings.jitter_first,
                    "whether jitter is applied to the first wait");
  options.yes_or_no("first-at-once", settings.first_at_once,
                    "whether the first retry is sent at once");
  options
      .duration_or_none("throttled-base", settings.throttled_base,
                        "how long to wait before the first retry after 429, or 503 with "
                        "Retry-After; with --grow-from=jittered or --backoff-from=think-time the "
                        "shortest such wait; none = as after any failure")
      .with_range("100ms", "10s");
  options.needs("throttled-base", "growth!=none");
  options.needs("cap-applies", "backoff-cap");
  options.needs("cap-applies jitter-first", "jitter");
  options.needs("backoff-factor grow-from backoff-from", "growth=exponential");
  options.needs("backoff-step", "growth=linear");
  options.needs("backoff-table", "growth=table");
  // These compute the wait themselves.
  options.needs(
      "cap-applies jitter-first first-at-once throttled-base backoff-factor grow-from backoff-from "
      "backoff-step backoff-table",
      "jitter!=decorrelated|polly");
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
  // With two bases, the previous wait may have grown from the other one.
  const bool from_last = s.grow_from == GrowFrom::kJittered || s.from == BackoffFrom::kThinkTime;
  if (two_bases && !from_last) return scale(base, power(s.factor, n));
  if (n == 0 && s.from == BackoffFrom::kBase) return base;
  const Duration wait = scale(state.backoff, s.factor);
  return throttled && two_bases ? std::max(wait, base) : wait;
}

// The wait of the jitters that compute it from the previous wait.
Duration Backoff::remembered(RetryState& state, Random& random) const {
  const BackoffSettings& s = settings_;
  const double u = random.uniform();
  if (s.jitter.kind == Jitter::Kind::kDecorrelated) {
    const Duration last = state.retries == 0 ? s.base : state.backoff;
    // A cap below a third of the base would make it negative: the wait is the cap then in any case.
    const double spread = std::max(3 * to_seconds(last) - to_seconds(s.base), 0.0);
    state.backoff = std::min(saturating_add(s.base, from_seconds(u * spread)), s.cap);
    return state.backoff;
  }
  // `before` is stored as a time, with one second for one median. That is more precise than Polly.
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
  // A wait that was cut off at 0 cannot grow: all later waits would be 0 too.
  const bool from_jittered = s.grow_from == GrowFrom::kJittered && made_random > Duration::zero();
  state.backoff = from_jittered ? made_random : wait;
  if (first && s.first_at_once) return Duration::zero();
  return before ? made_random : std::min(made_random, s.cap);
}

namespace {

constexpr Duration kClampWidth = std::chrono::seconds(5);

}  // namespace

void declare_options(OptionList& options, HintUseSettings& settings) {
  options.group("Retry-After: what the server asks for");
  options.choice<HintUse>(
      "retry-after", settings.use,
      {{"ignore", HintUse::kIgnore},
       {"replace", HintUse::kReplace},
       {"at-least", HintUse::kAtLeast},
       {"clamp", HintUse::kClamp},
       {"spread", HintUse::kSpread}},
      "what the wait is after an answer with a Retry-After: unchanged, the Retry-After, the "
      "longer of the two, the same but at most 5 s more than unchanged, or the Retry-After plus "
      "up to half of it at random");
  options
      .duration_or_none("retry-after-max", settings.longest,
                        "how long a Retry-After may be; a longer one counts as this")
      .with_range("1s", "1m");
  options.needs("retry-after-max", "retry-after!=ignore");
}

Duration with_hint(const HintUseSettings& settings, Duration wait, std::optional<Duration> hint,
                   Random& random) {
  if (!hint) return wait;
  const Duration asked = std::min(*hint, settings.longest);
  switch (settings.use) {
    case HintUse::kIgnore:
      return wait;
    case HintUse::kReplace:
      return asked;
    case HintUse::kAtLeast:
      return std::max(wait, asked);
    case HintUse::kClamp:
      return std::clamp(asked, wait, saturating_add(wait, kClampWidth));
    case HintUse::kSpread:
      return saturating_add(asked, scale(asked, 0.5 * random.uniform()));
  }
  return wait;
}

void declare_options(OptionList& options, PacerSettings& settings) {
  options.group("Pacer: a pause before attempts that failures lengthen and successes shorten");
  options.yes_or_no(
      "pacer", settings.on,
      "whether each client pauses before its attempts, as in the strategy responsive");
  options.duration("initial-interval", settings.initial_interval,
                   "how long the first pause is; a pause that gets shorter than this ends",
                   Duration(1));
  options.duration("max-interval", settings.max_interval, "how long a pause may be", Duration(1));
  options
      .number("up-multiplier", settings.up_multiplier,
              "the factor by which each failure lengthens the pause", 1, 1e9)
      .with_range("1", "4");
  options.number("down-multiplier", settings.down_multiplier,
                 "the factor by which each step down shortens the pause", 0, 1);
  options.count("down-threshold", settings.down_threshold, "how many successes make a step down", 1,
                1'000'000'000);
  options.number("randomization", settings.randomization,
                 "how far each new pause varies at random, as a share of it", 0, 1);
  options.duration("max-randomization", settings.max_randomization, "how far it varies at most");
  options.needs("max-randomization", "randomization!=0");
  options.needs_after("pacer", "pacer=yes");
}

Duration Pacer::step_up(RetryState& state, Random& random) const {
  const PacerSettings& s = settings_;
  state.pause =
      state.pause == Duration::zero()
          ? std::min(s.initial_interval, s.max_interval)
          : std::min(randomized(scale(state.pause, s.up_multiplier), random), s.max_interval);
  return state.pause;
}

bool Pacer::count_success(RetryState& state, Random& random) const {
  const PacerSettings& s = settings_;
  if (++state.successes < s.down_threshold) return false;
  state.successes = 0;
  state.pause = randomized(scale(state.pause, s.down_multiplier), random);
  if (state.pause < s.initial_interval) state.pause = Duration::zero();
  return true;
}

// Uniform in x +- min(randomization * x, max_randomization).
Duration Pacer::randomized(Duration x, Random& random) const {
  const Duration spread = std::min(scale(x, settings_.randomization), settings_.max_randomization);
  if (spread == Duration::zero()) return x;
  const Duration drawn = saturating_add(x - spread, scale(spread, 2 * random.uniform()));
  return std::max(drawn, Duration::zero());
}

namespace {

// What follows the colon.
enum class Amount { kNone, kShare, kTimeOrPercent };

struct KindInfo {
  std::string_view name;
  Jitter::Kind kind;
  Amount amount;
  double preset_amount;  // the share if none is given
};
// In the order of the kinds.
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
  if (info == kKinds.end()) refuse(unknown_name(name, kind_names()));
  Jitter jitter{.kind = info->kind, .amount = info->preset_amount};
  if (info->amount == Amount::kTimeOrPercent) jitter.spread = kUsualSpread;
  if (colon == text.npos) return jitter;
  const std::string_view amount = text.substr(colon + 1);
  switch (info->amount) {
    case Amount::kNone:
      refuse(in_quotes(text) + ": " + std::string(name) + " jitter takes no amount");
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
  const KindInfo& info = kKinds[static_cast<std::size_t>(jitter.kind)];
  const std::string name(info.name);
  if (info.amount == Amount::kNone) return name;
  if (info.amount == Amount::kShare) return name + ':' + print_spread(jitter.amount);
  return name + ':' +
         (jitter.amount > 0 ? print_number(jitter.amount) + '%' : format_duration(jitter.spread));
}

}  // namespace retrystorm
