#include "study/cell_columns.h"

#include <array>
#include <chrono>
#include <iterator>

#include "common/output/fixed.h"
#include "common/output/json_text.h"
#include "common/output/report.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

std::string time_text(const std::optional<Duration>& time) {
  return time ? format_duration(*time) : "never";
}

// Rounded to milliseconds.
std::string fine_time_text(const std::optional<Duration>& time) {
  return time ? format_duration(std::chrono::round<std::chrono::milliseconds>(*time)) : "never";
}

std::string milliseconds(const std::optional<TimeBound>& time) {
  return time ? (time->or_more ? ">" : "") + fixed(to_seconds(time->time) * 1e3, 0) + "ms" : "-";
}

Json bound(const std::optional<Interval>& interval, double Interval::*end) {
  return interval ? share_json(*interval.*end) : Json(nullptr);
}

std::optional<Interval> interval_of(const std::optional<Share>& some) {
  return some ? std::optional(some->interval) : std::nullopt;
}

template <std::size_t CellResult::*kCount>
std::string share_text(const CellResult& cell) {
  return narrow_percent(static_cast<double>(cell.*kCount) / static_cast<double>(cell.runs), 1);
}

template <std::size_t CellResult::*kCount>
Json count_json(const CellResult& cell) {
  return cell.*kCount;
}

template <std::optional<Duration> CellResult::*kTime>
std::string time_of(const CellResult& cell) {
  return cell.had_outage() ? time_text(cell.*kTime) : "-";
}

// Likewise, of the time after which this share of the runs, in percent, is back.
template <std::optional<Duration> CellResult::*kTime, int kPercent>
std::string back_text(const CellResult& cell) {
  if (!cell.had_outage() || cell.*kTime) return time_of<kTime>(cell);
  return std::string(cell.not_back(kPercent / 100.0));
}

template <std::optional<Duration> CellResult::*kTime>
Json time_json(const CellResult& cell) {
  return seconds_json(cell.*kTime);
}

// Null if it falls on a run in which the event never happened, or if there are too few runs.
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

std::string number_text(std::optional<double> number, int digits) {
  return number ? fixed(*number, digits) : "-";
}

Json number_json(std::optional<double> number) {
  return number ? Json(rounded(*number)) : Json(nullptr);
}

