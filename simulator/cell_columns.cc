#include "simulator/cell_columns.h"

#include <array>
#include <cstdio>

#include "common/output/json_lines.h"
#include "common/output/report.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

std::string fixed(double value, int digits) {
  std::array<char, 400> text{};  // the greatest number has 309 digits before its point
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string percent(double share, int digits = 1) {
  return fixed(share * 100, digits) + "%";
}

std::string time_text(const std::optional<Duration>& time) {
  return time ? format_duration(*time) : "never";
}

std::string milliseconds(const std::optional<Duration>& time) {
  return time ? fixed(to_seconds(*time) * 1e3, 0) + "ms" : "-";
}

Json bound(const std::optional<Interval>& interval, double Interval::*end) {
  return interval ? share_json(*interval.*end) : Json(nullptr);
}

template <std::size_t CellResult::*kCount>
std::string share_text(const CellResult& cell) {
  return percent(static_cast<double>(cell.*kCount) / static_cast<double>(cell.runs));
}

template <std::size_t CellResult::*kCount>
Json count_json(const CellResult& cell) {
  return cell.*kCount;
}

template <std::optional<Duration> CellResult::*kTime>
std::string time_of(const CellResult& cell) {
  return cell.had_outage() ? time_text(cell.*kTime) : "-";
}

template <std::optional<Duration> CellResult::*kTime>
Json time_json(const CellResult& cell) {
  return seconds_json(cell.*kTime);
}

// Null where it falls on a run in which it never happened, or there are too few runs.
template <std::optional<TimeInterval> CellResult::*kInterval,
          std::optional<Duration> TimeInterval::*kEnd>
Json end_json(const CellResult& cell) {
  const auto& interval = cell.*kInterval;
  return seconds_json(interval ? (*interval).*kEnd : std::nullopt);
}

template <std::optional<double> CellResult::*kShare>
Json share_or_null(const CellResult& cell) {
  return cell.*kShare ? share_json(*(cell.*kShare)) : Json(nullptr);
}

using C = CellResult;
const CellColumn kColumns[] = {
    {"runs", 8, [](const C& c) { return std::to_string(c.runs); }, "runs", count_json<&C::runs>},
    {"recovered", 11, share_text<&C::recovered>, "recovered", count_json<&C::recovered>},
    {"relapsed", 10, share_text<&C::relapsed>, "relapsed", count_json<&C::relapsed>},
    {"recovering", 12, share_text<&C::recovering>, "recovering", count_json<&C::recovering>},
    {"undecided", 11, share_text<&C::undecided>, "undecided", count_json<&C::undecided>},
    {"collapsed", 11, share_text<&C::collapsed>, "collapsed", count_json<&C::collapsed>},
    {"95% interval", 14,
     [](const C& c) {
       return fixed(c.collapse_interval.low * 100, 1) + "-" + percent(c.collapse_interval.high);
     },
     "collapsed_low", [](const C& c) { return share_json(c.collapse_interval.low); }},
    {nullptr, 0, nullptr, "collapsed_high",
     [](const C& c) { return share_json(c.collapse_interval.high); }},
    {"errors gone", 13, time_of<&C::errors_gone_median>, "errors_gone_median_s",
     time_json<&C::errors_gone_median>},
    {"p90", 8, time_of<&C::errors_gone_p90>, "errors_gone_p90_s", time_json<&C::errors_gone_p90>},
    {"recovery", 10, time_of<&C::recovery_median>, "recovery_median_s",
     time_json<&C::recovery_median>},
    {"p90", 8, time_of<&C::recovery_p90>, "recovery_p90_s", time_json<&C::recovery_p90>},
    {"amplif.", 9, [](const C& c) { return fixed(c.amplification.value, 2); }, "amplification",
     [](const C& c) { return Json(rounded(c.amplification.value)); }},
    {"OK lost", 10, [](const C& c) { return fixed(c.ok_lost, 0); }, "ok_lost",
     [](const C& c) { return Json(rounded(c.ok_lost)); }},
    {"peak conc.", 12, [](const C& c) { return std::to_string(c.peak_concurrency); },
     "peak_concurrency", count_json<&C::peak_concurrency>},
    {"success", 10, [](const C& c) { return percent(c.success_share.value, 2); }, "success_share",
     [](const C& c) { return share_json(c.success_share.value); }},
    {nullptr, 0, nullptr, "success_share_low",
     [](const C& c) { return bound(c.success_share.interval, &Interval::low); }},
    {nullptr, 0, nullptr, "success_share_high",
     [](const C& c) { return bound(c.success_share.interval, &Interval::high); }},
    {nullptr, 0, nullptr, "amplification_low",
     [](const C& c) { return bound(c.amplification.interval, &Interval::low); }},
    {nullptr, 0, nullptr, "amplification_high",
     [](const C& c) { return bound(c.amplification.interval, &Interval::high); }},
    {"given up", 10, [](const C& c) { return fixed(c.gave_up, 0); }, "gave_up",
     [](const C& c) { return Json(rounded(c.gave_up)); }},
    {"not sent", 10, [](const C& c) { return fixed(c.not_sent, 0); }, "not_sent",
     [](const C& c) { return Json(rounded(c.not_sent)); }},
    {"req. p50", 10, [](const C& c) { return milliseconds(c.request_p50); }, "request_p50_ms",
     [](const C& c) { return milliseconds_json(c.request_p50); }},
    {"req. p99", 10, [](const C& c) { return milliseconds(c.request_p99); }, "request_p99_ms",
     [](const C& c) { return milliseconds_json(c.request_p99); }},
    {nullptr, 0, nullptr, "recovery_low_s", end_json<&C::recovery_interval, &TimeInterval::low>},
    {nullptr, 0, nullptr, "recovery_high_s", end_json<&C::recovery_interval, &TimeInterval::high>},
    {nullptr, 0, nullptr, "makespan_median_s", time_json<&C::makespan_median>},
    {nullptr, 0, nullptr, "makespan_low_s", end_json<&C::makespan_interval, &TimeInterval::low>},
    {nullptr, 0, nullptr, "makespan_high_s", end_json<&C::makespan_interval, &TimeInterval::high>},
    {nullptr, 0, nullptr, "throttled_share", share_or_null<&C::throttled_share>},
    {nullptr, 0, nullptr, "idle_share", share_or_null<&C::idle_share>},
    {nullptr, 0, nullptr, "provided_unit_s",
     [](const C& c) { return c.provided ? Json(rounded(*c.provided)) : Json(nullptr); }},
};

}  // namespace

std::span<const CellColumn> cell_columns() {
  return kColumns;
}

}  // namespace retrystorm
