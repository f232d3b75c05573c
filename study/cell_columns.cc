#include "study/cell_columns.h"

#include "common/output/json_text.h"
#include "common/output/report.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

// How a figure is written: a time in its name's unit, an empty one as null.
enum class Form { kNumber, kShare, kLow, kHigh };  // the last two are the ends of an interval

Json json_of(std::size_t count, Form) {
  return count;
}
Json json_of(double number, Form form) {
  return form == Form::kShare ? share_json(number) : Json(rounded(number));
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

// A figure that cells, or their phases, have.
template <typename Of>
struct Column {
  const char* name;
  Json (*value)(const Of&);
  const char* unit = "";  // behind the name of a phase
};

template <auto kFigure, Form kForm = Form::kNumber, typename Of = CellResult>
Column<Of> of(const char* name, const char* unit = "") {
  return {name, [](const Of& of) { return json_of(of.*kFigure, kForm); }, unit};
}

using C = CellResult;

template <double Interval::*kEnd>
Json down_end(const C& c) {
  const auto down = c.down();
  return down ? share_json(down->interval.*kEnd) : Json(nullptr);
}

const Column<C> kColumns[] = {
    of<&C::runs>("runs"),
    of<&C::recovered>("recovered"),
    of<&C::relapsed>("relapsed"),
    of<&C::recovering>("recovering"),
    of<&C::undecided>("undecided"),
    of<&C::collapsed>("collapsed"),
    {"down",
     [](const C& c) {
       const auto down = c.down();
       return down ? share_json(down->value) : Json(nullptr);
     }},
    {"down_low", down_end<&Interval::low>},
    {"down_high", down_end<&Interval::high>},
    of<&C::errors_gone>("errors_gone_median_s"),
    of<&C::errors_gone_p90>("errors_gone_p90_s"),
    of<&C::time_to_recovery>("recovery_median_s"),
    of<&C::recovery_p90>("recovery_p90_s"),
    of<&C::amplification>("amplification"),
    of<&C::ok_lost>("ok_lost"),
    of<&C::peak_concurrency>("peak_concurrency"),
    of<&C::success_share, Form::kShare>("success_share"),
    of<&C::success_interval, Form::kLow>("success_share_low"),
    of<&C::success_interval, Form::kHigh>("success_share_high"),
    of<&C::amplification_interval, Form::kLow>("amplification_low"),
    of<&C::amplification_interval, Form::kHigh>("amplification_high"),
    of<&C::gave_up>("gave_up"),
    of<&C::not_sent>("not_sent"),
    of<&C::not_sent_share, Form::kShare>("not_sent_share"),
    of<&C::request_p50>("request_p50_ms"),
    of<&C::request_p99>("request_p99_ms"),
    of<&C::request_p50, Form::kHigh>("request_p50_ms_high"),
    of<&C::request_p99, Form::kHigh>("request_p99_ms_high"),
    of<&C::recovery_interval, Form::kLow>("recovery_low_s"),
    of<&C::recovery_interval, Form::kHigh>("recovery_high_s"),
    of<&C::makespan>("makespan_median_s"),
    of<&C::makespan_interval, Form::kLow>("makespan_low_s"),
    of<&C::makespan_interval, Form::kHigh>("makespan_high_s"),
    of<&C::throttled_share, Form::kShare>("throttled_share"),
    of<&C::idle_share, Form::kShare>("idle_share"),
    of<&C::provided>("provided_unit_s"),
    of<&C::ok_per_s>("ok_per_s"),
    of<&C::longest_without_ok>("longest_without_ok_s"),
};

const Column<C> kReconnectColumns[] = {
    of<&C::back_share, Form::kShare>("back_share"),
    of<&C::all_back>("all_back_median_s"),
    of<&C::all_back_p90>("all_back_p90_s"),
};

const Column<C> kProcessColumns[] = {
    of<&C::processes>("processes"),
    of<&C::process_rate>("process_requests_per_s"),
};

const Column<C> kHostColumns[] = {of<&C::hit_share, Form::kShare>("outage_hosts_share")};

const Column<C> kHedgeColumns[] = {
    of<&C::hedges>("hedges_per_request"),
    of<&C::hedges_won, Form::kShare>("hedges_won_share"),
};

const Column<C> kGraphColumns[] = {
    of<&C::last_calls>("last_service_calls"),
    {"died_first", [](const C& c) { return c.died_first.empty() ? Json() : Json(c.died_first); }},
    {"died_first_share",
     [](const C& c) { return c.died_first.empty() ? Json() : share_json(c.died_first_share); }},
};

using P = PhaseResult;

template <auto kFigure, Form kForm = Form::kNumber>
Column<P> in_phase(const char* name, const char* unit = "") {
  return of<kFigure, kForm, P>(name, unit);
}

// The name of the phase comes in the middle of the name.
const Column<P> kPhaseColumns[] = {
    in_phase<&P::success, Form::kShare>("success_"),
    in_phase<&P::gave_up>("gave_up_"),
    in_phase<&P::not_sent>("not_sent_"),
    in_phase<&P::attempts_per_s>("attempts_per_s_"),
    in_phase<&P::ok_per_s>("ok_per_s_"),
    in_phase<&P::timed_out>("timed_out_"),
    in_phase<&P::errors>("errors_"),
    in_phase<&P::request_p50>("request_p50_", "_ms"),
    in_phase<&P::request_p99>("request_p99_", "_ms"),
    in_phase<&P::request_p50, Form::kHigh>("request_p50_", "_ms_high"),
    in_phase<&P::request_p99, Form::kHigh>("request_p99_", "_ms_high"),
};

Json errors_by_json(const P& phase) {
  if (!phase.errors) return nullptr;
  Json by = Json::object();
  for (std::size_t i = 0; i < phase.errors_by.size(); ++i) {
    if (phase.errors_by[i] > 0) by[std::string(kErrorKinds[i])] = rounded(phase.errors_by[i]);
  }
  return by;
}

const Column<P> kErrorsByColumn[] = {{"errors_by_", errors_by_json}};

// Of the clients with this name. Null in a cell without them.
void add_clients(std::vector<CellColumn>& columns, const std::string& name) {
  const auto add = [&](const char* end, double ClientsFigures::*figure, Form form) {
    columns.push_back({"clients_" + underscored(name) + end, [name, figure, form](const C& c) {
                         const ClientsFigures* clients = find_clients(c.clients, name);
                         return clients != nullptr ? json_of(clients->*figure, form) : Json();
                       }});
  };
  add("_success_share", &ClientsFigures::success, Form::kShare);
  add("_amplification", &ClientsFigures::attempts, Form::kNumber);
}

}  // namespace

std::vector<CellColumn> cell_columns(const MoreColumns& more) {
  std::vector<CellColumn> columns;
  const auto add = [&columns](const auto& some) {
    for (const Column<C>& each : some) columns.push_back({each.name, each.value});
  };
  const auto add_in_phases = [&columns](const auto& some) {
    for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
      for (const Column<P>& each : some) {
        columns.push_back(
            {each.name + std::string(kPhaseNames[phase]) + each.unit,
             [value = each.value, phase](const C& c) { return value(c.phases[phase]); }});
      }
    }
  };
  add(kColumns);
  add_in_phases(kPhaseColumns);
  if (more.errors_by) add_in_phases(kErrorsByColumn);
  if (more.reconnects) add(kReconnectColumns);
  if (more.processes) add(kProcessColumns);
  if (more.hosts) add(kHostColumns);
  if (more.hedges) add(kHedgeColumns);
  if (more.graph) add(kGraphColumns);
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
