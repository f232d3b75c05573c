#include "explorer/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/output/json_lines.h"
#include "common/output/json_report.h"
#include "explorer/engine/given.h"
#include "explorer/engine/knobs.h"
#include "explorer/engine/results.h"
#include "model/retry/failing_client.h"
#include "simulator/limits.h"
#include "simulator/simulation.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

// A page may be closed when it takes more.
constexpr double kMemory = 1e9;  // bytes

// Ends what takes too long. Asks the machine's clock, as nothing else here does.
class Patience {
 public:
  explicit Patience(const Json& question)
      : seconds_(question.value("patience_s", 10.0)), end_(Clock::now() + from_seconds(seconds_)) {}

  bool over() const { return Clock::now() > end_; }
  void check() const {
    if (!over()) return;
    throw std::runtime_error("this takes longer than " + format_duration(from_seconds(seconds_)) +
                             " here: fewer clients or a shorter run, or the command line");
  }

 private:
  double seconds_;
  TimePoint end_;
};

std::uint64_t seed_of(const Json& question) {
  return question.value<std::uint64_t>("seed", 1);
}

// A scenario that can be run here.
Scenario scenario_for(const ScenarioOptions& options, std::uint64_t seed) {
  Scenario scenario = make_scenario(options, seed);
  check_length(scenario);
  check_memory(scenario, 1, kMemory);
  return scenario;
}

SimulationResult simulate(const Scenario& scenario, const SimulationObservers& observers,
                          const Patience& patience) {
  const SimulationResult result =
      Simulation(scenario, observers).run([&patience] { return patience.over(); });
  patience.check();
  return result;
}

// So long are the intervals of a chart: a second, or more where a run has too many of them.
Duration chart_interval(const Scenario& scenario, const Patience& patience) {
  constexpr Duration::rep kMostPoints = 400;
  Duration length = scenario.length;
  // How long a job takes is known when it is done.
  if (scenario.workload.arrivals == Arrivals::kJob) {
    length = simulate(scenario, {}, patience).summary.elapsed;
  }
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(length / kMostPoints);
  return std::max<Duration>(seconds, std::chrono::seconds(1));
}

// Objects as one text.
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

Json run(const Json& question) {
  const Patience patience(question);
  Scenario scenario =
      scenario_for(scenario_of(read_given(question.at("given"))), seed_of(question));
  scenario.report_interval = scenario.server_report_interval = chart_interval(scenario, patience);
  Json client = Json::array(), server = Json::array();
  JsonReport of_run([&client](const Json& object) { client.push_back(object); });
  ServiceJsonReport of_service([&server](const Json& object) { server.push_back(object); });
  const SimulationResult result =
      simulate(scenario, {.run = {&of_run}, .service = {&of_service}}, patience);
  return {{"client", std::move(client)},
          {"server", std::move(server)},
          {"events", result.events},
          {"peak_concurrency", result.peak_concurrency},
          {"result", result_json(result_of(result))}};
}

Json lines(const Json& question) {
  const Patience patience(question);
  const Scenario scenario =
      scenario_for(scenario_of(read_given(question.at("given"))), seed_of(question));
  Texts client("", "\n", "\n"), server("", "\n", "\n");
  JsonReport of_run(client.sink());
  ServiceJsonReport of_service(server.sink());
  simulate(scenario, {.run = {&of_run}, .service = {&of_service}}, patience);
  return {{"client", std::move(client).text()}, {"server", std::move(server).text()}};
}

// What the charts' bands are made of, interval by interval.
class Series final : public RunObserver, public ServiceObserver {
 public:
  void begin_run() {
    for (auto& [name, runs] : series_) runs.emplace_back();
    index_ = 0;
  }

  void on_interval(const RunInterval& interval) override {
    const double t = to_seconds(interval.t);
    if (index_ == times_.size()) times_.push_back(t);
    ++index_;
    add("ok", interval.rates.ok);
    add("errors", interval.rates.errors);
    add("timed_out", interval.rates.timed_out);
    add("not_sent", interval.rates.not_sent);
    add("in_flight", static_cast<double>(interval.clients.in_flight));
    add("waiting_to_retry", static_cast<double>(interval.clients.waiting_to_retry));
    add("thinking", static_cast<double>(interval.clients.thinking));
  }
  void on_interval(Duration /*t*/, Duration /*window*/, const ServerInterval& interval) override {
    add("concurrency", static_cast<double>(interval.concurrency));
    add("delay", to_seconds(interval.last_delay));
  }

  void tell(Json& answer) && {
    answer["t"] = std::move(times_);
    answer["series"] = Json::object();
    for (auto& [name, runs] : series_) answer["series"][name] = std::move(runs);
  }

 private:
  void add(std::string_view name, double value) {
    for (auto& [known, runs] : series_) {
      if (known == name) runs.back().push_back(rounded(value));
    }
  }

  std::vector<double> times_;
  std::size_t index_ = 0;
  std::array<std::pair<std::string_view, std::vector<std::vector<double>>>, 9> series_{
      {{"ok", {}},
       {"errors", {}},
       {"timed_out", {}},
       {"not_sent", {}},
       {"in_flight", {}},
       {"waiting_to_retry", {}},
       {"thinking", {}},
       {"concurrency", {}},
       {"delay", {}}}};
};

Json batch(const Json& question) {
  const Patience patience(question);
  Scenario scenario = scenario_for(scenario_of(read_given(question.at("given"))), 0);
  const bool with_series = question.value("series", false);
  Series series;
  SimulationObservers observers;
  if (with_series) {
    scenario.report_interval = scenario.server_report_interval = chart_interval(scenario, patience);
    observers = {.run = {&series}, .service = {&series}};
  }
  Json results = Json::array();
  for (const Json& seed : question.at("seeds")) {
    scenario.seed = seed.get<std::uint64_t>();
    if (with_series) series.begin_run();
    results.push_back(result_json(result_of(simulate(scenario, observers, patience))));
  }
  Json answer{{"results", std::move(results)}};
  if (with_series) std::move(series).tell(answer);
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

Json waits(const Json& question) {
  const ScenarioOptions scenario = scenario_of(read_given(question.at("given")));
  const WorkloadOptions& workload = scenario.workload;
  check(workload.retry);
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
  if (what == "look") return look(read_given(question.at("given")), seed_of(question));
  if (what == "run") return run(question);
  if (what == "lines") return lines(question);
  if (what == "batch") return batch(question);
  if (what == "summarize") return summarize(question);
  if (what == "waits") return waits(question);
  throw std::invalid_argument(in_quotes(what) + " is no question");
}

}  // namespace

std::string answer(std::string_view question) {
  try {
    return json_line(answer_to(Json::parse(question)));
  } catch (const std::exception& error) {
    return json_line({{"error", error.what()}});
  }
}

}  // namespace retrystorm