using C = CellResult;
const CellColumn kColumns[] = {
    {"runs", 8, [](const C& c) { return std::to_string(c.runs); }, "runs", count_json<&C::runs>},
    {"recovered", 11, share_text<&C::recovered>, "recovered", count_json<&C::recovered>},
    {"relapsed", 10, share_text<&C::relapsed>, "relapsed", count_json<&C::relapsed>},
    {"recovering", 12, share_text<&C::recovering>, "recovering", count_json<&C::recovering>},
    {"undecided", 11, share_text<&C::undecided>, "undecided", count_json<&C::undecided>},
    {"collapsed", 11, share_text<&C::collapsed>, "collapsed", count_json<&C::collapsed>},
    {"down", 8,
     [](const C& c) {
       const auto down = c.down();
       return down && c.unsettled().empty() ? narrow_percent(down->value, 1) : "-";
     },
     "down",
     [](const C& c) {
       const auto down = c.down();
       return down ? share_json(down->value) : Json(nullptr);
     }},
    {"95% interval", 14,
     [](const C& c) {
       const auto down = c.down();
       if (!down || !c.unsettled().empty()) return std::string("-");
       return fixed(down->interval.low * 100, 1) + "-" + narrow_percent(down->interval.high, 1);
     },
     "down_low", [](const C& c) { return bound(interval_of(c.down()), &Interval::low); }},
    {"", 0, nullptr, "down_high",
     [](const C& c) { return bound(interval_of(c.down()), &Interval::high); }},
    {"errors gone", 13, time_of<&C::errors_gone_median>, "errors_gone_median_s",
     time_json<&C::errors_gone_median>},
    {"gone p90", 10, time_of<&C::errors_gone_p90>, "errors_gone_p90_s",
     time_json<&C::errors_gone_p90>},
    {"recovery", 10, back_text<&C::recovery_median, 50>, "recovery_median_s",
     time_json<&C::recovery_median>},
    {"rec. p90", 10, back_text<&C::recovery_p90, 90>, "recovery_p90_s",
     time_json<&C::recovery_p90>},
    {"amplif.", 9, [](const C& c) { return fixed(c.amplification.value, 2); }, "amplification",
     [](const C& c) { return Json(rounded(c.amplification.value)); }},
    {"OK lost", 10, [](const C& c) { return fixed(c.ok_lost, 0); }, "ok_lost",
     [](const C& c) { return Json(rounded(c.ok_lost)); }},
    {"peak conc.", 12, [](const C& c) { return std::to_string(c.peak_concurrency); },
     "peak_concurrency", count_json<&C::peak_concurrency>},
    {"success", 10, [](const C& c) { return narrow_percent(c.success_share.value, 2); },
     "success_share", [](const C& c) { return share_json(c.success_share.value); }},
    {"", 0, nullptr, "success_share_low",
     [](const C& c) { return bound(c.success_share.interval, &Interval::low); }},
    {"", 0, nullptr, "success_share_high",
     [](const C& c) { return bound(c.success_share.interval, &Interval::high); }},
    {"", 0, nullptr, "amplification_low",
     [](const C& c) { return bound(c.amplification.interval, &Interval::low); }},
    {"", 0, nullptr, "amplification_high",
     [](const C& c) { return bound(c.amplification.interval, &Interval::high); }},
    {"given up", 10, [](const C& c) { return fixed(c.gave_up, 0); }, "gave_up",
     [](const C& c) { return Json(rounded(c.gave_up)); }},
    {"not sent", 10, [](const C& c) { return fixed(c.not_sent, 0); }, "not_sent",
     [](const C& c) { return Json(rounded(c.not_sent)); }},
    {"req. p50", 10, [](const C& c) { return milliseconds(c.request_p50); }, "request_p50_ms",
     [](const C& c) { return low_end_json(c.request_p50); }},
    {"req. p99", 10, [](const C& c) { return milliseconds(c.request_p99); }, "request_p99_ms",
     [](const C& c) { return low_end_json(c.request_p99); }},
    {"", 0, nullptr, "request_p50_ms_high",
     [](const C& c) { return high_end_json(c.request_p50); }},
    {"", 0, nullptr, "request_p99_ms_high",
     [](const C& c) { return high_end_json(c.request_p99); }},
    {"", 0, nullptr, "recovery_low_s", end_json<&C::recovery_interval, &TimeInterval::low>},
    {"", 0, nullptr, "recovery_high_s", end_json<&C::recovery_interval, &TimeInterval::high>},
    {"", 0, nullptr, "makespan_median_s", time_json<&C::makespan_median>},
    {"", 0, nullptr, "makespan_low_s", end_json<&C::makespan_interval, &TimeInterval::low>},
    {"", 0, nullptr, "makespan_high_s", end_json<&C::makespan_interval, &TimeInterval::high>},
    {"", 0, nullptr, "throttled_share", share_or_null<&C::throttled_share>},
    {"", 0, nullptr, "idle_share", share_or_null<&C::idle_share>},
    {"", 0, nullptr, "provided_unit_s", [](const C& c) { return number_json(c.provided); }},
    {"", 0, nullptr, "ok_per_s", [](const C& c) { return Json(rounded(c.ok_per_s)); }},
    {"", 0, nullptr, "longest_without_ok_s", time_json<&C::longest_without_ok>},
};

const CellColumn kReconnectColumns[] = {
    {"connected", 11,
     [](const C& c) { return c.back_share ? narrow_percent(*c.back_share, 2) : "-"; }, "back_share",
     share_or_null<&C::back_share>},
    {"all after", 11,
     [](const C& c) { return c.back_share ? fine_time_text(c.all_back_median) : "-"; },
     "all_back_median_s", time_json<&C::all_back_median>},
    {"all p90", 11, [](const C& c) { return c.back_share ? fine_time_text(c.all_back_p90) : "-"; },
     "all_back_p90_s", time_json<&C::all_back_p90>},
};

