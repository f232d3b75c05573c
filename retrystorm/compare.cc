// Did a day go as the model says? Window by window, and which one parameter would explain the rest.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <set>
#include <stdexcept>

#include "common/cli/settings_file.h"
#include "common/exit_code.h"
#include "common/output/answer.h"
#include "common/output/json_text.h"
#include "common/output/output_queue.h"
#include "model/base/text.h"
#include "policies/policy.h"
#include "retrystorm/study_command.h"
#include "study/cell_answer.h"
#include "study/evaluator.h"
#include "study/rows.h"
#include "words/words.h"

namespace retrystorm {
namespace {

constexpr double kNear = 0.1;         // of the greater of both
constexpr double kOfAttempts = 0.1;   // or, for rates, this share of that of the attempts
constexpr double kSpread = 3;         // or so many standard deviations of the runs,
constexpr double kBeyond = 1.25;      // and not this many times beyond all of them
constexpr double kMostOutside = 0.1;  // of the windows of a figure, or one, for a model that holds
constexpr std::size_t kLeastWindows = 6;
constexpr std::size_t kLeastTimes = 20;  // of a window whose times are compared
constexpr double kExplains = 0.5;        // of the squared differences

struct CompareOptions {
  std::string service, day, json;
  std::optional<Duration> outage_at, outage_for;
  std::size_t runs = 40, threads = 0;
  AnswerLook look;
};

void declare(CLI::App& app, CompareOptions& options) {
  app.add_option("SERVICE", options.service, "the settings of the service (retrystorm measure)")
      ->required()
      ->type_name("");
  app.add_option("DAY", options.day, "what the client wrote that day: client --json=DAY")
      ->required()
      ->type_name("");
  auto* group = option_group(app, "Compare");
  const auto add = [](CLI::Option* option) { option->group("Compare"); };
  add(add_optional_duration(*group, "--outage-at", options.outage_at,
                            "when the service was stopped by hand, if the client did not do it"));
  add(add_optional_duration(*group, "--outage-for", options.outage_for, "and for how long"));
  add(add_runs(app, options.runs));
  add(add_threads(app, options.threads));
  add(add_text(*group, "--json", options.json, "also write what was found as a line of JSON"));
  add_look(app, options.look);
}

// What is compared of a window.
constexpr std::array<std::string_view, 5> kFigures{"ok", "errors", "timed_out", "p50", "p99"};
constexpr std::size_t kRates = 3;  // the first ones are rates, the others seconds
using WindowFigures = std::array<std::optional<double>, kFigures.size()>;

struct Window {
  Duration begin{}, end{};
  double attempts = 0;  // a second
  WindowFigures figures{};
};

struct Day {
  NamedOptions clients;         // as they were, as far as they are not those of their strategy
  std::set<std::string> known;  // the options that the day has, whatever their values
  std::size_t hosts = 1;
  std::uint64_t seed = 1;
  Duration interval{}, length{};
  std::vector<std::pair<Duration, std::optional<Duration>>> outages;
  std::vector<Window> windows;
  std::string verdict;  // empty if the client knew of no outage
  bool felt = true;     // the outage, as far as the client can tell
  Statements doubts;
};

// The text of a value in the line `start`.
std::string setting_text(const nlohmann::json& value, std::string_view separator) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) return print_number(value.get<double>());
  if (!value.is_array()) return value.dump();
  std::string all;
  for (const auto& each : value) {
    all.append(all.empty() ? "" : separator).append(setting_text(each, separator));
  }
  return all;
}

