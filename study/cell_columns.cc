#include "study/cell_columns.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <type_traits>

#include "common/output/json_text.h"
#include "common/output/report.h"
#include "common/output/style.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

// How a figure is printed. JSON and CSV have its number, a time in its name's unit; an empty one is null.
enum class Form {
  kWhole,  // with no digit behind the point; of times, in seconds and the like
  kTenths,
  kHundredths,
  kThousandths,
  kShare,  // in percent, with two digits
  kTenth,  // likewise, with one
  kFine,   // a time, rounded to milliseconds
  kLow,    // the lower end, which is not printed
  kHigh,   // the upper end, likewise
};

Json json_of(std::size_t count, Form) {
  return count;
}
Json json_of(double number, Form form) {
  return form == Form::kShare || form == Form::kTenth ? share_json(number) : Json(rounded(number));
}
Json json_of(Duration time, Form) {
  return seconds_json(time);
}
Json json_of(const TimeBound& time, Form form) {
  return form == Form::kHigh ? high_end_json(time) : low_end_json(time);
}
Json json_of(const TimeInterval& interval, Form form) {
  return seconds_json(form == Form::kLow ? interval.low : interval.high);
}
Json json_of(const Interval& interval, Form form) {
  return share_json(form == Form::kLow ? interval.low : interval.high);
}
template <typename Value>
Json json_of(const std::optional<Value>& value, Form form) {
  return value ? json_of(*value, form) : Json(nullptr);
}

std::string text_of(std::size_t count, Form) {
  return std::to_string(count);
}
std::string text_of(double number, Form form) {
  if (form == Form::kShare || form == Form::kTenth) {
    return narrow_percent(number, form == Form::kShare ? 2 : 1);
  }
  return fixed(number, static_cast<int>(form));
}
std::string text_of(Duration time, Form form) {
  return format_duration(form == Form::kFine ? std::chrono::round<std::chrono::milliseconds>(time)
                                             : time);
}
std::string text_of(const TimeBound& time, Form) {
  return (time.or_more ? ">" : "") + fixed(to_seconds(time.time) * 1e3, 0) + "ms";
}
template <typename Value>
std::string text_of(const std::optional<Value>& value, Form form) {
  if constexpr (std::is_same_v<Value, Interval> || std::is_same_v<Value, TimeInterval>)
    return "";
  else
    return value ? text_of(*value, form) : "-";
}

// A column of a figure that cells, or their phases, have. Without a title it is only for programs.
template <typename Of>
struct Column {
  const char* title;
  int width;
  const char* name;
  Json (*value)(const Of&);
  std::string (*text)(const Of&);
  const char* unit = "";  // behind the name of a phase
};

template <auto kFigure, Form kForm, typename Of>
Column<Of> column(const char* title, int width, const char* name, const char* unit = "",
                  std::string (*text)(const Of&) = nullptr) {
  if (text == nullptr) text = [](const Of& of) { return text_of(of.*kFigure, kForm); };
  return {title, width, name, [](const Of& of) { return json_of(of.*kFigure, kForm); }, text, unit};
}

using C = CellResult;
using Text = std::string (*)(const C&);

template <auto kFigure, Form kForm = Form::kWhole>
Column<C> of(const char* title, int width, const char* name, Text text = nullptr) {
  return column<kFigure, kForm, C>(title, width, name, "", text);
}

template <auto kFigure, Form kForm = Form::kWhole>
Column<C> hidden(const char* name) {
  return of<kFigure, kForm>("", 0, name);
}

// How many runs ended so.
template <auto kCount>
Column<C> runs(const char* name) {
  const auto text = [](const C& c) {
    return narrow_percent(static_cast<double>(c.*kCount) / static_cast<double>(c.runs), 1);
  };
  return of<kCount>(name, static_cast<int>(std::string_view(name).size()) + 2, name, text);
}

// A time of an outage, which may never come.
template <auto kTime>
std::string outage_text(const C& c) {
  return !c.had_outage() ? "-" : c.*kTime ? text_of(c.*kTime, Form::kWhole) : "never";
}

// Likewise, of the time after which this share of the runs, in percent, is back.
template <auto kTime, int kPercent>
std::string back_text(const C& c) {
  return !c.had_outage() || c.*kTime ? outage_text<kTime>(c)
                                     : std::string(c.not_back(kPercent / 100.0));
}

template <auto kTime>
std::string all_back_text(const C& c) {
  return !c.back_share ? "-" : c.*kTime ? text_of(c.*kTime, Form::kFine) : "never";
}

std::string down_text(const C& c) {
  const auto down = c.down();
  return down && c.unsettled().empty() ? narrow_percent(down->value, 1) : "-";
}

std::string down_interval_text(const C& c) {
  const auto down = c.down();
  if (!down || !c.unsettled().empty()) return "-";
  return fixed(down->interval.low * 100, 1) + "-" + narrow_percent(down->interval.high, 1);
}

