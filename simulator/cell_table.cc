#include "simulator/cell_table.h"

#include <cerrno>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "common/cli/options.h"
#include "common/output/report.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kColumnGap = 2;

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
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

// A column of the table. One for people has a title, a width and a text, one for programs a name
// and a value; most are for both.
struct Column {
  const char* title;
  int width;
  std::string (*text)(const CellResult&);
  const char* name;
  Json (*value)(const CellResult&);
};

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

template <std::optional<double> CellResult::*kShare>
Json share_or_null(const CellResult& cell) {
  return cell.*kShare ? share_json(*(cell.*kShare)) : Json(nullptr);
}

// What is in both stands beside each other: all that there is to know of a column is here.
using C = CellResult;
const Column kColumns[] = {
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
    {nullptr, 0, nullptr, "makespan_median_s", time_json<&C::makespan_median>},
    {nullptr, 0, nullptr, "throttled_share", share_or_null<&C::throttled_share>},
    {nullptr, 0, nullptr, "idle_share", share_or_null<&C::idle_share>},
    {nullptr, 0, nullptr, "provided_unit_s",
     [](const C& c) { return c.provided ? Json(rounded(*c.provided)) : Json(nullptr); }},
};

std::string joined(const std::vector<std::string>& cells, const char* between) {
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : between) + cell;
  return line;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return "| " + joined(cells, " | ") + " |";
}

}  // namespace

CellTable::Lines::Lines(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_.open(path);
  if (!file_) {
    throw std::runtime_error("cannot write to " + path + ": " +
                             std::generic_category().message(errno));
  }
}

void CellTable::Lines::write(const std::string& line) {
  if (path_.empty()) return;
  file_ << line << '\n' << std::flush;
  if (!file_) throw std::runtime_error("writing to " + path_ + " failed");
}

CellTable::CellTable(const Grid& grid, std::ostream& out, JsonLines& json, const TableFiles& files)
    : grid_(grid), out_(out), json_(json), csv_(files.csv), markdown_(files.markdown) {
  std::vector<std::string> names, titles;
  for (const Axis& axis : grid.axes()) {
    names.push_back(underscored(axis.name));
    titles.push_back(axis.name);
    std::size_t width = axis.name.size();
    for (const std::string& value : axis.values) width = std::max(width, value.size());
    widths_.push_back(static_cast<int>(width) + kColumnGap);
    out_ << std::setw(widths_.back()) << axis.name;
  }
  for (const Column& column : kColumns) {
    names.emplace_back(column.name);
    if (column.title == nullptr) continue;
    titles.emplace_back(column.title);
    out_ << std::setw(column.width) << column.title;
  }
  out_ << std::endl;
  csv_.write(joined(names, ","));
  markdown_.write(markdown_row(titles));
  markdown_.write(markdown_row(std::vector<std::string>(titles.size(), "---")));
}

void CellTable::add(std::size_t cell, const CellResult& result) {
  finished_.emplace(cell, result);
  for (; !finished_.empty() && finished_.begin()->first == next_; ++next_) {
    print(next_, finished_.begin()->second);
    finished_.erase(finished_.begin());
  }
}

void CellTable::flush() {
  for (const auto& [cell, result] : finished_) print(cell, result);
  finished_.clear();
}

void CellTable::print(std::size_t cell, const CellResult& result) {
  const auto axis_values = grid_.values(cell);
  std::vector<std::string> values = axis_values, texts = axis_values;
  Json row{{"type", "cell"}};
  for (std::size_t i = 0; i < axis_values.size(); ++i) {
    out_ << std::setw(widths_[i]) << axis_values[i];
    row[underscored(grid_.axes()[i].name)] = axis_values[i];
  }
  for (const Column& column : kColumns) {
    const Json value = column.value(result);
    row[column.name] = value;
    values.push_back(value.is_null() ? "" : value.dump());
    if (column.title == nullptr) continue;
    texts.push_back(column.text(result));
    out_ << std::setw(column.width) << texts.back();
  }
  out_ << std::endl;
  csv_.write(joined(values, ","));
  markdown_.write(markdown_row(texts));
  json_.write(row);
}

}  // namespace retrystorm
