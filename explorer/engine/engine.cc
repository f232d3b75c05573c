#include "explorer/engine/engine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "common/output/before_line.h"
#include "common/output/json_report.h"
#include "common/output/json_text.h"
#include "common/output/report.h"
#include "model/base/text.h"
#include "model/retry/schedule.h"
#include "model/retry/strategies.h"
#include "simulator/simulation.h"
#include "study/evaluator.h"
#include "study/statistics.h"
#include "study/trials.h"
#include "words/words.h"

namespace retrystorm {
namespace {

// A browser may close a page that takes more.
constexpr double kMemory = 1e9;  // bytes

// Ends a question that takes too long. The only use of the real clock in the engine.
class Patience {
 public:
  explicit Patience(const Json& question)
      : seconds_(question.value("patience_s", 10.0)), end_(Clock::now() + from_seconds(seconds_)) {}

  bool over() const { return Clock::now() > end_; }
  void check() const {
    if (!over()) return;
    throw std::runtime_error("this takes longer than " + format_duration(from_seconds(seconds_)) +
                             " here: use fewer clients, a shorter run or the command line");
  }

 private:
  double seconds_;
  TimePoint end_;
};

// A number or a text: JavaScript's numbers have only 53 bits.
std::uint64_t read_seed(const Json& json) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  return json.is_string() ? parse_count(json.get<std::string>(), 0, kMost)
                          : json.get<std::uint64_t>();
}

std::uint64_t seed_of(const Json& question) {
  return question.contains("seed") ? read_seed(question.at("seed")) : 1;
}

// A scenario that is small enough to run here.
Scenario scenario_for(const ScenarioOptions& options, std::uint64_t seed) {
  return checked_scenario(options, seed, 1, kMemory, false);
}

SimulationResult simulate(const Scenario& scenario, const SimulationObservers& observers,
                          const Patience& patience) {
  const SimulationResult result =
      Simulation(scenario, observers).run([&patience] { return patience.over(); });
  patience.check();
  return result;
}

// The interval of a chart: a second, or more for a long run.
Duration chart_interval(const Scenario& scenario, const Patience& patience) {
  constexpr Duration::rep kMostPoints = 400;
  Duration length = scenario.length;
  // Only a run shows how long a job takes.
  if (scenario.workload.arrivals == Arrivals::kJob) {
    length = simulate(scenario, {}, patience).summary.elapsed;
  }
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(length / kMostPoints);
  return std::max<Duration>(seconds, std::chrono::seconds(1));
}

// Joins objects into one text.
class Texts {
 public:
  Texts(const char* before, const char* between, const char* after)
      : text_(before), between_(between), after_(after) {}
  void add(const Json& object) {
    if (!first_) text_ += between_;
    first_ = false;
    text_ += json_line(object);
  }
  JsonSink sink() {
    return [this](const Json& object) { add(object); };
  }
  std::string text() && { return std::move(text_) + after_; }

 private:
  std::string text_;
  const char* between_;
  const char* after_;
  bool first_ = true;
};

// What can be computed before the run: a line, labels with figures to read, and the figures.
Json outlook_of(const ScenarioOptions& options) {
  const Outlook outlook = look_ahead(options);
  Json lines = Json::array();
  for (const auto& [label, figure] : figure_lines(outlook)) lines.push_back({label, figure});
  return {{"line", before_line(outlook, retries_title(options.workload.retry),
                               options.service.workers.workers)},
          {"lines", std::move(lines)},
          {"figures", outlook_json(outlook)}};
}

// The places of the attempts, as columns: {"t": [...], "services": [{"at_caller": [...], ...}, ...]}.
class PlaceColumns {
 public:
  PlacesObserver observer() {
    return [this](Duration t, const std::vector<AttemptPlaces>& services) {
      times_.push_back(to_seconds(t));
      columns_.resize(services.size());
      for (std::size_t i = 0; i < services.size(); ++i) {
        const AttemptPlaces& each = services[i];
        const std::size_t values[] = {
            each.at_caller,     each.accept_queue.all, each.accept_queue.stale, each.buffers.all,
            each.buffers.stale, each.service.all,      each.service.stale};
        for (std::size_t k = 0; k < std::size(values); ++k) columns_[i][k].push_back(values[k]);
      }
    };
  }

  Json json() && {
    Json services = Json::array();
    for (auto& columns : columns_) {
      Json& service = services.emplace_back(Json::object());
      for (std::size_t k = 0; k < std::size(kNames); ++k)
        service[kNames[k]] = std::move(columns[k]);
    }
    return {{"t", std::move(times_)}, {"services", std::move(services)}};
  }