// The options of the clients and of what happened to them, as far as they are not those of the strategy.
NamedOptions clients_of(const nlohmann::json& start, std::set<std::string>& known) {
  NamedOptions named;
  if (const auto strategy = start.find("strategy"); strategy != start.end()) {
    named["strategy"] = strategy->get<std::string>();
  }
  const ListedScenario of_strategy(scenario_of(named));
  const Listed<ServiceOptions> of_service;
  for (const Option& option : of_strategy.list.all()) {
    const auto value = start.find(underscored(option.name));
    if (value == start.end() || value->is_null() || of_service.list.find(option.name) != nullptr)
      continue;
    known.insert(option.name);
    // What happened is in the lines that follow. Another form of an option says the same.
    const bool of_lines = option.name.starts_with("outage-") && option.name != "outage-replicas";
    if (of_lines || option.name == "seed" || !option.same_as.empty()) continue;
    if (option.name == "outage" && *value == "command") continue;  // see `Day::doubts`
    const std::string text =
        setting_text(*value, std::string(option.separator == 0 ? 0 : 1, option.separator));
    if (text != option.get()) named[option.name] = text;
  }
  return named;
}

double time_in(const nlohmann::json& line) {
  constexpr double kLongest = 7 * 86'400;
  const double t = line.at("t").get<double>();
  if (!(t >= 0 && t <= kLongest)) throw BadFile("a time is not within a week");
  return t;
}

Window window_of(const nlohmann::json& line, Duration interval) {
  Window window;
  // The real clock is some milliseconds late.
  const double number = std::max(1.0, std::round(time_in(line) / to_seconds(interval)));
  window.end = scale(interval, number);
  window.begin = window.end - interval;
  window.attempts = line.at("attempts").get<double>();
  for (std::size_t i = 0; i < kRates; ++i) {
    window.figures[i] = line.at(std::string(kFigures[i])).get<double>();
  }
  const auto latency = line.find("latency_ms");
  if (latency == line.end() || !latency->is_object() ||
      *window.figures[0] * to_seconds(interval) < static_cast<double>(kLeastTimes)) {
    return window;
  }
  for (std::size_t i = kRates; i < kFigures.size(); ++i) {
    const auto time = latency->find(std::string(kFigures[i]));
    if (time != latency->end() && time->is_number())
      window.figures[i] = time->get<double>() / 1'000;
  }
  return window;
}

Day read_day(const std::string& path) {
  Day day;
  bool started = false;
  const std::string text = read_text_file(path);
  in_file(path, [&] {
    try {
      each_line(text, [&](std::string_view line, std::size_t number) {
        if (trimmed(line).empty()) return;
        const auto json = nlohmann::json::parse(line, nullptr, false);
        if (!json.is_object() || !json.contains("type")) {
          throw BadFile("line " + std::to_string(number) + " is not of client --json");
        }
        const std::string type = json["type"];
        if (type == "start") {
          // A simulated day is one, too.
          const std::string program = json.value("program", "");
          if (program != "client" && program != "simulate")
            throw BadFile("it is not of client --json");
          day.clients = clients_of(json, day.known);
          day.interval = parse_duration(json.at("report_interval").get<std::string>(),
                                        std::chrono::milliseconds(1));
          day.seed = json.at("seed").get<std::uint64_t>();
          const auto url = json.find("url");
          if (url != json.end() && url->is_array()) day.hosts = url->size();
          if (json.contains("outage_begin")) day.doubts.push_back({"compare-commands", {}});
          started = true;
        } else if (!started) {
          throw BadFile("its first line is not the start of a run");
        } else if (type == "interval") {
          day.windows.push_back(window_of(json, day.interval));
          day.length = day.windows.back().end;
        } else if (type == "outage") {
          const Duration t = from_seconds(time_in(json));
          if (json.at("event") == "stop") {
            day.outages.emplace_back(t, std::nullopt);
          } else if (!day.outages.empty()) {
            day.outages.back().second = t;
          }
        } else if (type == "summary" && !day.outages.empty()) {
          day.verdict = json.at("verdict").get<std::string>();
          for (const auto& each : json.value("causes", nlohmann::json::array())) {
            const std::string cause = each.at("id").get<std::string>();
            if (cause == "begin-failed" || cause.starts_with("unfelt-")) day.felt = false;
          }
        }
      });
    } catch (const nlohmann::json::exception&) {
      throw BadFile("a line of it is not of client --json");
    }
    if (!started || day.windows.empty())
      throw BadFile("it has no windows: client --json writes them");
  });
  return day;
}