template <double Interval::*kEnd>
Json down_end(const C& c) {
  const auto down = c.down();
  return down ? share_json(down->interval.*kEnd) : Json(nullptr);
}

std::string died_text(const C& c) {
  return c.died_first.empty() ? "-" : c.died_first + ' ' + narrow_percent(c.died_first_share, 1);
}

const Column<C> kColumns[] = {
    of<&C::runs>("runs", 8, "runs"),
    runs<&C::recovered>("recovered"),
    runs<&C::relapsed>("relapsed"),
    runs<&C::recovering>("recovering"),
    runs<&C::undecided>("undecided"),
    runs<&C::collapsed>("collapsed"),
    {"down", 8, "down",
     [](const C& c) {
       const auto down = c.down();
       return down ? share_json(down->value) : Json(nullptr);
     },
     down_text},
    {"95% interval", 14, "down_low", down_end<&Interval::low>, down_interval_text},
    {"", 0, "down_high", down_end<&Interval::high>, nullptr},
    of<&C::errors_gone>("errors gone", 13, "errors_gone_median_s", outage_text<&C::errors_gone>),
    of<&C::errors_gone_p90>("gone p90", 10, "errors_gone_p90_s", outage_text<&C::errors_gone_p90>),
    of<&C::time_to_recovery>("recovery", 10, "recovery_median_s",
                             back_text<&C::time_to_recovery, 50>),
    of<&C::recovery_p90>("rec. p90", 10, "recovery_p90_s", back_text<&C::recovery_p90, 90>),
    of<&C::amplification, Form::kHundredths>("amplif.", 9, "amplification"),
    of<&C::ok_lost>("OK lost", 10, "ok_lost"),
    of<&C::peak_concurrency>("peak conc.", 12, "peak_concurrency"),
    of<&C::success_share, Form::kShare>("success", 10, "success_share"),
    hidden<&C::success_interval, Form::kLow>("success_share_low"),
    hidden<&C::success_interval, Form::kHigh>("success_share_high"),
    hidden<&C::amplification_interval, Form::kLow>("amplification_low"),
    hidden<&C::amplification_interval, Form::kHigh>("amplification_high"),
    of<&C::gave_up>("given up", 10, "gave_up"),
    of<&C::not_sent>("not sent", 10, "not_sent"),
    hidden<&C::not_sent_share, Form::kShare>("not_sent_share"),
    of<&C::request_p50>("req. p50", 10, "request_p50_ms"),
    of<&C::request_p99>("req. p99", 10, "request_p99_ms"),
    hidden<&C::request_p50, Form::kHigh>("request_p50_ms_high"),
    hidden<&C::request_p99, Form::kHigh>("request_p99_ms_high"),
    hidden<&C::recovery_interval, Form::kLow>("recovery_low_s"),
    hidden<&C::recovery_interval, Form::kHigh>("recovery_high_s"),
    hidden<&C::makespan>("makespan_median_s"),
    hidden<&C::makespan_interval, Form::kLow>("makespan_low_s"),
    hidden<&C::makespan_interval, Form::kHigh>("makespan_high_s"),
    hidden<&C::throttled_share, Form::kShare>("throttled_share"),
    hidden<&C::idle_share, Form::kShare>("idle_share"),
    hidden<&C::provided>("provided_unit_s"),
    hidden<&C::ok_per_s>("ok_per_s"),
    hidden<&C::longest_without_ok>("longest_without_ok_s"),
};

// In place of columns that say nothing without an outage, and of one that only programs read.
const Column<C> kOkColumn = of<&C::ok_per_s, Form::kTenths>("OK/s", 9, "ok_per_s");
const Column<C> kMakespanColumn =
    of<&C::makespan>("makespan", 10, "makespan_median_s", [](const C& c) -> std::string {
      return c.jobs == 0 ? "-" : c.makespan ? text_of(c.makespan, Form::kWhole) : "never";
    });

// The titles of columns that say nothing without an outage.
constexpr std::array<std::string_view, 10> kOfOutage{
    "recovered",   "relapsed", "recovering", "undecided", "collapsed",
    "errors gone", "gone p90", "recovery",   "rec. p90",  "OK lost"};

const Column<C> kReconnectColumns[] = {
    of<&C::back_share, Form::kShare>("connected", 11, "back_share"),
    of<&C::all_back>("all after", 11, "all_back_median_s", all_back_text<&C::all_back>),
    of<&C::all_back_p90>("all p90", 11, "all_back_p90_s", all_back_text<&C::all_back_p90>),
};

const Column<C> kProcessColumns[] = {
    of<&C::processes>("processes", 11, "processes"),
    of<&C::process_rate, Form::kTenths>("req/s each", 12, "process_requests_per_s"),
};

const Column<C> kHedgeColumns[] = {
    of<&C::hedges, Form::kThousandths>("hedges", 9, "hedges_per_request"),
    of<&C::hedges_won, Form::kTenth>("won", 8, "hedges_won_share"),
};