 private:
  static constexpr const char* kNames[] = {"at_caller",    "accept_queue",  "accept_queue_stale",
                                           "buffers",      "buffers_stale", "service",
                                           "service_stale"};

  std::vector<double> times_;
  std::vector<std::array<std::vector<std::size_t>, std::size(kNames)>> columns_;
};

// The windows of services behind services, and which of them died: {"nodes": [{"name", "holds", "amplification",
// "died_at", "back_at"}, ...], "edges": [{"from", "to", "amplification"}, ...], "windows": [{"t", "nodes": [...], "edges": [...]}]}.
// Null if there is one service.
class GraphWindows final : public RunObserver {
 public:
  explicit GraphWindows(Duration length)
      : every_(1 + static_cast<std::size_t>(length / GraphWatch::kWindow) / kMost) {}

  void on_graph(const GraphShape&, const GraphInterval& interval) override {
    if (seen_++ % every_ != 0) return;
    Json nodes = Json::array(), edges = Json::array();
    for (const NodeInterval& each : interval.nodes) {
      nodes.push_back({{"offered", rounded(each.offered)},
                       {"refused", rounded(each.refused)},
                       {"in_time", rounded(each.in_time)},
                       {"for_nobody_share", rounded(each.for_nobody_share())},
                       {"busy", rounded(each.busy)},
                       {"calling", rounded(each.calling)},
                       {"workers", each.workers},
                       {"queue", each.queue}});
    }
    for (const EdgeInterval& each : interval.edges) {
      edges.push_back({{"attempts", rounded(each.calls.attempts)},
                       {"ok", rounded(each.calls.ok)},
                       {"amplification", rounded(each.amplification)}});
    }
    windows_.push_back(
        {{"t", to_seconds(interval.t)}, {"nodes", std::move(nodes)}, {"edges", std::move(edges)}});
  }

  Json json(const std::optional<GraphResult>& result) && {
    if (!result) return nullptr;
    const auto seconds = [](const std::optional<Duration>& time) {
      return time ? Json(to_seconds(*time)) : Json();
    };
    Json nodes = Json::array(), edges = Json::array();
    for (const NodeResult& each : result->nodes) {
      nodes.push_back({{"name", each.name},
                       {"holds", each.holds},
                       {"amplification", rounded(each.amplification)},
                       {"died_at", seconds(each.died)},
                       {"back_at", seconds(each.back)}});
    }
    for (const EdgeResult& each : result->edges) {
      edges.push_back(
          {{"from", each.from}, {"to", each.to}, {"amplification", rounded(each.amplification)}});
    }
    const auto first = first_death(*result);
    return {{"nodes", std::move(nodes)},
            {"edges", std::move(edges)},
            {"first_death", first ? words_of(*first) : ""},
            {"windows", std::move(windows_)}};
  }

 private:
  static constexpr std::size_t kMost = 400;  // windows, of a long run

  const std::size_t every_;
  std::size_t seen_ = 0;
  Json windows_ = Json::array();
};

// The events of a run. What its hosts do is there as boxes (see engine.h), and what its services do as their windows.
class RunEvents final : public JsonReport {
 public:
  using JsonReport::JsonReport;

  void on_graph(const GraphShape&, const GraphInterval&) override {}
  void on_hosts(Duration t, const HostIntervals& hosts) override {
    if (hosts.size() < 2) return;
    const std::size_t each = (hosts.size() + kMostBoxes - 1) / kMostBoxes;
    Json boxes = Json::array();
    for (std::size_t first = 0; first < hosts.size(); first += each) {
      boxes.push_back(box({&hosts[first], std::min(each, hosts.size() - first)}));
    }
    hosts_["all"] = hosts.size();
    hosts_["each"] = each;
    hosts_["t"].push_back(to_seconds(t));
    hosts_["boxes"].push_back(std::move(boxes));
  }

  Json hosts() && { return std::move(hosts_); }

 private:
  static constexpr std::size_t kMostBoxes = 256;

  static Json box(std::span<const HostInterval> hosts) {
    static constexpr std::array kBestFirst{HostState::kOff,      HostState::kUp,
                                           HostState::kStarting, HostState::kEnding,
                                           HostState::kUnwell,   HostState::kFrozen};
    const auto* worst = kBestFirst.begin();
    double out = 0;
    std::size_t busy = 0, workers = 0, inside = 0, attempts = 0, failed = 0;
    for (const HostInterval& each : hosts) {
      worst = std::max(worst, std::find(kBestFirst.begin(), kBestFirst.end(), each.state));
      out += each.out / static_cast<double>(hosts.size());
      busy += each.workers.busy;
      workers += each.workers.workers;
      inside += each.concurrency.value_or(0);
      attempts += each.attempts;
      failed += each.failed;
    }
    return {kHostStateNames[static_cast<std::size_t>(*worst)],
            rounded(out),
            busy,
            workers,
            inside,
            attempts,
            failed};
  }