// One run, as its windows.
class WindowRecorder final : public RunObserver {
 public:
  explicit WindowRecorder(Duration interval) : interval_(interval) {}
  void on_interval(const RunInterval& interval) override {
    Window window{.begin = interval.t - interval_, .end = interval.t};
    window.attempts = interval.rates.attempts;
    const LatencyQuantiles& times = interval.latency;
    window.figures = {interval.rates.ok, interval.rates.errors, interval.rates.timed_out};
    if (times.p50) window.figures[3] = to_seconds(*times.p50);
    if (times.p99) window.figures[4] = to_seconds(*times.p99);
    windows_.push_back(window);
  }
  const std::vector<Window>& windows() const { return windows_; }

 private:
  const Duration interval_;
  std::vector<Window> windows_;
};

struct WindowCompared {
  const Window* measured = nullptr;
  struct Figure {
    double measured = 0, mean = 0, low = 0, high = 0;
    bool inside = false;
    double difference = 0;  // by what is near
  };
  std::array<std::optional<Figure>, kFigures.size()> figures{};
};

// The windows that are compared: those in which clients do not start, and no outage begins or ends.
std::vector<const Window*> full_windows(const Day& day) {
  std::vector<const Window*> windows;
  for (const Window& each : day.windows) {
    const auto within = [&each](Duration t) { return t >= each.begin && t <= each.end; };
    const bool edge = std::ranges::any_of(day.outages, [&](const auto& outage) {
      return within(outage.first) || (outage.second && within(*outage.second));
    });
    if (!edge && each.begin >= RunLatencies::kWarmUp) windows.push_back(&each);
  }
  return windows;
}

struct Comparison {
  std::vector<WindowCompared> windows{};
  std::size_t same_verdict = 0;  // runs that end as the day did
};

Comparison compare_with(const Day& day, const NamedOptions& service, std::size_t runs,
                        std::size_t threads) {
  NamedOptions named = day.clients;
  for (const auto& [name, value] : service) {
    if (!day.known.contains(name)) named.emplace(name, value);
  }
  if (day.hosts > 1) named["replicas"] = std::to_string(day.hosts);
  ScenarioOptions options = scenario_of(named);
  options.outage_for = Duration::zero();
  options.observe = day.length;
  if (!day.outages.empty()) {
    const auto& [begin, end] = day.outages.front();
    options.outage_at = begin;
    options.outage_for = std::max(Duration::zero(), end.value_or(day.length) - begin);
    options.observe =
        std::max(Duration(std::chrono::seconds(1)), day.length - end.value_or(day.length));
  } else {
    options.outage_at = Duration::zero();
  }
  options.report_interval = day.interval;
  const Scenario scenario = make_scenario(options, day.seed);
  std::vector<WindowRecorder> recorders(runs, WindowRecorder(day.interval));
  const auto results = Evaluator(threads_or_cores(threads))
                           .run(scenario, seeds_from(day.seed, runs), [&](std::size_t run) {
                             return SimulationObservers{.run = {&recorders[run]}};
                           });
  Comparison all;
  all.same_verdict = static_cast<std::size_t>(std::ranges::count(
      results, day.verdict, [](const RunResult& each) { return to_string(each.verdict); }));
  for (const Window* const measured : full_windows(day)) {
    WindowCompared one{.measured = measured};
    const auto at = static_cast<std::size_t>(measured->begin / day.interval);
    for (std::size_t i = 0; i < kFigures.size(); ++i) {
      if (!measured->figures[i]) continue;
      double sum = 0, squares = 0, count = 0, least = kUnlimited, most = 0;
      for (const WindowRecorder& run : recorders) {
        if (at >= run.windows().size() || !run.windows()[at].figures[i]) continue;
        const double value = *run.windows()[at].figures[i];
        sum += value;
        squares += value * value;
        least = std::min(least, value);
        most = std::max(most, value);
        ++count;
      }
      if (count == 0) continue;
      const double mean = sum / count;
      // So far from the mean a run comes once in some hundred windows.
      const double spread = kSpread * std::sqrt(std::max(0.0, squares / count - mean * mean));
      WindowCompared::Figure figure{.measured = *measured->figures[i],
                                    .mean = mean,
                                    .low = std::max(least / kBeyond, mean - spread),
                                    .high = std::min(most * kBeyond, mean + spread)};
      double near = kNear * std::max(figure.measured, figure.mean);
      if (i < kRates) near = std::max(near, kOfAttempts * measured->attempts);
      const double off = std::fabs(figure.measured - figure.mean);
      figure.inside =
          off <= near || (figure.measured >= figure.low && figure.measured <= figure.high);
      figure.difference = near > 0 ? off / near : 0;
      one.figures[i] = figure;
    }
    all.windows.push_back(one);
  }
  return all;
}

