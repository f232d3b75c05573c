#include "study/cell_columns.h"

#include <algorithm>
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
    {"", 0, nullptr, "not_sent_share", [](const C& c) { return share_json(c.not_sent_share); }},
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

// The titles of columns that say nothing without an outage.
constexpr std::array<std::string_view, 10> kOfOutage{
    "recovered",   "relapsed", "recovering", "undecided", "collapsed",
    "errors gone", "gone p90", "recovery",   "rec. p90",  "OK lost"};

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

using P = PhaseResult;

template <std::optional<double> P::*kFigure>
std::string phase_text(const P& phase) {
  return number_text(phase.*kFigure, 1);
}

template <std::optional<double> P::*kFigure>
Json phase_json(const P& phase) {
  return number_json(phase.*kFigure);
}

Json errors_by_json(const P& phase) {
  if (!phase.errors) return nullptr;
  Json by = Json::object();
  for (std::size_t i = 0; i < phase.errors_by.size(); ++i) {
    if (phase.errors_by[i] > 0) by[std::string(kErrorKinds[i])] = rounded(phase.errors_by[i]);
  }
  return by;
}

// Likewise, of one phase: its name comes at the end of the title, and in the middle of the name.
struct PhaseColumn {
  const char* title;
  std::string (*text)(const P&);
  const char* name;
  const char* unit;
  Json (*value)(const P&);
};

const PhaseColumn kPhaseColumns[] = {
    {"success", [](const P& p) { return p.success ? narrow_percent(*p.success, 2) : "-"; },
     "success_", "", [](const P& p) { return p.success ? share_json(*p.success) : Json(nullptr); }},
    {"given up", phase_text<&P::gave_up>, "gave_up_", "", phase_json<&P::gave_up>},
    {"not sent", phase_text<&P::not_sent>, "not_sent_", "", phase_json<&P::not_sent>},
    {"attempts/s", phase_text<&P::attempts_per_s>, "attempts_per_s_", "",
     phase_json<&P::attempts_per_s>},
    {"OK/s", phase_text<&P::ok_per_s>, "ok_per_s_", "", phase_json<&P::ok_per_s>},
    {"timed out", phase_text<&P::timed_out>, "timed_out_", "", phase_json<&P::timed_out>},
    {"errors", phase_text<&P::errors>, "errors_", "", phase_json<&P::errors>},
    {"req. p50", [](const P& p) { return milliseconds(p.request_p50); }, "request_p50_", "_ms",
     [](const P& p) { return low_end_json(p.request_p50); }},
    {"req. p99", [](const P& p) { return milliseconds(p.request_p99); }, "request_p99_", "_ms",
     [](const P& p) { return low_end_json(p.request_p99); }},
    {"", nullptr, "request_p50_", "_ms_high",
     [](const P& p) { return high_end_json(p.request_p50); }},
    {"", nullptr, "request_p99_", "_ms_high",
     [](const P& p) { return high_end_json(p.request_p99); }},
};

const PhaseColumn kErrorsByColumn{
    "errors by",
    [](const P& p) { return !p.errors_by.empty() ? pairs_text(errors_by_json(p)) : "-"; },
    "errors_by_", "", errors_by_json};

// `outage`: is there one in any row?
void add_phase(std::vector<CellColumn>& columns, const PhaseColumn& column, std::size_t phase,
               bool outage) {
  const std::string when(kPhaseNames[phase]);
  const std::string title = column.text == nullptr || !outage ? "" : column.title + (' ' + when);
  columns.push_back({title, static_cast<int>(title.size()) + 2,
                     [&column, phase](const C& c) { return column.text(c.phases[phase]); },
                     column.name + when + column.unit,
                     [&column, phase](const C& c) { return column.value(c.phases[phase]); }});
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
  for (CellColumn& column : columns) {
    if (!more.outage &&
        std::find(kOfOutage.begin(), kOfOutage.end(), column.title) != kOfOutage.end()) {
      column.title.clear();
    }
    if (!more.outage && column.name == "ok_per_s") {
      column.title = "OK/s";
      column.width = 9;
      column.text = [](const C& c) { return fixed(c.ok_per_s, 1); };
    }
    if (!more.job || column.name != "makespan_median_s") continue;
    column.title = "makespan";
    column.width = 10;
    column.text = [](const C& c) { return c.jobs > 0 ? time_text(c.makespan_median) : "-"; };
  }
  for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    for (const PhaseColumn& each : kPhaseColumns) add_phase(columns, each, phase, more.outage);
  }
  for (std::size_t phase = 0; more.errors_by && phase < kPhaseNames.size(); ++phase) {
    add_phase(columns, kErrorsByColumn, phase, more.outage);
  }
  const auto add_if = [&columns](bool some, const auto& others) {
    if (some) columns.insert(columns.end(), std::begin(others), std::end(others));
  };
  add_if(more.reconnects, kReconnectColumns);
  add_if(more.processes, kProcessColumns);
  add_if(more.hedges, kHedgeColumns);
  add_if(more.graph, kGraphColumns);
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