const Column<C> kGraphColumns[] = {
    of<&C::last_calls, Form::kHundredths>("last calls", 12, "last_service_calls"),
    {"dies first", 18, "died_first",
     [](const C& c) { return c.died_first.empty() ? Json(nullptr) : Json(c.died_first); },
     died_text},
    {"", 0, "died_first_share",
     [](const C& c) {
       return c.died_first.empty() ? Json(nullptr) : share_json(c.died_first_share);
     },
     nullptr},
};

using P = PhaseResult;

template <auto kFigure, Form kForm = Form::kTenths>
Column<P> in_phase(const char* title, const char* name, const char* unit = "") {
  return column<kFigure, kForm, P>(title, 0, name, unit);
}

// The name of the phase comes at the end of the title, and in the middle of the name.
const Column<P> kPhaseColumns[] = {
    in_phase<&P::success, Form::kShare>("success", "success_"),
    in_phase<&P::gave_up>("given up", "gave_up_"),
    in_phase<&P::not_sent>("not sent", "not_sent_"),
    in_phase<&P::attempts_per_s>("attempts/s", "attempts_per_s_"),
    in_phase<&P::ok_per_s>("OK/s", "ok_per_s_"),
    in_phase<&P::timed_out>("timed out", "timed_out_"),
    in_phase<&P::errors>("errors", "errors_"),
    in_phase<&P::request_p50>("req. p50", "request_p50_", "_ms"),
    in_phase<&P::request_p99>("req. p99", "request_p99_", "_ms"),
    in_phase<&P::request_p50, Form::kHigh>("", "request_p50_", "_ms_high"),
    in_phase<&P::request_p99, Form::kHigh>("", "request_p99_", "_ms_high"),
};

Json errors_by_json(const P& phase) {
  if (!phase.errors) return nullptr;
  Json by = Json::object();
  for (std::size_t i = 0; i < phase.errors_by.size(); ++i) {
    if (phase.errors_by[i] > 0) by[std::string(kErrorKinds[i])] = rounded(phase.errors_by[i]);
  }
  return by;
}

const Column<P> kErrorsByColumn{"errors by", 0, "errors_by_", errors_by_json, [](const P& p) {
                                  return !p.errors_by.empty() ? pairs_text(errors_by_json(p)) : "-";
                                }};

CellColumn of_cell(const Column<C>& column) {
  return {column.title, column.width, column.text, column.name, column.value};
}

// `outage`: is there one in any row?
CellColumn of_phase(const Column<P>& column, std::size_t phase, bool outage) {
  const std::string when(kPhaseNames[phase]), named(column.title);
  const std::string title = named.empty() || !outage ? "" : named + ' ' + when;
  return {title, static_cast<int>(title.size()) + 2,
          [&column, phase](const C& c) { return column.text(c.phases[phase]); },
          column.name + when + column.unit,
          [&column, phase](const C& c) { return column.value(c.phases[phase]); }};
}

// Of the clients with this name. Null in a cell without them.
void add_clients(std::vector<CellColumn>& columns, const std::string& name) {
  const int width = static_cast<int>(name.size()) + 10;
  const std::string begin = "clients_" + underscored(name);
  const auto add = [&](const char* title, const char* end, double ClientsFigures::*figure,
                       Form form) {
    const auto value = [name, figure](const C& c) {
      const ClientsFigures* clients = find_clients(c.clients, name);
      return clients != nullptr ? std::optional(clients->*figure) : std::nullopt;
    };
    columns.push_back({name + title, width,
                       [value, form](const C& c) { return text_of(value(c), form); }, begin + end,
                       [value, form](const C& c) { return json_of(value(c), form); }});
  };
  add(" success", "_success_share", &ClientsFigures::success, Form::kShare);
  add(" amplif.", "_amplification", &ClientsFigures::attempts, Form::kHundredths);
}

}  // namespace

std::vector<CellColumn> cell_columns(const MoreColumns& more) {
  std::vector<CellColumn> columns;
  for (const Column<C>& each : kColumns) {
    const bool to_people =
        std::find(kOfOutage.begin(), kOfOutage.end(), each.title) == kOfOutage.end();
    const bool is = !more.outage && each.name == std::string_view(kOkColumn.name);
    const bool job = more.job && each.name == std::string_view(kMakespanColumn.name);
    columns.push_back(of_cell(is ? kOkColumn : job ? kMakespanColumn : each));
    if (!more.outage && !to_people) columns.back().title.clear();
  }
  for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    for (const auto& each : kPhaseColumns) columns.push_back(of_phase(each, phase, more.outage));
  }
  for (std::size_t phase = 0; more.errors_by && phase < kPhaseNames.size(); ++phase) {
    columns.push_back(of_phase(kErrorsByColumn, phase, more.outage));
  }
  const auto add_if = [&columns](bool some, const auto& others) {
    if (some)
      std::transform(std::begin(others), std::end(others), std::back_inserter(columns), of_cell);
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
