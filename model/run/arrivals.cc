#include "model/run/arrivals.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "model/base/text.h"
#include "model/run/recovery.h"

namespace retrystorm {
namespace {

constexpr std::size_t kMostLines = 1'000'000;
constexpr std::size_t kLongestFile = 32'000'000;
constexpr double kLastSecond = 1e9, kHighestRate = 1e9;  // the same rate as of --rate
const std::string kExpected =
    "; each line is 'seconds,rate', or each 'seconds', from the start of the run";
constexpr Duration kWindow = RecoveryTracker::kWindow;

// The windows from the start that have any of these times.
void count_windows(ArrivalFile& file) {
  const auto& times = file.times;
  file.rate = static_cast<double>(times.size()) / std::max(to_seconds(times.back()), 1.0);
  Duration end{0};  // of the last window
  for (std::size_t first = 0; first < times.size();) {
    const Duration begin = times[first] / kWindow * kWindow;
    if (begin > end) file.steps.push_back({end, 0});
    end = begin + kWindow;
    const std::size_t before = first;
    while (first < times.size() && times[first] < end) ++first;
    const double count = static_cast<double>(first - before);
    file.steps.push_back({begin, count / to_seconds(kWindow) / file.rate});
  }
  file.steps.push_back({end, 0});
}

// One line with a number of seconds, and perhaps a rate.
void add_line(ArrivalFile& file, const std::vector<std::string_view>& columns) {
  const Duration t =
      scale(std::chrono::seconds(1), parse_number(trimmed(columns.front()), 0, kLastSecond));
  const bool has_rate = columns.size() == 2;
  const bool is_first = file.steps.empty() && file.times.empty();
  const Duration last = is_first   ? Duration::min()
                        : has_rate ? file.steps.back().t
                                   : file.times.back();
  if (t < last || (has_rate && t == last)) {
    refuse(print_number(to_seconds(t)) + " s does not come after the " +
           print_number(to_seconds(last)) + " s before");
  }
  if (!has_rate) return file.times.push_back(t);
  const double rate = parse_rate(trimmed(columns.back()), 0, kHighestRate);
  if (is_first && t > Duration::zero()) file.steps.push_back({Duration::zero(), 0});
  file.steps.push_back({t, rate});
}

}  // namespace

ArrivalFile parse_arrivals(std::string_view text) {
  ArrivalFile file;
  std::size_t columns = 0, number = 0;
  bool may_be_heading = true;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const bool has_digits = line.find_first_of("0123456789") != line.npos;
    if (std::exchange(may_be_heading, false) && !has_digits) continue;
    try {
      const std::vector<std::string_view> values = split(line, ',');
      if (number > kMostLines) refuse("a million lines are the most");
      if (columns == 0) columns = values.size();
      if (columns > 2 || values.size() != columns) {
        refuse(in_quotes(line) + " has not as many columns as the others");
      }
      add_line(file, values);
    } catch (const std::invalid_argument& error) {
      refuse("line " + std::to_string(number) + ": " + error.what() + kExpected);
    }
  }
  for (const ArrivalStep& each : file.steps) file.rate = std::max(file.rate, each.load);
  for (ArrivalStep& each : file.steps) each.load /= file.rate;
  if (!file.times.empty()) count_windows(file);
  if (file.rate > 0) return file;
  refuse("nothing arrives" + kExpected);
}

std::span<const ArrivalStep> ArrivalPlan::steps() const {
  static constexpr std::array kAlways{ArrivalStep{}};
  if (file) return file->steps;
  return on() ? std::span<const ArrivalStep>(kAlways) : std::span<const ArrivalStep>();
}

std::string ArrivalPlan::unless_constant() const {
  const auto all = steps();
  const bool constant =
      !has_times() &&
      std::all_of(all.begin(), all.end(), [](const ArrivalStep& each) { return each.load == 1; });
  return constant ? "" : text;
}

ArrivalPlan parse_plan(std::string_view text) {
  constexpr std::string_view kFile = "file:", kPeriodic = "periodic:";
  if (text.starts_with(kPeriodic)) {
    const Duration period =
        parse_duration(text.substr(kPeriodic.size()), std::chrono::milliseconds(1));
    return {.text = std::string(kPeriodic) + format_duration(period), .period = period};
  }
  if (!text.starts_with(kFile)) return {};
  const std::string path(text.substr(kFile.size()));
  if (read_arrivals == nullptr) refuse("no files can be read here");
  const std::string lines = read_arrivals(path, kLongestFile, "--arrivals: ");
  try {
    auto file = std::make_shared<const ArrivalFile>(parse_arrivals(lines));
    const double rate = file->rate;
    return {.text = std::string(text), .file = std::move(file), .rate = rate};
  } catch (const std::invalid_argument& error) {
    refuse(in_quotes(path) + ": " + error.what());
  }
}

OpenArrivals::OpenArrivals(std::uint64_t seed, double rate, const ArrivalPlan& plan,
                           std::size_t clients, Duration splay)
    : random_(seed, kStream), mean_(from_seconds(1 / rate)), period_(plan.period) {
  if (plan.periodic()) {
    std::vector<Duration> moments(clients);
    for (Duration& each : moments) each = scale(splay, random_.uniform());
    std::sort(moments.begin(), moments.end());
    times_ = std::make_shared<const std::vector<Duration>>(std::move(moments));
  } else if (plan.has_times()) {
    times_ = {plan.file, &plan.file->times};
  }
}

Duration OpenArrivals::next_gap_of_times() {
  if (next_ == times_->size()) {
    if (period_ == Duration::zero()) return Duration::max();
    next_ = 0;
    period_start_ = saturating_add(period_start_, period_);
  }
  const Duration t = saturating_add(period_start_, (*times_)[next_++]);
  return t - std::exchange(last_, t);
}

}  // namespace retrystorm