// Large differences count like ten times what is near: one window in a wrong state does not drown the others.
double distance(const std::vector<WindowCompared>& all) {
  double sum = 0;
  constexpr double kMost = 10;
  for (const WindowCompared& each : all) {
    for (std::size_t i = 0; i < kFigures.size(); ++i) {
      if (!each.measured->figures[i]) continue;
      // A model without answers has no times: that is not near.
      const double off = each.figures[i] ? each.figures[i]->difference : kMost;
      sum += std::pow(std::min(off, kMost), 2);
    }
  }
  return sum;
}

// Each with one parameter of the service changed.
std::vector<std::pair<std::string, std::string>> alternatives(const NamedOptions& service) {
  std::vector<std::pair<std::string, std::string>> all;
  const bool workers = value_or(service, "service", "curve") == "workers";
  for (const double factor : {0.5, 0.67, 0.8, 1.25, 1.5, 2.0}) {
    const auto scaled = [&](const char* name) {
      if (!service.contains(name)) return;
      const double number = parse_number(service.at(name), 0, 1e9);
      all.emplace_back(name, print_number(std::max(1.0, std::round(number * factor))));
    };
    if (!workers) {
      scaled("k");
      scaled("limit");
      if (!service.contains("base-delay")) continue;
      const Duration delay = parse_duration(service.at("base-delay"));
      all.emplace_back("base-delay", format_duration(scale(delay, factor)));
      continue;
    }
    // "lognormal:80ms:0.5": the time is the second word.
    const std::string law = value_or(service, "service-time", "");
    const std::vector<std::string_view> words = split(law, ':');
    if (words.size() > 1 && !law.starts_with("bimodal")) {
      const double time = to_seconds(parse_duration(words[1]));
      const std::string other = format_duration(from_seconds(to_digits(time * factor, 3)));
      all.emplace_back("service-time",
                       std::string(law).replace(words[0].size() + 1, words[1].size(), other));
    }
    scaled("workers");
  }
  const auto others = [&](const char* name, const char* otherwise,
                          std::initializer_list<const char*> values) {
    for (const char* value : values) {
      if (value_or(service, name, otherwise) != value) all.emplace_back(name, value);
    }
  };
  others("backlog", "256", {"5", "100", "128", "256", "511", "1024", "2048", "4096"});
  others("abandoned", "serve",
         {value_or(service, "abandoned", "serve") == "serve" ? "skip" : "serve"});
  if (workers) {
    others("queue-order", "fifo", {"fifo", "lifo", "unfair:0.05", "unfair:0.1", "unfair:0.2"});
    others("accepts", "all", {value_or(service, "accepts", "all") == "all" ? "when-free" : "all"});
  }
  return all;
}

std::string figure_text(std::size_t figure, double value) {
  return figure < kRates ? number_words(value) : time_words(from_seconds(to_digits(value, 3)));
}