  Json hosts_;
};

std::string run(const Json& question) {
  const Patience patience(question);
  const ScenarioOptions options = scenario_of_page(read_given(question.at("given")));
  Scenario scenario = scenario_for(options, seed_of(question));
  scenario.report_interval = scenario.server_report_interval = chart_interval(scenario, patience);
  Texts client("[", ",", "]"), server("[", ",", "]");
  RunEvents of_run(client.sink());
  ServiceJsonReport of_service(server.sink());
  PlaceColumns places;
  GraphWindows graph(scenario.length);
  const SimulationResult result = simulate(
      scenario, {.run = {&of_run, &graph}, .service = {&of_service}, .places = places.observer()},
      patience);
  // As text, because putting hundreds of objects into another one would copy each of them.
  return "{\"client\":" + std::move(client).text() + ",\"server\":" + std::move(server).text() +
         ",\"events\":" + std::to_string(result.events) +
         ",\"peak_concurrency\":" + std::to_string(result.peak_concurrency) +
         ",\"interval_s\":" + json_line(to_seconds(scenario.report_interval)) +
         ",\"outlook\":" + json_line(outlook_of(options)) +
         ",\"places\":" + json_line(std::move(places).json()) +
         ",\"graph\":" + json_line(std::move(graph).json(result.summary.graph)) +
         ",\"hosts\":" + json_line(std::move(of_run).hosts()) +
         ",\"result\":" + json_line(result_json(result_of(result))) + '}';
}

Json lines(const Json& question) {
  const Patience patience(question);
  const Scenario scenario =
      scenario_for(scenario_of_page(read_given(question.at("given"))), seed_of(question));
  Texts client("", "\n", "\n"), server("", "\n", "\n");
  JsonReport of_run(client.sink());
  ServiceJsonReport of_service(server.sink());
  simulate(scenario, {.run = {&of_run}, .service = {&of_service}}, patience);
  return {{"client", std::move(client).text()}, {"server", std::move(server).text()}};
}

// The series for the charts' bands, one value per interval and run. A frozen server reports
// nothing: its values are NaN, which JSON writes as null.
class Series final : public RunObserver, public ServiceObserver {
 public:
  explicit Series(Duration interval) : interval_(interval) {}

  void begin_run() {
    for (auto& [name, runs] : series_) runs.emplace_back();
  }

  void on_interval(const RunInterval& interval) override {
    const std::size_t at = index(interval.t);
    if (at >= times_.size()) times_.resize(at + 1);
    times_[at] = to_seconds(interval.t);
    add(at, "ok", interval.rates.ok);
    add(at, "errors", interval.rates.errors);
    add(at, "timed_out", interval.rates.timed_out);
    add(at, "not_sent", interval.rates.not_sent);
    add(at, "in_flight", static_cast<double>(interval.clients.in_flight));
    add(at, "waiting_to_retry", static_cast<double>(interval.clients.waiting_to_retry));
  }
  void on_interval(Duration t, Duration /*window*/, const ServerInterval& interval) override {
    const std::size_t at = index(t);
    add(at, "concurrency", static_cast<double>(interval.concurrency));
  }

  void write(Json& answer) && {
    answer["t"] = std::move(times_);
    answer["series"] = Json::object();
    for (auto& [name, runs] : series_) answer["series"][name] = std::move(runs);
  }

 private:
  // The last interval of a run may be shorter.
  std::size_t index(Duration t) const {
    return static_cast<std::size_t>((t - Duration(1)) / interval_);
  }

  void add(std::size_t at, const char* name, double value) {
    std::vector<double>& run = series_.at(name).back();
    if (at >= run.size()) run.resize(at + 1, std::numeric_limits<double>::quiet_NaN());
    run[at] = rounded(value);
  }