const CellColumn kProcessColumns[] = {
    {"processes", 11, [](const C& c) { return number_text(c.processes, 0); }, "processes",
     [](const C& c) { return number_json(c.processes); }},
    {"req/s each", 12, [](const C& c) { return number_text(c.process_rate, 1); },
     "process_requests_per_s", [](const C& c) { return number_json(c.process_rate); }},
};

const CellColumn kHedgeColumns[] = {
    {"hedges", 9, [](const C& c) { return number_text(c.hedges, 3); }, "hedges_per_request",
     [](const C& c) { return number_json(c.hedges); }},
    {"won", 8,
     [](const C& c) { return c.hedges_won ? narrow_percent(*c.hedges_won, 1) : std::string("-"); },
     "hedges_won_share", share_or_null<&C::hedges_won>},
};

const CellColumn kGraphColumns[] = {
    {"last calls", 12, [](const C& c) { return number_text(c.last_calls, 2); },
     "last_service_calls", [](const C& c) { return number_json(c.last_calls); }},
    {"dies first", 18,
     [](const C& c) {
       return c.died_first.empty() ? std::string("-")
                                   : c.died_first + ' ' + narrow_percent(c.died_first_share, 1);
     },
     "died_first",
     [](const C& c) { return c.died_first.empty() ? Json(nullptr) : Json(c.died_first); }},
    {"", 0, nullptr, "died_first_share",
     [](const C& c) {
       return c.died_first.empty() ? Json(nullptr) : share_json(c.died_first_share);
     }},
};

// The columns of a phase, named in this order: success, gave_up, not_sent, attempts_per_s,
// ok_per_s, timed_out, errors, request_p50, request_p99, and their upper ends.
constexpr std::size_t kPhaseColumns = 11;
constexpr std::array<std::array<const char*, kPhaseColumns>, kPhaseNames.size()> kPhaseColumnNames{
    {{"success_before", "gave_up_before", "not_sent_before", "attempts_per_s_before",
      "ok_per_s_before", "timed_out_before", "errors_before", "request_p50_before_ms",
      "request_p99_before_ms", "request_p50_before_ms_high", "request_p99_before_ms_high"},
     {"success_during", "gave_up_during", "not_sent_during", "attempts_per_s_during",
      "ok_per_s_during", "timed_out_during", "errors_during", "request_p50_during_ms",
      "request_p99_during_ms", "request_p50_during_ms_high", "request_p99_during_ms_high"},
     {"success_after", "gave_up_after", "not_sent_after", "attempts_per_s_after", "ok_per_s_after",
      "timed_out_after", "errors_after", "request_p50_after_ms", "request_p99_after_ms",
      "request_p50_after_ms_high", "request_p99_after_ms_high"}}};

template <std::size_t kPhase, std::optional<double> PhaseResult::*kFigure>
Json phase_number_json(const CellResult& cell) {
  return number_json(cell.phases[kPhase].*kFigure);
}

template <std::size_t kPhase, std::optional<TimeBound> PhaseResult::*kTime>
Json phase_time_json(const CellResult& cell) {
  return low_end_json(cell.phases[kPhase].*kTime);
}

template <std::size_t kPhase, std::optional<TimeBound> PhaseResult::*kTime>
Json phase_high_json(const CellResult& cell) {
  return high_end_json(cell.phases[kPhase].*kTime);
}

template <std::size_t kPhase>
Json phase_success_json(const CellResult& cell) {
  const auto& success = cell.phases[kPhase].success;
  return success ? share_json(*success) : Json(nullptr);
}

template <std::size_t kPhase>
std::string phase_success_text(const CellResult& cell) {
  const auto& success = cell.phases[kPhase].success;
  return success ? narrow_percent(*success, 2) : "-";
}

