// The outlook as text: which of its sentences are told, and how they stand in lines.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>

#include "model/base/text.h"
#include "model/run/outlook.h"
#include "model/run/outlook_sentences.h"

namespace retrystorm {
namespace {

// Appends the label and the text, wrapped at blanks.
void add_wrapped(std::string& all, const OutlookLine& line) {
  constexpr std::size_t kIndent = 11;
  std::string row = line.label;
  row.resize(std::max(kIndent, row.size() + 1), ' ');
  all += wrapped(row, line.text, kIndent);
}

// A line, and the rows of which it is true.
struct SaidOfRows {
  OutlookLine line;
  std::vector<std::string> rows;
};

// Adds a line of a row. Lines with one label stay together.
void say_of_row(std::vector<SaidOfRows>& all, const OutlookLine& line, const std::string& row) {
  auto after = all.end();
  for (auto each = all.begin(); each != all.end(); ++each) {
    if (each->line.label != line.label) continue;
    if (each->line.text == line.text) {
      each->rows.push_back(row);
      return;
    }
    after = each + 1;
  }
  all.insert(after, {line, {row}});
}

// Of the lines of a label that are not true of all rows, only the one that is true of the most stays. Those about
// processes and connections are of some strategies only, and go.
void keep_commonest(std::vector<SaidOfRows>& all, std::size_t rows) {
  std::erase_if(all, [rows](const SaidOfRows& each) {
    const bool of_some = each.line.label == "processes" || each.line.label == "connection";
    return of_some && each.rows.size() < rows;
  });
  const std::vector<SaidOfRows> before = all;
  std::erase_if(all, [&before, rows](const SaidOfRows& each) {
    return each.rows.size() < rows &&
           std::any_of(before.begin(), before.end(), [&each](const SaidOfRows& other) {
             return other.line.label == each.line.label && other.rows.size() > each.rows.size();
           });
  });
  // Of those that are as common, the first.
  std::map<std::string, std::size_t> seen;
  std::erase_if(all, [&seen, rows](const SaidOfRows& each) {
    return each.rows.size() < rows && ++seen[each.line.label] > 1;
  });
}

}  // namespace

std::string in_words(const Disturbance& disturbance) {
  const std::string value = readable(disturbance.value);
  switch (disturbance.kind) {
    case Disturbance::Kind::kFreeze:
      return "frozen";
    case Disturbance::Kind::kDrop:
      return "connections reset and refused";
    case Disturbance::Kind::kSlow:
      return "each request takes " + value + " times as long";
    case Disturbance::Kind::kErrors:
      return percent_of(disturbance.value) + " of the attempts fail";
    case Disturbance::Kind::kCapacity:
      return value + " times the capacity";
    case Disturbance::Kind::kThrottle:
      return "at most " + counted(disturbance.value, "request") + "/s are admitted";
    case Disturbance::Kind::kLoad:
      return value + " times the load";
    case Disturbance::Kind::kCommand:
      return "--outage-begin";
    case Disturbance::Kind::kReconnect:
      return std::string(kConnectionsLost);
  }
  return "";
}

std::string readable(double number) {
  if (!std::isfinite(number)) return "unlimited";
  if (std::abs(number) < 100) return print_number(to_digits(number, 3));
  if (std::abs(number) >= 1e15) return print_number(number);
  std::string digits = std::to_string(std::llround(number));
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string readable(Duration duration) {
  if (duration > Duration::max() / 2)
    return "unlimited";  // centuries, which rounding would overflow
  Duration::rep unit = 1;
  while (duration.count() / unit >= 1000) unit *= 10;
  return format_duration(Duration((duration.count() + unit / 2) / unit * unit));
}

std::vector<OutlookLine> outlook_lines(const Outlook& outlook) {
  const bool several = !outlook.graph.empty();
  std::vector<OutlookLine> lines{
      {several ? "services" : "service", several ? outlook.graph : service_sentence(outlook)},
      {"retries", several ? "of the clients: " + attempts_sentence(outlook)
                          : attempts_sentence(outlook) + storm_sentence(outlook)},
      {"outage", outage_sentence(outlook)}};
  if (outlook.herd) lines.push_back({"reconnect", herd_sentence(outlook)});
  // Processes decide nothing if their clients share nothing.
  if (outlook.budget != "none" || outlook.gates || outlook.client_rate != Outlook::kUnlimited ||
      has_process_each(outlook) || outlook.retries.hedge.shares()) {
    lines.push_back({"processes", processes_sentence(outlook)});
  }
  if (outlook.connections) lines.push_back({"connection", connection_sentence(outlook)});
  lines.push_back({"timeout", timeout_sentence(outlook)});
  if (!outlook.retries.waits.empty()) lines.push_back({"waits", waits_sentence(outlook)});
  // What the engine at hand does not do, or not without an option.
  std::string kept = outlook.connections || outlook.herd ? ""
                     : outlook.library_keeps ? "your kept connections (--connections=library), "
                                             : "your kept connections (--connections=keep-alive), ";
  for (const std::string& option : outlook.later) kept = "what " + option + " changes, " + kept;
  if (several) {
    lines.push_back({"left out", kept + "replicas -> docs/chains.md"});
  } else if (outlook.service) {
    const bool limits =
        outlook.service->has_rate_limit ||
        (outlook.outage && outlook.outage->what.kind == Disturbance::Kind::kThrottle);
    // The limit here is a bucket that fills all the time.
    const std::string windows =
        limits ? "limits that begin anew each minute (fixed windows), " : "";
    const std::string callers = outlook.arrivals == Arrivals::kOpen && !outlook.gates &&
                                        outlook.service->kind == Capacity::kWorkers
                                    ? "limits of your callers (--concurrency-limit), "
                                    : "";
    lines.push_back(
        {"left out", kept + callers + windows + "replicas, layers -> docs/simulator.md"});
  } else if (!outlook.connections) {
    lines.push_back({"left out", kept + "HTTP/2 (--connections=multiplexed)"});
  }
  return lines;
}

std::string outlook_text(const Outlook& outlook) {
  std::string text;
  for (const OutlookLine& line : outlook_lines(outlook)) add_wrapped(text, line);
  for (const std::string& warning : outlook.warnings) add_wrapped(text, {"warning:", warning});
  return text;
}

std::string outlook_text(const std::vector<OutlookOfRow>& rows, const std::string& rest) {
  std::vector<SaidOfRows> all;
  for (const auto& [row, outlook] : rows) {
    for (const OutlookLine& line : outlook_lines(outlook)) say_of_row(all, line, row);
    for (const std::string& warning : outlook.warnings) {
      say_of_row(all, {"warning:", warning}, row);
    }
  }
  std::string text;
  std::map<std::string, std::size_t> variants;
  constexpr std::size_t kFew = 3, kMany = 20;
  const bool compares_waits =
      rows.size() <= kFew && std::count_if(all.begin(), all.end(), [](const SaidOfRows& each) {
                               return each.line.label == "waits";
                             }) > 1;
  if (rows.size() > kMany) keep_commonest(all, rows.size());
  for (const auto& [line, of] : all) {
    if (of.size() == rows.size()) {
      add_wrapped(text, line);
      continue;
    }
    // Each strategy has its own, and a difference decides only where few are compared.
    if (line.label == "waits" && !compares_waits) continue;
    if (rows.size() > kMany) {
      add_wrapped(text, {line.label, counted(static_cast<double>(of.size()), "row") + ": " +
                                         line.text + " (" + rest + ')'});
      continue;
    }
    const std::size_t most = rows.size() > 6 ? 2 : 6;  // many rows would fill the screen
    const std::size_t number = ++variants[line.label];
    if (number <= most) {
      const std::string others =
          of.size() == 1 ? "" : " and " + counted(static_cast<double>(of.size() - 1), "other row");
      add_wrapped(text, {line.label, of.front() + others + ": " + line.text});
    } else if (number == most + 1) {
      add_wrapped(text, {line.label, "... (" + rest + ')'});
    }
  }
  return text;
}

std::vector<std::string> deciding_options(const Outlook& outlook) {
  std::vector<std::string> names;
  const auto add = [&names](std::initializer_list<const char*> some) {
    for (const char* name : some) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    }
  };
  const bool workers = outlook.service && outlook.service->kind == Capacity::kWorkers;
  if (outlook.retries.usual_waits) add({"strategy"});
  if (workers || !outlook.graph.empty()) {
    add({"workers", "service-time"});
    if (!outlook.connections || !outlook.connections->multiplexed) add({"accepts"});
  } else if (outlook.service) {
    add({"service"});
    // Where a limit decides, agents call as often as calls are short.
    if (outlook.service->has_rate_limit && outlook.arrivals == Arrivals::kClosed)
      add({"base-delay"});
  }
  if (outlook.arrivals == Arrivals::kOpen) add({"rate"});
  if (outlook.arrivals == Arrivals::kClosed) add({"arrivals", "clients", "lambda"});
  add({"timeout"});
  if (outlook.outage) add({"outage", "outage-for", "observe"});
  if (outlook.outage && outlook.outage->what.kind == Disturbance::Kind::kErrors &&
      outlook.outage->errors_cost) {
    add({"error-after"});
  }
  if (freezes_workers(outlook)) add({"backlog", "connections"});
  const bool graph_freezes = !outlook.graph.empty() && outlook.outage &&
                             outlook.outage->what.kind == Disturbance::Kind::kFreeze;
  if (graph_freezes) add({"backlog"});
  if (outlook.repeats_syns) add({"syn-linear-timeouts"});
  if (!outlook.graph.empty()) add({"waiting", "abandoned"});
  if (outlook.herd) add({"reconnect-base", "reconnect-calls"});
  if (workers || (outlook.service && outlook.outage)) add({"abandoned"});
  // Who is told when to come back, and does it?
  if (outlook.service && outlook.service->has_rate_limit) add({"hint", "retry-after"});
  if (outlook.connections) {
    add({"pool-size", "processes"});
    if (outlook.connections->multiplexed) add({"streams"});
    if (outlook.connections->room != Outlook::kUnlimited) add({"pool-wait", "pool-wait-counts"});
  }
  if (outlook.hangs_on_rejections()) add({"queue-length", "rejection-cost"});
  // A budget saves what the calm pays in, and each process has its own.
  if (outlook.budget != "none") add({"processes", "outage-at"});
  if (outlook.gates || outlook.client_rate != Outlook::kUnlimited ||
      outlook.retries.hedge.shares()) {
    add({"processes"});
  }
  if (outlook.retries.hedges > 0) add({"hedge-max", "hedge-budget"});
  if (outlook.bucket) add({"budget-tokens"});
  // A retry counts from its wait on.
  if (outlook.budget_is_concurrent) add({"backoff-base", "retry-on"});
  std::erase_if(names, [&](const auto& name) { return outlook.set_by_services.contains(name); });
  return names;
}

bool freezes_workers(const Outlook& outlook) {
  const bool shared = outlook.connections && outlook.connections->multiplexed;
  return !shared && outlook.service && outlook.service->kind == Capacity::kWorkers &&
         outlook.outage && outlook.outage->what.kind == Disturbance::Kind::kFreeze;
}

std::string assumed_text(const std::string& options, bool freezes_workers) {
  if (options.empty()) return "";
  std::string line = options;
  if (freezes_workers && options.find("--backlog=") != options.npos) {
    // A freeze stops the whole process, which then accepts nothing.
    line += ". If only workers hang, a Tomcat accepts more: --backlog=8292";
  }
  std::string text;
  add_wrapped(text, {"assumed", line});
  return text;
}

}  // namespace retrystorm