  const Duration interval_;
  std::vector<double> times_;
  std::map<std::string, std::vector<std::vector<double>>, std::less<>> series_{
      {"ok", {}},        {"errors", {}},           {"timed_out", {}},  {"not_sent", {}},
      {"in_flight", {}}, {"waiting_to_retry", {}}, {"concurrency", {}}};
};

Duration interval_of(const Json& question) {
  const Duration interval = from_seconds(question.at("interval_s").get<double>());
  if (interval < std::chrono::seconds(1)) refuse("interval_s is no interval of a run");
  return interval;
}

Json batch(const Json& question) {
  const Patience patience(question);
  Scenario scenario = scenario_for(scenario_of_page(read_given(question.at("given"))), 0);
  const bool with_series = question.contains("interval_s");
  if (with_series) {
    scenario.report_interval = scenario.server_report_interval = interval_of(question);
  }
  Series series(scenario.report_interval);
  const auto observers = [&](std::size_t /*run*/) -> SimulationObservers {
    if (!with_series) return {};
    series.begin_run();
    return {.run = {&series}, .service = {&series}};
  };
  Seeds seeds;
  for (const Json& seed : question.at("seeds")) seeds.push_back(read_seed(seed));
  const Evaluator evaluator(1, [&patience] { return patience.over(); });
  const auto runs = evaluator.run(scenario, seeds, observers);
  patience.check();
  Json results = Json::array();
  for (const RunResult& run : runs) results.push_back(result_json(run));
  Json answer{{"results", std::move(results)}};
  if (with_series) std::move(series).write(answer);
  return answer;
}

std::vector<RunResult> read_results(const Json& json) {
  std::vector<RunResult> results;
  for (const Json& each : json) results.push_back(read_result(each));
  return results;
}

Json summarize(const Json& question) {
  const auto results = read_results(question.at("results"));
  Json answer{{"cell", cell_json(summarize(results))}};
  if (question.contains("against")) {
    answer["difference"] = difference_json(results, read_results(question.at("against")));
  }
  return answer;
}

// The lines that `simulate` prints below its table.
Json trials(const Json& question) {
  const Patience patience(question);
  const NamedOptions given = read_given(question.at("given"));
  const ScenarioOptions options = scenario_of_page(given);
  const CellResult result = summarize(read_results(question.at("results")));
  const Evaluator evaluator(1, [&patience] { return patience.over(); });
  const AnswerTrials trials({options, given, result, {}}, evaluator, seed_of(question),
                            question.at("runs").get<std::size_t>());
  Json lines = Json::array();
  bool any = false;
  for (const auto& outcomes : {trials.of_a_tenth(), trials.others()}) {
    for (const AnswerTrials::Outcome& each : outcomes) {
      any = true;
      if (each.turn != AnswerTrials::Turn::kNone) lines.push_back(trial_words(each));
    }
  }
  patience.check();
  return {{"any", any}, {"hangs", !lines.empty()}, {"lines", std::move(lines)}};
}

Json share(const Json& question) {
  const auto hits = question.at("hits").get<std::size_t>();
  const auto runs = question.at("runs").get<std::size_t>();
  if (hits > runs) refuse("there are more hits than runs");
  const Interval interval = wilson_interval(hits, runs);
  return {{"low", interval.low}, {"high", interval.high}};
}

Json waits(const Json& question) {
  const ScenarioOptions scenario = scenario_of_page(read_given(question.at("given")));
  const WorkloadOptions& workload = scenario.workload;
  check(workload);
  const RetryPolicy policy(workload.retry);
  const auto attempts = question.value<std::size_t>("attempts", 30);
  Json clients = Json::array();
  for (std::uint64_t i = 0; i < question.value<std::uint64_t>("clients", 5); ++i) {
    FailingClient client(policy, workload.retry, workload.think_time, seed_of(question), i);
    Json waits = Json::array();
    while (waits.size() < attempts) {
      const auto wait = client.fail();
      if (!wait) break;
      waits.push_back(to_seconds(*wait));
    }
    const bool gave_up = waits.size() < attempts;
    clients.push_back({{"waits", std::move(waits)}, {"gave_up", gave_up}});
  }
  return {{"clients", std::move(clients)}};
}

Json answer_to(const Json& question) {
  const auto what = question.at("ask").get<std::string>();
  if (what == "catalogue") return catalogue();
  if (what == "describe") return describe(read_given(question.at("given")), seed_of(question));
  if (what == "lines") return lines(question);
  if (what == "batch") return batch(question);
  if (what == "summarize") return summarize(question);
  if (what == "trials") return trials(question);
  if (what == "share") return share(question);
  if (what == "waits") return waits(question);
  refuse(in_quotes(what) + " is no question");
}

}  // namespace

std::string answer(std::string_view question) {
  try {
    const Json asked = Json::parse(question);
    return asked.value("ask", "") == "run" ? run(asked) : json_line(answer_to(asked));
  } catch (const std::exception& error) {
    return json_line({{"error", error.what()}});
  }
}

}  // namespace retrystorm
