#include "retrystorm/known_service.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "model/base/text.h"
#include "policies/policy.h"
#include "policies/tree.h"

namespace retrystorm {
namespace {

constexpr double kZ99 = 2.3263478740408408;  // the normal distribution's 99 % quantile
constexpr double kUsualSpread = 0.5;         // that of lognormal:80ms
constexpr std::size_t kMostWorkers = 1'000'000;

// The share of requests that must wait for one of so many workers, of which `busy` are busy on average (Erlang C).
double waiting_share(std::size_t workers, double busy) {
  double refused = 1;  // if nobody waited (Erlang B)
  for (std::size_t n = 1; n <= workers; ++n) {
    refused = busy * refused / (static_cast<double>(n) + busy * refused);
  }
  return refused / (1 - busy / static_cast<double>(workers) * (1 - refused));
}

// A line such as `name_bucket{path="/",le="0.1"} 24 1700000000`.
struct Sample {
  std::string_view name{};
  std::optional<double> bound{};  // the label `le`
  double value = 0;
};

std::optional<double> number_of(std::string_view text) {
  if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
  return finite_number(text);
}

// Nothing if the line is not a sample.
std::optional<Sample> sample_of(std::string_view line) {
  Sample sample;
  const std::size_t name_end = line.find_first_of("{ \t");
  if (name_end == 0 || name_end == line.npos) return std::nullopt;
  sample.name = line.substr(0, name_end);
  line.remove_prefix(name_end);
  if (line.front() == '{') {
    line.remove_prefix(1);
    while (!line.empty() && line.front() != '}') {
      line.remove_prefix(std::min(line.find_first_not_of(", \t"), line.size()));
      if (line.starts_with('}')) break;
      const std::size_t quote = line.find('"');
      if (quote == line.npos || quote == 0) return std::nullopt;
      const std::string_view label = trimmed(line.substr(0, quote - 1));
      std::size_t end = quote + 1;
      while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
      if (end >= line.size()) return std::nullopt;
      if (label == "le") sample.bound = number_of(line.substr(quote + 1, end - quote - 1));
      line.remove_prefix(end + 1);
    }
    if (line.empty()) return std::nullopt;
    line.remove_prefix(1);
  }
  line = trimmed(line);
  // What is no count spoils the sums that it is part of.
  const auto value = number_of(line.substr(0, line.find_first_of(" \t")));
  sample.value = value && *value >= 0 ? *value : std::numeric_limits<double>::quiet_NaN();
  return sample;
}

// Whether the buckets only grow, up to the count, and the sum is one of times that are within their buckets.
bool is_possible(const TimeHistogram& times) {
  std::map<double, double> all = times.at_most;
  all.emplace(std::numeric_limits<double>::infinity(), times.count);
  double least = 0, most = 0, low = 0, below = 0;
  for (const auto& [bound, so_far] : all) {
    if (!(so_far >= below)) return false;
    if (so_far > below) least += (so_far - below) * low;
    if (so_far > below) most += (so_far - below) * bound;
    low = bound;
    below = so_far;
  }
  constexpr double kRounding = 1e-6;
  return times.count >= below && times.sum >= (1 - kRounding) * least &&
         times.sum <= (1 + kRounding) * most &&
         from_seconds(times.sum / times.count) > Duration::zero();
}

}  // namespace

std::optional<double> finite_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

KnownService completed(KnownService known) {
  const bool of_capacity = known.capacity > 0;
  if (known.workers > 0 && (known.used > 0 || of_capacity)) {
    refuse("--workers excludes --used and --capacity: give one of them");
  }
  if (of_capacity && known.used > 0) refuse("--capacity excludes --used: give one of them");
  if (of_capacity && !(known.rate < known.capacity)) refuse("--rate must be below --capacity");
  if (of_capacity) {
    known.used = known.rate / known.capacity;
  }
  const double factor = std::exp(kZ99 * std::sqrt(std::log1p(kUsualSpread * kUsualSpread)));
  if (known.p99 == Duration::zero()) known.p99 = scale(known.p50, factor);
  if (known.p50 == Duration::zero()) known.p50 = scale(known.p99, 1 / factor);
  return known;
}

EstimatedService estimate(const KnownService& known) {
  if (known.p50 == Duration::zero() && known.p99 == Duration::zero()) {
    refuse("how long does it take? Give --p50, --p99 or both, or --from-prometheus");
  }
  if (!(known.p99 > known.p50) || known.p50 <= Duration::zero()) {
    refuse(
        "--p99 must be above --p50, and above zero: give one of them, or both, or --from-prometheus");
  }
  if (!(known.rate > 0)) refuse("--rate must be above zero");
  if (known.workers == 0 && !(known.used > 0 && known.used < 1)) {
    refuse(known.used == 0 ? "how much can it do? Give --workers, --capacity or --used"
                           : "--used must be between 0 % and 100 %");
  }
  EstimatedService service;
  service.sigma = std::log(to_seconds(known.p99) / to_seconds(known.p50)) / kZ99;
  const double variance = service.sigma * service.sigma;
  service.mean = known.mean.value_or(scale(known.p50, std::exp(variance / 2)));
  service.variation = std::sqrt(std::expm1(variance));
  service.busy = known.rate * to_seconds(service.mean);
  if (known.workers > 0 && static_cast<double>(known.workers) <= service.busy) {
    refuse("--workers must be more than the " + print_number(std::round(10 * service.busy) / 10) +
           " that are busy: the rate times the mean time (Little)");
  }
  const double workers = known.workers > 0 ? static_cast<double>(known.workers)
                                           : std::round(service.busy / known.used);
  if (workers > kMostWorkers) {
    refuse("that would be more than " + std::to_string(kMostWorkers) +
           " workers: look at --rate and the times");
  }
  // All that come must be served.
  service.workers = std::max(static_cast<std::size_t>(workers),
                             static_cast<std::size_t>(std::floor(service.busy)) + 1);
  service.waits = waiting_share(service.workers, service.busy);
  return service;
}

std::optional<double> TimeHistogram::quantile(double q) const {
  const double rank = q * count;
  double low = 0, below = 0;
  for (const auto& [bound, so_far] : at_most) {
    if (std::isinf(bound)) break;
    if (so_far >= rank && so_far > below)
      return low + (bound - low) * (rank - below) / (so_far - below);
    low = bound;
    below = so_far;
  }
  return std::nullopt;
}

TimeHistogram read_histogram(std::string_view text, const std::string& name) {
  constexpr std::size_t kMost = 1'000, kMostNames = 50'000;
  std::map<std::string, TimeHistogram, std::less<>> all;
  std::map<std::string, std::pair<double, double>, std::less<>> totals;  // sum and count
  each_line(text, [&](std::string_view line, std::size_t) {
    line = trimmed(line);
    if (line.empty() || line.front() == '#') return;
    const auto sample = sample_of(line);
    if (!sample) return;
    const std::size_t base_end = std::min(sample->name.rfind('_'), sample->name.size());
    const std::string base(sample->name.substr(0, base_end));
    const std::string_view end = sample->name.substr(base_end);
    if (end == "_bucket" && sample->bound.value_or(0) > 0) {
      all[base].at_most[*sample->bound] += sample->value;
    } else if (end == "_sum") {
      totals[base].first += sample->value;
    } else if (end == "_count") {
      totals[base].second += sample->value;
    }
    if (all.size() > kMost) throw BadFile("more than 1000 histograms: too large to be read");
    if (totals.size() > kMostNames) throw BadFile("more than 50000 names: too large to be read");
  });
  std::vector<std::string_view> names;
  for (const auto& [each, ignored] : all) names.push_back(each);
  if (names.empty())
    throw BadFile("there is no histogram in it (lines with _bucket{...le=\"0.1\"})");
  if (name.empty() && names.size() > 1) {
    constexpr std::size_t kShown = 10;
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
      list += (i == 0 ? "" : ", ") + shown(names[i]);
    }
    if (names.size() > kShown) list += ", ...";
    throw BadFile("there are " + std::to_string(names.size()) +
                  " histograms in it: choose one with --metric: " + list);
  }
  const auto found = name.empty() ? all.begin() : all.find(name);
  if (found == all.end()) {
    const auto nearest_one = nearest(name, names);
    throw BadFile("there is no histogram " + in_quotes(printable(name)) + " in it" +
                  (nearest_one.empty() ? "" : " (did you mean " + shown(nearest_one) + "?)"));
  }
  TimeHistogram result = found->second;
  const auto total = totals.find(found->first);
  if (total == totals.end() || !(total->second.second > 0)) {
    throw BadFile(shown(found->first) + " has no _sum and _count, or nothing was counted");
  }
  result.sum = total->second.first;
  result.count = total->second.second;
  const bool milliseconds =
      found->first.ends_with("_milliseconds") || found->first.ends_with("_ms");
  if (milliseconds) {
    result.sum /= 1'000;
    std::map<double, double> seconds;
    for (const auto& [bound, so_far] : result.at_most) seconds[bound / 1'000] = so_far;
    result.at_most = std::move(seconds);
  }
  if (!is_possible(result)) {
    throw BadFile(shown(found->first) + ": its _sum, _count and buckets do not fit together");
  }
  return result;
}

}  // namespace retrystorm