template <std::size_t kPhase>
void add_phase(std::vector<CellColumn>& columns) {
  using P = PhaseResult;
  constexpr auto kValues = std::to_array<Json (*)(const CellResult&)>(
      {phase_success_json<kPhase>, phase_number_json<kPhase, &P::gave_up>,
       phase_number_json<kPhase, &P::not_sent>, phase_number_json<kPhase, &P::attempts_per_s>,
       phase_number_json<kPhase, &P::ok_per_s>, phase_number_json<kPhase, &P::timed_out>,
       phase_number_json<kPhase, &P::errors>, phase_time_json<kPhase, &P::request_p50>,
       phase_time_json<kPhase, &P::request_p99>, phase_high_json<kPhase, &P::request_p50>,
       phase_high_json<kPhase, &P::request_p99>});
  static_assert(kValues.size() == kPhaseColumns);
  for (std::size_t i = 0; i < kPhaseColumns; ++i) {
    columns.push_back({"", 0, nullptr, kPhaseColumnNames[kPhase][i], kValues[i]});
  }
  if (kPhase == 0) return;
  // The success in the outage and after it is for people too.
  CellColumn& success = columns[columns.size() - kPhaseColumns];
  success.title = kPhase == 1 ? "in outage" : "after it";
  success.width = kPhase == 1 ? 11 : 10;
  success.text = phase_success_text<kPhase>;
}

// Of the clients with this name. Null in a cell without them.
void add_clients(std::vector<CellColumn>& columns, const std::string& name) {
  const auto of = [name](double ClientsFigures::*figure) {
    return [name, figure](const C& c) {
      const ClientsFigures* clients = find_clients(c.clients, name);
      return clients != nullptr ? std::optional(clients->*figure) : std::nullopt;
    };
  };
  const auto success = of(&ClientsFigures::success), attempts = of(&ClientsFigures::attempts);
  const int width = static_cast<int>(name.size()) + 10;
  const std::string begin = "clients_" + underscored(name);
  columns.push_back(
      {name + " success", width,
       [success](const C& c) { return success(c) ? narrow_percent(*success(c), 2) : "-"; },
       begin + "_success_share",
       [success](const C& c) { return success(c) ? share_json(*success(c)) : Json(nullptr); }});
  columns.push_back(
      {name + " amplif.", width, [attempts](const C& c) { return number_text(attempts(c), 2); },
       begin + "_amplification", [attempts](const C& c) { return number_json(attempts(c)); }});
}

}  // namespace

std::vector<CellColumn> cell_columns(const MoreColumns& more) {
  std::vector<CellColumn> columns(std::begin(kColumns), std::end(kColumns));
  add_phase<0>(columns);
  add_phase<1>(columns);
  add_phase<2>(columns);
  if (more.reconnects) {
    columns.insert(columns.end(), std::begin(kReconnectColumns), std::end(kReconnectColumns));
  }
  if (more.processes) {
    columns.insert(columns.end(), std::begin(kProcessColumns), std::end(kProcessColumns));
  }
  if (more.hedges) {
    columns.insert(columns.end(), std::begin(kHedgeColumns), std::end(kHedgeColumns));
  }
  if (more.graph) {
    columns.insert(columns.end(), std::begin(kGraphColumns), std::end(kGraphColumns));
  }
  for (const std::string& name : more.clients) add_clients(columns, name);
  return columns;
}

std::vector<std::string> cell_names(std::vector<std::string> labels, const MoreColumns& more) {
  for (const CellColumn& column : cell_columns(more)) labels.emplace_back(column.name);
  return labels;
}

CellValues cell_values(const std::vector<std::string>& labels, const CellResult& cell,
                       const MoreColumns& more) {
  std::vector<Json> values(labels.begin(), labels.end());
  for (const CellColumn& column : cell_columns(more)) values.push_back(column.value(cell));
  return values;
}

}  // namespace retrystorm