void print_windows(const std::vector<WindowCompared>& all, bool verbose, const Style& style) {
  Table table;
  table.columns = {{.title = "until"}};
  for (std::size_t i = 0; i < kFigures.size(); ++i) {
    const std::string name(kFigures[i]);
    const std::string group = i == 2 ? "timeouts" : name;
    const bool differs = std::ranges::any_of(all, [i](const WindowCompared& each) {
      return each.figures[i] && !each.figures[i]->inside;
    });
    const int rank = static_cast<int>(differs ? i : kFigures.size() + i);
    table.columns.push_back({.title = "measured", .group = group, .rank = rank});
    table.columns.push_back({.title = "model", .group = group, .rank = rank});
  }
  for (const WindowCompared& each : all) {
    std::string off;
    std::vector<std::string> row{clock_text(each.measured->end)};
    for (std::size_t i = 0; i < kFigures.size(); ++i) {
      const auto& figure = each.figures[i];
      row.push_back(figure ? figure_text(i, figure->measured) : "-");
      const bool shows = figure && !figure->inside;
      row.push_back(!figure ? "-"
                    : shows ? words_of({"compare-band",
                                        {{"mean", figure_text(i, figure->mean)},
                                         {"low", figure_text(i, figure->low)},
                                         {"high", figure_text(i, figure->high)}}})
                            : figure_text(i, figure->mean));
      if (shows) off += (off.empty() ? "" : ", ") + std::string(kFigures[i]);
    }
    if (!verbose && off.empty()) continue;
    table.rows.push_back(row);
    table.remarks.push_back(off);
  }
  if (!table.rows.empty()) print(std::cout, table, style);
}

RunCurve curve_of(const Day& day, const std::vector<WindowCompared>& all, bool of_model) {
  RunCurve curve;
  for (const WindowCompared& each : all) {
    const auto& ok = each.figures[0];
    if (ok) curve.points.push_back({each.measured->end, of_model ? ok->mean : ok->measured});
  }
  curve.outages = day.outages;
  return curve;
}

// Throws std::invalid_argument if the day is not one that can be compared.
Day day_of(const CompareOptions& options) {
  Day day = read_day(options.day);
  if (options.outage_for.has_value() != options.outage_at.has_value()) {
    refuse("--outage-at and --outage-for belong together: give both");
  }
  if (options.outage_at && !day.outages.empty()) {
    refuse("--outage-at: " + printable(options.day) + " has its own outage");
  }
  if (options.outage_at && *options.outage_at >= day.length) {
    refuse("--outage-at=" + format_duration(*options.outage_at) + ": the day lasts " +
           format_duration(day.length));
  }
  if (options.outage_at) {
    day.outages = {{*options.outage_at, *options.outage_at + *options.outage_for}};
    day.verdict.clear();
  }
  if (day.outages.size() > 1) {
    refuse(printable(options.day) + " has " + std::to_string(day.outages.size()) +
           " outages: one can be compared");
  }
  return day;
}

struct JudgedDay {
  Finding finding = Finding::kUndecided;  // of the model
  Statement answer{};
};

JudgedDay judged(const std::vector<WindowCompared>& all, const Day& day) {
  if (!day.felt) return {Finding::kUndecided, {"compare-unfelt", {}}};
  std::size_t inside = 0;
  std::array<std::size_t, kFigures.size()> off{}, has{};
  for (const WindowCompared& each : all) {
    bool holds = true;
    for (std::size_t i = 0; i < kFigures.size(); ++i) {
      if (!each.figures[i]) continue;
      ++has[i];
      if (each.figures[i]->inside) continue;
      holds = false;
      ++off[i];
    }
    if (holds) ++inside;
  }
  const auto share_off = [&](std::size_t i) {
    return off[i] < 2 ? 0 : static_cast<double>(off[i]) / static_cast<double>(has[i]);
  };
  // Of those that are off too often, the one that is in the most windows.
  std::size_t worst = 0;
  bool broken = false;
  for (std::size_t i = 0; i < kFigures.size(); ++i) {
    if (share_off(i) <= kMostOutside) continue;
    if (!broken || off[i] > off[worst]) worst = i;
    broken = true;
  }
  const Finding finding = all.size() < kLeastWindows ? Finding::kUndecided
                          : broken                   ? Finding::kBroken
                                                     : Finding::kHolds;
  return {finding,
          {finding == Finding::kUndecided ? "compare-few"
           : finding == Finding::kHolds   ? "compare-holds"
                                          : "compare-off",
           {counted("inside", inside),
            counted("windows", all.size()),
            counted("least", kLeastWindows),
            {"longer",
             day.interval * static_cast<int>(kLeastWindows - std::min(all.size(), kLeastWindows))},
            {"figure", figure_words(std::string(kFigures[worst]))},
            counted("off", off[worst]),
            counted("of", has[worst])}}};
}

