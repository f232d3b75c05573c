// Which retry settings keep a service up at the least cost?
#include "retrystorm/recommend.h"

#include <CLI/CLI.hpp>
#include <array>
#include <initializer_list>
#include <stdexcept>
#include <utility>

#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "policies/readers.h"
#include "retrystorm/policy_files.h"
#include "study/judged_runs.h"

namespace retrystorm {
namespace {

void declare(CLI::App& app, RecommendOptions& options) {
  auto* study = option_group(app, "Study");
  add_text(
      *study, "--start", options.start,
      "your settings, from which the search starts: a strategy, a settings file (.ini) or another "
      "program's file (see `import`)")
      ->group("Study");
  add_text(*study, "--policy", options.policy,
           "which policy of that file: the name of something that it is for, or its line")
      ->group("Study");
  add_repeated(*study, "--fix", "OPTION", options.fixed,
               "an option that stays as it is in the settings of --start; may be repeated")
      ->group("Study");
  add_value(
      *study, "--as", "NAME", "",
      [&options](const std::string& word) { options.format = parse_export_format(word); },
      "only settings that this format can say, and print them in it: grpc, envoy, istio, envoy-gateway, "
      "resilience4j, aws or dotnet; not given: the format of --start")
      ->group("Study");
  study
      ->add_flag("--thorough", options.thorough,
                 "four times the work: more settings, and a certificate for down<1%")
      ->group("Study");
  study
      ->add_flag_callback(
          "--quick", [] {}, "what is done without --thorough")
      ->group("");
  add_count(*study, "--candidates", options.candidates,
            "how many settings the search begins with; without --thorough a third of them", 10,
            100'000)
      ->group("Study");
  add_study_options(app, options, {});
  add_max_time(app, options);
  hide(app, "runs");  // the certificate's plan says how many
  add_cell(*study, options.cell);
  hide(app, "cell");
}

ListedStrategy named(std::string name) {
  return {.name = std::move(name)};
}

// What a program does without settings; for gRPC, which then does not retry, its documents' example.
ListedStrategy default_of(ExportFormat format) {
  // In the order of `ExportFormat`.
  constexpr std::array kNames{"grpc",         "envoy", "",     "resilience4j-retry",
                              "aws-standard", "polly", "envoy"};
  if (format != ExportFormat::kIstio) return named(kNames.at(static_cast<std::size_t>(format)));
  const PolicyFile file = read_policies(
      "apiVersion: networking.istio.io/v1\nkind: VirtualService\nspec:\n  http:\n"
      "  - route: [{destination: {host: a}}]\n");
  return {.name = "istio", .settings = options_of(file.policies.front())};
}

// The settings to start from. The format becomes that of their file, unless one is set, and the names are those in it.
ListedStrategy read_start(const RecommendOptions& options, Question& question) {
  const bool is_strategy = options.start.find_first_of("./") == std::string::npos;
  if (is_strategy || options.start.ends_with(".ini")) {
    ListedStrategy start = parse_strategies(ListedScenario().list, options.start).at(0);
    if (is_strategy) start.settings = {{"strategy", start.name}};
    return start;
  }
  const std::string path = printable(options.start);
  const PolicyFile file = read_policy_file(options.start);
  const Policy& policy = chosen_policy(file, path, options.policy);
  if (policy.refused || !policy.has_retries) {
    throw UnreadableFile(path + ": " + summary(policy) +
                         ": there are no retries to start from (see `retrystorm check`)");
  }
  if (!question.format && !file.format.empty()) {
    question.format = parse_export_format(file.format);
    question.names = names_in(file, policy, options.start);
  }
  return {.name = options.start, .settings = options_to_run(policy, has_hosts(question.given))};
}

// Options of the start that are not about retries hold for all settings.
void share_the_rest(ListedStrategy& start, NamedOptions& given) {
  RetrySettings any;
  OptionList retries;
  declare_options(retries, any);
  std::erase_if(*start.settings, [&](const auto& each) {
    if (retries.find(each.first) != nullptr) return false;
    given.insert(each);
    return true;
  });
}

}  // namespace

Question question_of(const Invocation& invocation, const RecommendOptions& options) {
  Question question{.given = given_to_study(invocation.app, {}), .format = options.format};
  if (find_option(invocation.app, "runs")->count() > 0) {
    throw std::invalid_argument("--runs is set by this study (see --help)");
  }
  if (options.cell.number > 0) {
    throw std::invalid_argument(
        "--cell: a search has no cells, each of its steps follows from the runs before");
  }
  std::string start = options.start;
  const auto strategy = question.given.find("strategy");
  if (strategy != question.given.end() && !start.empty()) {
    throw std::invalid_argument("--start excludes --strategy");
  }
  if (!start.empty()) {
    ListedStrategy yours = read_start(options, question);
    share_the_rest(yours, question.given);
    yours.name = kYours;
    question.strategies.push_back(std::move(yours));
  } else if (!options.policy.empty()) {
    throw std::invalid_argument("--policy needs --start");
  }
  if (strategy != question.given.end()) {
    question.strategies.push_back(named(strategy->second));
    question.given.erase("strategy");
  }
  // Istio's default retries no errors.
  if (question.format == ExportFormat::kIstio && question.strategies.empty()) {
    question.strategies.push_back(named("envoy"));
  }
  question.strategies.push_back(question.format ? default_of(*question.format) : named("begin"));
  question.compared = question.strategies.size();
  // What is retried stays as it is at the start.
  NamedOptions start_options = question.given;
  set_strategy(start_options, question.strategies.front());
  const std::string retry_on = to_string(scenario_of(start_options).workload.retry.limit.retry_on);
  const ListedStrategy& usual = question.strategies[question.compared - 1];
  NamedOptions usual_options = question.given;
  set_strategy(usual_options, usual);
  const bool usual_is_one =
      to_string(scenario_of(usual_options).workload.retry.limit.retry_on) == retry_on;
  const std::string usual_name = usual.name;
  for (const NamedStrategy& each : named_strategies()) {
    if (usual_is_one && each.name == usual_name) continue;
    ListedStrategy candidate = named(std::string(each.name));
    candidate.settings = {{"strategy", candidate.name}, {"retry-on", retry_on}};
    question.strategies.push_back(std::move(candidate));
  }
  // All requests of a process are on one connection.
  question.multiplexed = question.format == ExportFormat::kGrpc &&
                         question.given.try_emplace("connections", "multiplexed").second;
  question.given["outage-at"] = format_duration(options.outage_at);
  question.observes_until_drained =
      question.given.try_emplace("observe", format_duration(options.observe)).second;
  question.situations = with_own_outage(question.given);
  question.outages = static_cast<std::size_t>(
      std::ranges::count_if(question.situations, &StudyDisturbance::outage));

  for (const Expectation& each : options.expectations) {
    const bool is_limit = each.relation == Expectation::Relation::kBelow ||
                          each.relation == Expectation::Relation::kAtMost;
    if (each.verdict) {
      throw std::invalid_argument("--expect: " + each.text +
                                  " cannot be searched for: claim a share, such as down<1%");
    }
    if (each.figure != "down") {
      question.claims.push_back({each});
    } else if (is_limit && each.bound > 0 && each.bound < 1) {
      question.down = each;
    } else {
      throw std::invalid_argument("--expect: " + each.text +
                                  " cannot be certified: claim less than a share, such as down<1%");
    }
  }
  const Figures known = cell_figures({});
  if (question.down.text.empty()) {
    question.down = parse_expectation(options.thorough ? "down<1%" : "down<5%", known);
  }
  // What retries are for. Without such a claim it would be cheapest to have none.
  if (question.claims.empty()) {
    question.claims.push_back({parse_expectation("success>98%", known), question.outages});
  }
  return question;
}

std::vector<Variation> variations(const WorkloadOptions& workload, const NamedOptions& given) {
  std::vector<Variation> all{{"load -20 %", {}, "0s load 0.8"},
                             {"load +20 %", {}, "0s load 1.2"},
                             {"capacity -20 %", {}, "0s capacity 0.8"},
                             {"capacity +20 %", {}, "0s capacity 1.2"}};
  for (const char* backlog : {"128", "511", "4096"}) {
    all.push_back({.title = std::string("backlog ") + backlog,
                   .options = {{"backlog", backlog}},
                   .decides = !given.contains("backlog")});
  }
  for (const char* processes : {"1", "100"}) {
    all.push_back({.title = std::string("processes ") + processes,
                   .options = {{"processes", processes}},
                   .decides = !given.contains("processes")});
  }
  all.push_back({.title = "after 2 min of calm", .options = {{"outage-at", "2m"}}});
  if (workload.arrivals == Arrivals::kClosed) {
    const double rate = static_cast<double>(workload.clients) / to_seconds(workload.think_time);
    all.push_back({.title = "open arrivals",
                   .options = {{"arrivals", "open"}, {"rate", print_number(rate)}},
                   .decides = !given.contains("arrivals")});
  }
  for (const auto& [title, outage, length] : std::initializer_list<std::array<const char*, 3>>{
           {"frozen 3 s", "freeze", "3s"},
           {"frozen 25 s", "freeze", "25s"},
           {"a tenth of the capacity for 20 s", "capacity:0.1", "20s"}}) {
    all.push_back({.title = title,
                   .options = {{"outage", outage}, {"outage-for", length}},
                   .in_each_outage = false,
                   .decides = false});
  }
  return all;
}

std::vector<StudyDisturbance> varied(const std::vector<Variation>& variations,
                                     const Question& question) {
  std::vector<StudyDisturbance> all;
  for (const Variation& variation : variations) {
    for (std::size_t i = 0; i < (variation.in_each_outage ? question.outages : 1); ++i) {
      StudyDisturbance one{variation.title, true, variation.options};
      if (variation.in_each_outage) {
        const NamedOptions& outage = question.situations[i].options;
        one.options.insert(outage.begin(), outage.end());
      }
      if (!variation.action.empty()) {
        const auto given = question.given.find("at");
        one.options["at"] =
            (given == question.given.end() ? "" : given->second + "; ") + variation.action;
      }
      all.push_back(std::move(one));
    }
  }
  return all;
}

namespace {

int recommend(const Invocation& invocation, const RecommendOptions& typed) {
  RecommendOptions options = typed;
  if (!options.workload.seed) options.workload.seed = 1;  // for the same answer each time
  return recommend_settings(invocation, options);
}

}  // namespace

const Command kRecommend{
    "recommend",
    "Searches the retry settings that keep your service up at the least cost: few requests that fail, "
    "few\nretries, soon back. The best ones are certified with fresh seeds, and stand beside yours.",
    "retrystorm recommend --start=service_config.json --service=workers --workers=64 "
    "--service-time=lognormal:80ms --arrivals=open --rate=400",
    run_command<RecommendOptions, declare, recommend>};

}  // namespace retrystorm
