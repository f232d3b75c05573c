#include "common/output/before_line.h"

#include <algorithm>
#include <cmath>

#include "words/words.h"

namespace retrystorm {
namespace {

// The figure in words. Empty if there is none.
struct InWords {
  OutlookFigure::Unit unit;

  std::string operator()(double value) const {
    using Unit = OutlookFigure::Unit;
    // More may be wanted than there is.
    if (unit == Unit::kShare && value > 1) {
      return words_of({"figure-percent", {{"value", std::round(100 * value)}}});
    }
    return unit == Unit::kShare ? share_words(value)
           : unit == Unit::kPerSecond && std::isfinite(value)
               ? words_of({"figure-per-second", {{"value", value}}})
               : number_words(value);
  }
  std::string operator()(std::size_t count) const {
    return number_words(static_cast<double>(count));
  }
  std::string operator()(bool is) const { return words_of(is ? "figure-yes" : "figure-no"); }
  std::string operator()(Duration time) const { return time_words(time); }
  std::string operator()(const std::vector<Duration>& times) const {
    constexpr std::size_t kShown = 4;
    if (times.empty()) return "";
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    if (*least == *most) return time_words(times.front());
    std::string text;
    for (std::size_t i = 0; i < std::min(times.size(), kShown); ++i) {
      text += (i > 0 ? ", " : "") + time_words(times[i]);
    }
    return times.size() > kShown ? text + ", ..." : text;
  }
};

}  // namespace

std::vector<std::pair<std::string, std::string>> figure_lines(const Outlook& outlook) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const OutlookFigure& each : outlook_figures(outlook)) {
    if (each.shown == OutlookFigure::Shown::kJson) continue;
    std::string figure = std::visit(InWords{each.unit}, each.value);
    if (!figure.empty()) lines.emplace_back(words_of(each.id), std::move(figure));
  }
  for (const Statement& each : outlook.graph) {
    lines.emplace_back(std::get<std::string>(each.values.front().of), words_of(each));
  }
  return lines;
}

void print_figures(std::ostream& out, const std::vector<OutlookOfRow>& rows,
                   const std::string& assumed, const Style& style) {
  constexpr std::size_t kLabel = 46;
  for (const OutlookOfRow& row : rows) {
    if (!row.row.empty()) out << row.row << '\n';
    for (auto& [label, figure] : figure_lines(row.outlook)) {
      out << label << std::string(label.size() < kLabel ? kLabel - label.size() : 1, ' ') << figure
          << '\n';
    }
  }
  if (!assumed.empty()) {
    out << fitted("", words_of({"figures-assumed", {{"list", assumed}}}), style);
  }
}

std::string before_line(const Outlook& outlook, const std::string& retries, std::size_t workers) {
  Statements all;
  const bool open = outlook.open();
  const HostSettings& hosts = outlook.input.hosts;
  all.push_back({open ? "before-retries" : "before-clients",
                 {{"clients", outlook.clients()}, {"retries", retries}}});
  if (outlook.service) {
    const Outlook::Service& service = *outlook.service;
    const bool limited = service.capacity < Outlook::kUnlimited;
    const bool of_workers = outlook.of_workers() && !service.rate_limited;
    const Statement can{!limited     ? "before-unlimited"
                        : of_workers ? (hosts.replicas > 1 ? "before-hosts" : "before-workers")
                                     : (hosts.replicas > 1 ? "before-hosts-curve" : "before-curve"),
                        {{"hosts", static_cast<double>(hosts.replicas)},
                         {"workers", static_cast<double>(workers)},
                         {"capacity", service.capacity}}};
    all.push_back({"before-load",
                   {{"service", words_of(can)},
                    {"load", outlook.wanted},
                    {"used", InWords{OutlookFigure::Unit::kShare}(
                                 limited ? outlook.wanted / service.capacity : 0)}}});
  } else {
    all.push_back({"before-load-alone", {{"load", outlook.wanted}}});
  }
  const Outlook::Retries& retried = outlook.retries;
  const bool err = retried.may_err && retried.errors.rate > retried.overload().rate;
  const Outlook::Failing& failing = err ? retried.errors : retried.overload();
  const bool graph = !outlook.graph.empty();
  const bool too_many = graph ? outlook.graph.back().id == "service-dead-too-many"
                              : outlook.service && failing.rate > outlook.service->capacity;
  std::string more;
  if (failing.limit == Outlook::Failing::Limit::kBudget) more = words_of("before-budget");
  if (too_many) more += words_of("before-too-many");
  if (graph) {  // the callers' retries multiply: the last statement says how often
    all.push_back(outlook.graph.back());
    all.back().id = "before-calls";
    all.back().values.push_back({"more", more});
  } else if (std::isfinite(failing.attempts) && failing.attempts > 1) {
    all.push_back({"before-attempts",
                   {{"attempts", failing.attempts}, {"rate", failing.rate}, {"more", more}}});
  }
  if (outlook.outage) {
    const auto& some = outlook.input.outage_of_some;
    all.push_back({some && !is_action(*some)         ? "before-outage-hosts"
                   : outlook.input.load_at_end() > 1 ? "before-outage-lasts"
                                                     : "before-outage",
                   {{"what", words_of(statement_of(some ? *some : *outlook.input.outage))},
                    {"hit", static_cast<double>(hosts.hit())},
                    {"hosts", static_cast<double>(hosts.replicas)},
                    {"length", outlook.input.outage_for}}});
  }
  std::string text;
  for (const Statement& each : all) text += (text.empty() ? "" : " · ") + words_of(each);
  return text;
}

void print_before(std::ostream& out, const std::string& line, const Statements& warnings,
                  const Style& style) {
  if (!line.empty()) out << painted(fitted("", line, style), Tone::kDim, style);
  // What is true of several rows or kinds of clients is said once.
  std::vector<std::string> said;
  for (const Statement& each : warnings) {
    const std::string text = words_of(each);
    if (std::find(said.begin(), said.end(), text) != said.end()) continue;
    out << painted(fitted("warning: ", text, style), Tone::kDoubt, style);
    said.push_back(text);
  }
  out << std::flush;
}

}  // namespace retrystorm