// The one other setting with which the model is nearest to the day.
Statement explanation(const Day& day, const NamedOptions& service, double before,
                      const CompareOptions& options) {
  std::optional<std::pair<std::string, std::string>> best;
  double least = before;
  for (const auto& [name, value] : alternatives(service)) {
    NamedOptions other = service;
    other[name] = value;
    double after = before;
    try {
      const std::size_t runs = std::max<std::size_t>(options.runs / 4, 1);
      after = distance(compare_with(day, other, runs, options.threads).windows);
    } catch (const std::invalid_argument&) {  // does not go with the others
    }
    if (after < least) {
      least = after;
      best = {name, value};
    }
  }
  const double explained = before > 0 ? 1 - least / before : 0;
  if (!best || explained < kExplains) return {"compare-unexplained", {}};
  return {"compare-explained",
          {{"option", "--" + best->first + '=' + best->second}, {"share", ShareOf{explained}}}};
}

Json compared_json(const Statement& answer, const Statements& findings,
                   const std::vector<WindowCompared>& all) {
  Json json{{"type", "compared"}, {"answer", statement_json(answer)}};
  json["findings"] = statements_json(findings);
  json["windows"] = Json::array();
  for (const WindowCompared& each : all) {
    Json line{{"t", to_seconds(each.measured->end)}};
    for (std::size_t i = 0; i < kFigures.size(); ++i) {
      const auto& figure = each.figures[i];
      if (!figure) continue;
      line[std::string(kFigures[i])] = {{"measured", figure->measured},
                                        {"mean", figure->mean},
                                        {"least", figure->low},
                                        {"most", figure->high},
                                        {"inside", figure->inside}};
    }
    json["windows"].push_back(line);
  }
  return json;
}

int compare(const Invocation&, const CompareOptions& options) {
  const ListedScenario known;
  const NamedOptions service = read_settings(options.service, known.list);
  if (service.empty()) refuse(printable(options.service) + ": there are no settings in it");
  const Day day = day_of(options);
  const Teller teller(options.look.color);
  LineFile json(options.json);
  const auto [all, same_verdict] = compare_with(day, service, options.runs, options.threads);
  const auto [finding, answer] = judged(all, day);
  Statements findings = day.doubts;
  if (day.outages.empty()) findings.push_back({"compare-no-outage", {}});
  if (!day.verdict.empty() && day.felt) {
    findings.push_back(
        {"compare-verdict",
         {{"verdict", day.verdict}, counted("same", same_verdict), counted("runs", options.runs)}});
  }
  if (finding == Finding::kBroken) {
    findings.push_back(explanation(day, service, distance(all), options));
  }
  teller.headline(finding == Finding::kHolds    ? Tone::kGood
                  : finding == Finding::kBroken ? Tone::kBad
                                                : Tone::kDoubt,
                  answer);
  double full = 0;
  for (const WindowCompared& each : all) {
    if (each.figures[0]) full = std::max({full, each.figures[0]->measured, each.figures[0]->mean});
  }
  for (const bool of_model : {false, true}) {
    print_strip(std::cout, curve_of(day, all, of_model), full,
                words_of(of_model ? "compare-model" : "compare-measured"), teller.style());
  }
  for (const Statement& each : findings) teller.below(each);
  const bool verbose = options.look.verbose;
  if (verbose || finding == Finding::kBroken) print_windows(all, verbose, teller.style());
  teller.dim({"below-compare"});
  json.write(compared_json(answer, findings, all).dump());
  return flush_standard_output() ? exit_code_of({finding}) : kExitFault;
}

}  // namespace

const Command kCompare{
    "compare",
    "Holds what a client saw on a day against what the model of its service says: each window of the rates and the\n"
    "times, and which one setting of the service would explain the rest.",
    "retrystorm compare service.ini day.jsonl", run_command<CompareOptions, declare, compare>};

}  // namespace retrystorm
