#include "tests/validation/validation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "study/evaluator.h"
#include "study/rows.h"
#include "study/statistics.h"

namespace retrystorm::validation {
namespace {

std::string print(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

// The relative difference between sums of the same figures, by rounding.
constexpr double kLastDigits = 1e-12;

// Prints five digits, or all digits of a whole number.
std::string figure(double value) {
  const double off = std::abs(value - std::round(value));
  const bool whole = off <= kLastDigits * std::abs(value) && std::abs(value) < 1e9;
  return print(whole ? "%.0f" : "%.5g", value);
}

}  // namespace

Finding judge(const Case& which, const std::vector<double>& measured) {
  constexpr double kRounding = 1e-6;
  const Mean found = mean(measured);
  const double half_width = (found.interval.value().high - found.interval.value().low) / 2;
  const double off = std::abs(found.value - which.expected);
  const double allowed = std::max(2 * half_width, which.tolerance * which.expected);
  if (which.relation == Case::Relation::kLess) {
    const bool agrees = found.value + 2 * half_width < which.expected;
    const bool may = found.value - 2 * half_width < which.expected;
    return {which, found.value, half_width, agrees, may && !agrees};
  }
  const bool is_near = off <= allowed + kRounding * which.expected;
  const bool is_narrow = half_width <= .05 * which.expected;
  return {which, found.value, half_width, is_near && is_narrow, is_near && !is_narrow};
}

std::vector<Finding> validate(const std::vector<Case>& cases, std::size_t seeds,
                              std::size_t threads) {
  std::vector<std::vector<double>> measured(cases.size(), std::vector<double>(seeds));
  std::atomic<std::size_t> next{0};
  const std::size_t all = cases.size() * seeds;
  run_on_threads(
      std::min(threads, all),
      [&] {
        for (std::size_t i = next++; i < all; i = next++) {
          // Each case has other seeds, so that the same chance events do not affect several cases.
          const std::size_t which = i / seeds, run = i % seeds;
          const std::uint64_t seed = 100 * (which + 1) + run + 1;
          measured[which][run] = cases[which].measure(seed);
        }
      },
      [&] { next = all; });
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < cases.size(); ++i) findings.push_back(judge(cases[i], measured[i]));
  return findings;
}

Cells cells(const Finding& finding) {
  const Case& which = finding.held_against;
  const bool none = finding.half_width <= kLastDigits * std::abs(finding.measured);
  std::string expected = which.relation == Case::Relation::kLess ? "<" : "";
  expected += figure(which.expected);
  return {std::to_string(which.row),
          which.what,
          expected,
          figure(finding.measured),
          none ? "0" : print(finding.half_width < 100 ? "%.2g" : "%.0f", finding.half_width),
          finding.agrees      ? "yes"
          : finding.undecided ? "too few seeds to tell"
                              : "no"};
}

std::string csv_line(const Cells& cells) {
  return csv_row(std::vector<std::string>(cells.begin(), cells.end()));
}

}  // namespace retrystorm::validation
