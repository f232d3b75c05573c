#include "common/output/line_report.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/output/report.h"
#include "model/base/text.h"
#include "words/words.h"

namespace retrystorm {

void LineReport::on_interval(const RunInterval& interval) {
  // A job may last for hours.
  if (interval.clients.mean_pause) {
    if (interval.t < next_of_job_) return;
    next_of_job_ = scale(interval.t, 1.2);
  }
  out_ << client_line(interval.rates) << std::endl;
}

void ServiceLineReport::on_interval(Duration t, Duration /*window*/,
                                    const ServerInterval& interval) {
  using std::chrono::system_clock;
  // The virtual clock starts at the beginning of 1970.
  const bool wall = stamp_ == Stamp::kWallClock;
  const auto stamp =
      wall ? time_stamp(system_clock::now())
           : time_stamp(
                 system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(t)),
                 Zone::kUtc);
  out_ << server_line(stamp, interval) << std::endl;
}

namespace {

bool ends_with_unit(const std::string& name, std::string_view unit) {
  return name.ends_with('_' + std::string(unit)) ||
         name.find('_' + std::string(unit) + '_') != name.npos;
}

std::string value_text(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number()) return value.is_null() ? "-" : value.dump();
  const double number = value.get<double>();
  if (name.find("share") != name.npos || name.starts_with("success")) return share_words(number);
  if (name.ends_with("_at")) return time_words(from_seconds(number));
  if (ends_with_unit(name, "ms")) return time_words(from_seconds(number / 1e3));
  const bool is_rate = name.find("per_s") != name.npos || name.ends_with("unit_s");
  return !is_rate && name.ends_with("_s") ? time_words(from_seconds(number)) : number_words(number);
}

// A table of these figures of the rows; empty without rows.
std::string rows_text(const Json& rows, std::string_view figures) {
  std::string text;
  const auto add_row = [&](const auto& cell_of) {
    std::string line;
    for (const std::string_view figure : split(figures, ' ')) {
      const std::string name(figure), cell = cell_of(name);
      constexpr std::size_t kLeast = 9;
      const std::size_t width =
          2 + std::max({columns_of(figure_words(name)), columns_of(cell), kLeast});
      line += std::string(width - columns_of(cell), ' ') + cell;
    }
    text += line + '\n';
  };
  if (!rows.empty()) add_row([](const std::string& name) { return figure_words(name); });
  for (const Json& row : rows) {
    add_row([&row](const std::string& name) { return value_text(name, row.value(name, Json())); });
  }
  return text;
}

}  // namespace

std::string figures_text(const Summary& summary, const Style& style) {
  // A name without its phase, and its values in the phases; the fourth is of the whole run.
  constexpr std::size_t kWhole = kPhaseNames.size();
  using Values = std::array<std::string, kWhole + 1>;
  std::vector<std::string> order;
  std::map<std::string, Values> rows;
  Json nested = summary_json(summary);
  const Json hosts = nested.value("hosts", Json::array());
  nested.erase("hosts");
  const Json all = nested.flatten();
  for (const auto& [pointer, value] : all.items()) {
    std::string name = pointer.substr(1);
    std::replace(name.begin(), name.end(), '/', '_');
    const auto begins = [&name](std::string_view part) { return name.starts_with(part); };
    if (begins("causes") || begins("services") || begins("type") || begins("verdict") ||
        begins("reason") || value.is_object() || value.is_array()) {
      continue;
    }
    // The upper end of a time that may be more.
    const bool or_more = name.ends_with("_high");
    if (or_more) name.resize(name.size() - std::string_view("_high").size());
    std::size_t place = kWhole;
    const std::string unit_of = name;
    for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
      const std::string phase = '_' + std::string(kPhaseNames[i]);
      const std::size_t at = name.find(phase);
      if (at == name.npos) continue;
      name.erase(at, phase.size());
      place = i;
    }
    const std::string shown = figure_words(name);
    const auto [row, is_new] = rows.try_emplace(shown);
    if (is_new) order.push_back(shown);
    std::string& text = row->second[place];
    if (!or_more) {
      text = value_text(unit_of, value);
    } else if (value.is_null() && text != "-") {
      text.insert(0, ">");
    }
  }

  std::string text = fitted(
      "",
      words_of({"figures-title",
                {{"title", summary.title},
                 {"callers", callers_text(summary.clients, summary.arrival_rate, summary.arrivals)},
                 {"seed", std::to_string(summary.seed)},
                 {"time", summary.elapsed}}}),
      style);
  constexpr std::size_t kName = 28, kValue = 16;
  const auto put = [&text](const std::string& cell, std::size_t width) {
    text += cell + std::string(width - std::min(columns_of(cell), width - 1), ' ');
  };
  if (summary.phases) {
    put("", kName + 2);
    for (const char* when : {"figures-before", "figures-during", "figures-after"}) {
      put(words_of(when), kValue);
    }
    text += words_of("figures-whole") + '\n';
  }
  for (const std::string& name : order) {
    const Values& values = rows.at(name);
    const auto says_nothing = [](const std::string& value) {
      return value.empty() || value == "-";
    };
    if (std::all_of(values.begin(), values.end(), says_nothing)) continue;
    put("  " + name, kName + 2);
    for (std::size_t i = 0; summary.phases && i < kWhole; ++i) put(values[i], kValue);
    text += values[kWhole] + '\n';
  }
  return text + rows_text(hosts,
                          "host state attempts attempts_in_outage ok failed ejections "
                          "restarts waiting");
}

void SummaryReport::on_summary(const Summary& summary) {
  out_ << '\n' << figures_text(summary, style_) << std::flush;
  if (!summary.graph) return;
  Json all = graph_json(*summary.graph);
  for (std::size_t i = 0; i < summary.graph->nodes.size(); ++i) {
    const NodeResult& node = summary.graph->nodes[i];
    if (node.end) all["nodes"][i].update(node_json(*node.end, node.holds));
  }
  for (const auto& [list, figures] :
       {std::pair("nodes",
                  "node amplification amplification_during died_at back_at full_at "
                  "full_workers full_queue"),
        std::pair("nodes",
                  "node offered_per_s refused_per_s in_time_per_s for_nobody_per_s busy "
                  "calling queue"),
        std::pair("edges", "from to amplification share"),
        std::pair("clients",
                  "clients requests attempts ok gave_up success_share ok_per_s_before "
                  "ok_per_s_during ok_per_s_after")}) {
    if (all.contains(list)) out_ << '\n' << rows_text(all[list], figures) << std::flush;
  }
}

}  // namespace retrystorm
