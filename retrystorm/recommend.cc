// Which retry settings keep a service up at the least cost? The question, the search with its variations and certificate,
// and what is printed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "common/output/answer.h"
#include "common/output/json_text.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "model/run/run_recorder.h"
#include "policies/readers.h"
#include "retrystorm/policy_files.h"
#include "retrystorm/policy_space.h"
#include "retrystorm/study_command.h"
#include "study/cell_answer.h"
#include "study/judged_runs.h"
#include "words/words.h"

namespace retrystorm {
namespace {

struct RecommendOptions : StudyOptions {
  RecommendOptions() {
    outage_at = std::chrono::seconds(15);
    observe = std::chrono::seconds(45);
  }

  std::string start, policy;
  std::vector<std::string> fixed;
  std::optional<ExportFormat> format;
  bool thorough = false;
  std::size_t candidates = 300;
};

void declare(CLI::App& app, RecommendOptions& options) {
  auto* study = option_group(app, "Study");
  const auto add = [](CLI::Option* option) { option->group("Study"); };
  add(add_text(
      *study, "--start", options.start,
      "your settings, from which the search starts: a strategy, a settings file (.ini) or another "
      "program's file (see `import`)"));
  add(add_text(*study, "--policy", options.policy,
               "which policy of that file: the name of something that it is for, or its line"));
  add(add_repeated(*study, "--fix", "OPTION", options.fixed,
                   "an option that stays as it is in the settings of --start; may be repeated"));
  add(add_value(
      *study, "--as", "NAME", "",
      [&options](const std::string& word) { options.format = parse_export_format(word); },
      "only settings that this format can say, and print them in it: grpc, envoy, istio, envoy-gateway, "
      "resilience4j, aws or dotnet; not given: the format of --start"));
  add(study->add_flag("--thorough", options.thorough,
                      "four times the work: more settings, and a certificate for down<1%"));
  study->add_flag("--quick")->description("what is done without --thorough")->group("");
  add(add_count(*study, "--candidates", options.candidates,
                "how many settings the search begins with; without --thorough a third of them", 10,
                100'000));
  add_study_options(app, options, {});
  add_max_time(app, options);
  hide(app, "runs");  // the certificate's plan says how many
  hide(app, "cell");
}

// --- What is asked ----------------------------------------------------------------------------------------------

// The name of the settings that the user has now.
constexpr std::string_view kYours = "yours";

struct Question {
  std::vector<ListedStrategy> strategies{};  // the first one is changed
  std::size_t compared = 1;                  // how many of them stand beside what is found
  NamedOptions given{};                      // for all settings
  std::optional<ExportFormat> format{};
  FileNames names{};  // in the file of the start
  bool multiplexed = false;
  bool observes_until_drained = false;  // --observe was not given
  std::vector<StudyDisturbance> situations{};
  std::size_t outages = 0;               // the first situations are outages
  Expectation down{};                    // the claim that is certified
  std::vector<SituationClaim> claims{};  // the others
};

// What a program does without settings; for gRPC, which then does not retry, its documents' example.
ListedStrategy default_of(ExportFormat format) {
  // In the order of `ExportFormat`.
  constexpr std::array kNames{"grpc",         "envoy", "",     "resilience4j-retry",
                              "aws-standard", "polly", "envoy"};
  if (format != ExportFormat::kIstio) return {.name = kNames.at(static_cast<std::size_t>(format))};
  const PolicyFile file = read_policies(
      "apiVersion: networking.istio.io/v1\nkind: VirtualService\nspec:\n  http:\n"
      "  - route: [{destination: {host: a}}]\n");
  return {.name = "istio", .settings = options_of(file.policies.front())};
}

// The settings to start from. The format becomes that of their file, unless one is set, and the names are those in it.
ListedStrategy read_start(const RecommendOptions& options, Question& question) {
  const bool is_strategy = options.start.find_first_of("./") == std::string::npos;
  if (is_strategy || options.start.ends_with(".ini")) {
    ListedStrategy start = parse_strategies(options.start).at(0);
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
  const Listed<RetrySettings> retries;
  std::erase_if(*start.settings, [&](const auto& each) {
    if (retries.list.find(each.first) != nullptr) return false;
    given.insert(each);
    return true;
  });
}

// Throws std::invalid_argument, or UnreadableFile, with a readable message.
Question question_of(const Invocation& invocation, const RecommendOptions& options) {
  Question question{.given = given_to_study(invocation.app, {}), .format = options.format};
  if (find_option(invocation.app, "runs")->count() > 0) {
    refuse("--runs is set by this study (see --help)");
  }
  if (options.cell.number > 0) {
    refuse("--cell: a search has no cells, each of its steps follows from the runs before");
  }
  if (pauses(options.workload)) {
    refuse("--arrivals: settings are found by their verdicts, and arrivals that pause have none");
  }
  const auto strategy = question.given.find("strategy");
  if (strategy != question.given.end() && !options.start.empty()) {
    refuse("--start excludes --strategy");
  }
  if (!options.start.empty()) {
    ListedStrategy yours = read_start(options, question);
    share_the_rest(yours, question.given);
    yours.name = kYours;
    question.strategies.push_back(std::move(yours));
  } else if (!options.policy.empty()) {
    refuse("--policy needs --start");
  }
  if (strategy != question.given.end()) {
    question.strategies.push_back({.name = strategy->second});
    question.given.erase("strategy");
  }
  // Istio's default retries no errors.
  if (question.format == ExportFormat::kIstio && question.strategies.empty()) {
    question.strategies.push_back({.name = "envoy"});
  }
  question.strategies.push_back(question.format ? default_of(*question.format)
                                                : ListedStrategy{.name = "begin"});
  question.compared = question.strategies.size();
  // What is retried stays as it is at the start.
  const auto retried_by = [&question](const ListedStrategy& one) {
    const NamedOptions with = with_strategy(question.given, one);
    return to_string(scenario_of(with).workload.retry.limit.retry_on);
  };
  const std::string retry_on = retried_by(question.strategies.front());
  const ListedStrategy usual = question.strategies.back();
  const bool usual_is_one = retried_by(usual) == retry_on;
  for (const NamedStrategy& each : named_strategies()) {
    if (usual_is_one && each.name == usual.name) continue;
    const std::string name(each.name);
    question.strategies.push_back(
        {.name = name, .settings = NamedOptions{{"strategy", name}, {"retry-on", retry_on}}});
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
      refuse("--expect: " + each.text + " cannot be searched for: claim a share, such as down<1%");
    }
    if (each.figure != "down") {
      question.claims.push_back({each});
    } else if (is_limit && each.bound > 0 && each.bound < 1) {
      question.down = each;
    } else {
      refuse("--expect: " + each.text +
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

// What the search does not see: something that differs, in each outage or by itself.
struct Variation {
  std::string title;
  // Is it as likely as what was given? Then settings that are down with it lose to those that are not. What is given,
  // such as a backlog, is known: it does not decide.
  bool decides = true;
  std::vector<std::size_t> situations{};  // among all that are varied
};

struct Variations {
  std::vector<Variation> all{};
  std::vector<StudyDisturbance> situations{};
};

Variations variations_of(const WorkloadOptions& workload, const Question& question) {
  Variations result;
  const auto add_in = [&](NamedOptions options) {
    result.all.back().situations.push_back(result.situations.size());
    result.situations.push_back({result.all.back().title, true, std::move(options)});
  };
  const auto add = [&](const std::string& title, const NamedOptions& options, bool decides = true) {
    result.all.push_back({title, decides});
    for (std::size_t i = 0; i < question.outages; ++i) {
      NamedOptions all = options;
      all.insert(question.situations[i].options.begin(), question.situations[i].options.end());
      add_in(std::move(all));
    }
  };
  std::string before = value_or(question.given, "at", "");
  if (!before.empty()) before += "; ";
  for (const char* what : {"load", "capacity"}) {
    add(what + std::string(" -20 %"), {{"at", before + "0s " + what + " 0.8"}});
    add(what + std::string(" +20 %"), {{"at", before + "0s " + what + " 1.2"}});
  }
  for (const auto& [name, value] :
       std::initializer_list<std::array<std::string, 2>>{{"backlog", "128"},
                                                         {"backlog", "511"},
                                                         {"backlog", "4096"},
                                                         {"processes", "1"},
                                                         {"processes", "100"}}) {
    add(name + ' ' + value, {{name, value}}, !question.given.contains(name));
  }
  add("after 2 min of calm", {{"outage-at", "2m"}});
  if (workload.arrivals == Arrivals::kClosed) {
    const double rate = static_cast<double>(workload.clients) / to_seconds(workload.think_time);
    add("open arrivals", {{"arrivals", "open"}, {"rate", print_number(rate)}},
        !question.given.contains("arrivals"));
  }
  for (const auto& [title, outage, length] : std::initializer_list<std::array<const char*, 3>>{
           {"frozen 3 s", "freeze", "3s"},
           {"frozen 25 s", "freeze", "25s"},
           {"a tenth of the capacity for 20 s", "capacity:0.1", "20s"}}) {
    result.all.push_back({title, false});
    add_in({{"outage", outage}, {"outage-for", length}});
  }
  return result;
}

// --- The work ---------------------------------------------------------------------------------------------------

// A row of the tables.
struct Row {
  std::string name;
  Settings settings;
  bool is_found = true;  // by the search; the others are those that it is compared with
};

constexpr std::string_view kRecommended = "recommended";

// Seeds that no other part of the work has.
constexpr std::uint64_t kRobustSeeds = 1'000, kFreshSeeds = 10'000;

SearchPlan plan_of(const RecommendOptions& options) {
  const std::size_t count = options.thorough ? options.candidates : options.candidates / 3;
  SearchPlan plan{.candidates = count,
                  .raced = count / 5,
                  .rounds = 2,
                  .children = std::max<std::size_t>(count / 6, 6)};
  if (!options.thorough) plan.race = 20;
  return plan;
}

ScenarioOptions scenario_in(const StudyDisturbance& situation, const Settings& settings,
                            const Question& question, const PolicySpace& space) {
  NamedOptions common = question.given;
  for (const auto& [name, value] : situation.options) common[name] = value;
  ScenarioOptions scenario = scenario_of(space.options_of(settings, common));
  if (question.observes_until_drained && situation.outage) {
    scenario.observe = until_drained(scenario);
  }
  return scenario;
}

std::vector<StudyCell> cells_of(const Question& question, const PolicySpace& space) {
  std::vector<StudyCell> cells;
  for (const StudyDisturbance& each : question.situations) {
    cells.push_back(
        {{space.name(0), each.title}, scenario_in(each, space.strategy(0), question, space)});
  }
  return cells;
}

// How much of it differs from what the search started from. Another strategy is much.
std::size_t changes_in(const Settings& settings) {
  constexpr std::size_t kOtherStrategy = 3;
  if (settings.front() != 0) return kOtherStrategy;
  return static_cast<std::size_t>(
      std::ranges::count_if(settings, [](std::size_t each) { return each != 0; }));
}

// A value as the claim about it has it.
std::string value_text(const Expectation& claim, double value) {
  if (!std::isfinite(value)) return "never";
  if (claim.percent) return fixed(100 * value, 2) + '%';
  if (claim.time_unit > 0) return format_duration(from_seconds(rounded(value * claim.time_unit)));
  return print_number(rounded(value));
}

// Its search asks it for the trials: the situations, and what the search does not see of them.
class Recommendation final : private Trials {
 public:
  Recommendation(const Invocation& invocation, const RecommendOptions& options)
      : options_(options),
        teller_(options.look.color),
        question_(question_of(invocation, options)),
        space_(question_.strategies, question_.given, options.fixed, question_.format),
        study_(invocation, options,
               {.labels = {"setting", "disturbance"}, .cells = cells_of(question_, space_)}),
        evaluator_(study_.evaluator()),
        variations_(variations_of(options.workload, question_)),
        plan_(plan_of(options)),
        certified_(options.thorough ? 4 : 3),
        misses_(kUsualMisses / static_cast<double>(certified_ + question_.compared)),
        certificate_(certificate(question_.down.bound, misses_)),
        bar_(progress_stream(), expected_runs()),
        trials_(trials(question_.situations, question_.claims, 0)),
        robust_(trials(variations_.situations, {}, kRobustSeeds)),
        fresh_(trials(question_.situations, question_.claims, kFreshSeeds)),
        search_(space_.knobs(), *this, question_.situations.size(), question_.down.bound, plan_,
                study_.seed()) {
    std::vector<std::size_t> outages(question_.outages);
    std::iota(outages.begin(), outages.end(), std::size_t{0});
    std::vector<std::string> set_here = kSetByDisturbances;
    for (const std::string& name : space_.names()) set_here.push_back(name);
    if (question_.multiplexed) set_here.emplace_back("connections");
    study_.tell_outlook(invocation, outages, set_here,
                        {"before-recommend",
                         {counted("settings", plan_.candidates),
                          counted("faults", question_.situations.size()),
                          {"runs", static_cast<double>(expected_runs())}}});
  }

  int run() {
    const bool complete = work();
    bar_.clear();
    study_.end_work(complete);
    const std::vector<Row> all = rows();
    write(all);
    const Table table = found_.empty() ? Table() : table_of(all);
    // Nothing was found, or it was interrupted before its first fresh run.
    if (table.rows.empty()) {
      found_.empty() && complete ? print_nearest() : print_best_so_far();
      const int code = study_.finish();
      return code != 0 ? code : found_.empty() ? kExitBroken : kExitUndecided;
    }
    const bool certified = all.front().name == kRecommended;
    if (certified) {
      print_choice(all.front().settings);
    } else {
      teller_.headline(Tone::kDoubt,
                       {"recommend-not-certified",
                        {{"row", all.front().name},
                         {"why", words_of(why_not(all.front(), all.front().settings))}}});
    }
    study_.show(table);
    // The others are known by their names.
    for (const Row& row : all) {
      if (!row.is_found || row.name == kRecommended) continue;
      teller_.text(settings_text(row.settings), Tone::kPlain, "  " + row.name + ": ");
    }
    if (certified) {
      print_beside(all.front().settings, complete);
      if (question_.format) {
        const ScenarioOptions options =
            scenario_of(space_.options_of(all.front().settings, question_.given));
        std::cout << '\n';
        print_exported(
            export_policy(options.workload, *question_.format, question_.names, options.hosts));
      }
    }
    const int code = study_.finish();
    return code != 0 || certified ? code : kExitUndecided;
  }

 private:
  // --- The trials of the search

  bool run(const std::vector<Settings>& all, std::size_t situation, std::size_t until) override {
    return trials_.run(all, situation, until);
  }

  // Few runs: in most variations all of them are down, or none.
  bool vary(const std::vector<Settings>& all) override {
    constexpr std::size_t kRuns = 3;
    return std::ranges::all_of(variations_.all, [&](const Variation& variation) {
      return !variation.decides || std::ranges::all_of(variation.situations, [&](std::size_t each) {
        return robust_.run(all, each, kRuns);
      });
    });
  }

  Standing standing(const Settings& settings) const override {
    Standing standing = trials_.standing(settings);
    standing.fragile =
        static_cast<std::size_t>(std::ranges::count_if(variations_.all, [&](const Variation& each) {
          const DownRuns worst = worst_of(settings, each);
          return each.decides && is_majority(worst.hits, worst.runs);
        }));
    return standing;
  }

  DownRuns worst_of(const Settings& settings, const Variation& variation) const {
    const Standing standing = robust_.standing(settings);
    DownRuns worst;
    for (const std::size_t each : variation.situations) {
      const DownRuns& down = standing.down[each];
      if (down.runs > 0 && (worst.runs == 0 || down.hits > worst.hits)) worst = down;
    }
    return worst;
  }

  // --- The work

  std::size_t robust_runs() const { return options_.thorough ? 20 : 10; }

  SimulatedTrials trials(const std::vector<StudyDisturbance>& situations,
                         const std::vector<SituationClaim>& claims, std::uint64_t first_seed) {
    return {situations,
            claims,
            evaluator_,
            study_.seed() + first_seed,
            [this](const Settings& settings, const StudyDisturbance& situation) {
              return make_scenario(scenario_in(situation, settings, question_, space_), 0);
            },
            [this](const RunResult& run) { bar_.see(run); }};
  }

  // About. The search drops most settings early, and the certificate ends the runs of the bad ones.
  std::size_t expected_runs() const {
    const std::size_t search = plan_.candidates * plan_.screened + plan_.raced * plan_.race +
                               plan_.rounds * plan_.children * plan_.race / 2;
    return question_.situations.size() * (search + certified_ * certificate_.runs) +
           2 * certified_ * variations_.situations.size() * robust_runs();
  }

  // The best first: what stays up in the most variations, and of this the plainest that hardly costs more.
  std::vector<Settings> by_merit(std::vector<Settings> all, const SimulatedTrials& trials) const {
    for (auto next = all.begin(); next != all.end(); ++next) {
      const auto merit = [&](const Settings& each) {
        return std::pair(standing(each).fragile, trials.standing(each).cost());
      };
      std::pair least = merit(*next);
      for (auto each = next; each != all.end(); ++each) least = std::min(least, merit(*each));
      const auto key = [&](const Settings& each) {
        const auto [fragile, cost] = merit(each);
        return std::tuple(fragile, cost > least.second + kSameCost, changes_in(each), cost);
      };
      const auto best = std::min_element(
          next, all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
      std::rotate(next, best, best + 1);
    }
    return all;
  }

  bool work() {
    if (!search_.run(space_.simplest(plan_.candidates))) return false;
    const auto add = [](std::vector<Settings>& all, const Settings& one) {
      if (std::ranges::find(all, one) == all.end()) all.push_back(one);
    };
    // What the search started from, as it is, unless something is wrong with it. Whether a claim holds that is
    // nearly met, fresh seeds say.
    constexpr double kNearlyMet = 0.01;
    const Settings unchanged = space_.strategy(0);
    const Standing standing = trials_.standing(unchanged);
    if (standing.most_down() == 0 && standing.missed < kNearlyMet && !standing.costs.empty()) {
      add(found_, unchanged);
    }
    // The simplest that hardly costs more, and others that cost as little as what was found.
    constexpr double kHardlyMore = 0.002;
    for (const Settings& each : search_.finalists(2 * certified_)) {
      add(found_, search_.simplified(each));
      add(found_, search_.simplified(each, kHardlyMore));
    }
    const auto with_compared = [&](std::vector<Settings> all) {
      for (std::size_t i = 0; i < question_.compared; ++i) add(all, space_.strategy(i));
      return all;
    };
    for (std::size_t i = 0; i < variations_.situations.size(); ++i) {
      if (!robust_.run(with_compared(found_), i, robust_runs())) return false;
    }
    found_ = by_merit(found_, trials_);
    found_.resize(std::min(found_.size(), certified_));
    return certify(certificate_, with_compared(found_), question_.situations.size(), fresh_);
  }

  bool is_certified(const Settings& settings) const {
    return passes(certificate_, fresh_.standing(settings)) &&
           fresh_.missed(settings, 2 * misses_).empty();
  }

  std::vector<Row> rows() const {
    std::vector<Settings> good = found_;
    std::erase_if(good, [this](const Settings& each) { return !is_certified(each); });
    std::vector<Row> rows;
    if (!good.empty()) {
      good = by_merit(good, fresh_);
      rows.push_back({std::string(kRecommended), good.front()});
    }
    std::size_t refused = 0;
    for (const Settings& each : found_) {
      // What the search started from has a row of its own name.
      if (is_certified(each) || each == space_.strategy(0)) continue;
      rows.push_back({"refused " + std::to_string(++refused), each});
    }
    for (std::size_t i = 0; i < question_.compared; ++i) {
      const bool is_shown =
          std::ranges::find(rows, space_.strategy(i), &Row::settings) != rows.end();
      if (!is_shown) rows.push_back({space_.name(i), space_.strategy(i), false});
    }
    return rows;
  }

  // --- What is printed

  // Why these settings are not the recommended ones.
  Statements why_not(const Row& row, const Settings& recommended) const {
    const Standing standing = fresh_.standing(row.settings);
    const Statements down = down_in(standing, certificate_.most_for);
    if (!down.empty()) return {down.front()};
    if (!passes(certificate_, standing)) return {{"setting-interrupted"}};
    Statements claims;
    for (const auto& [claim, miss] : fresh_.missed(row.settings, 2 * misses_)) {
      claims.push_back(missed(claim, miss));
    }
    return claims.empty() ? distance(row.settings, recommended) : claims;
  }

  // What differs clearly in the certificate's runs.
  Statements distance(const Settings& settings, const Settings& recommended) const {
    const SituationFigures ours = fresh_.figures(recommended), its = fresh_.figures(settings);
    Statements all;
    if (const double failed = its.failed - ours.failed; std::abs(failed) >= 0.001) {
      all.push_back({failed > 0 ? "setting-more-failed" : "setting-less-failed",
                     {{"share", ShareOf{std::abs(failed)}}}});
    }
    if (const double attempts = its.attempts - ours.attempts; std::abs(attempts) >= 0.01) {
      all.push_back({attempts > 0 ? "setting-more-attempts" : "setting-less-attempts",
                     {{"attempts", std::abs(attempts)}}});
    }
    if (ours.back && its.back) {
      const Duration later = *its.back - *ours.back;
      if (std::chrono::abs(later) >= std::chrono::milliseconds(500)) {
        all.push_back({later > Duration::zero() ? "setting-later" : "setting-sooner",
                       {{"time", std::chrono::abs(later)}}});
      }
    } else if (ours.back || its.back) {
      all.push_back({its.back ? "setting-back" : "setting-not-back"});
    }
    return all.empty() ? Statements{{"setting-same"}} : all;
  }

  Statement missed(std::size_t claim, const MissedClaim& miss) const {
    const SituationClaim& missed = question_.claims[claim];
    return {"setting-misses",
            {{"claim", missed.claim.text},
             {"fault", question_.situations[miss.situation].title},
             {"value", value_text(missed.claim, miss.value)}}};
  }

  // A remark behind a row says why it is not the recommended one: of the first two that are not.
  Table table_of(const std::vector<Row>& rows) const {
    // The outage of which the table has the success: one's own, or frozen for 10 s. A mean over outages of other lengths
    // says little.
    const std::size_t shown = question_.outages / 2;
    Table table{.columns = {{.title = "setting", .code = true},
                            {.title = "down", .group = "stays"},
                            {.title = "at most", .group = "stays", .rank = 2},
                            {.title = "after", .group = "back"},
                            {.title = question_.situations[shown].title, .group = "answered"},
                            {.title = "10 % fail", .group = "answered"},
                            {.title = "50 % fail", .group = "answered"},
                            {.title = "per request", .group = "attempts"},
                            {.title = "in an outage", .group = "attempts", .rank = 1}},
                .rows = {}};
    std::size_t reasons = 0;
    for (const Row& row : rows) {
      const Standing standing = fresh_.standing(row.settings);
      const auto worst =
          std::ranges::max_element(standing.down, [](const DownRuns& a, const DownRuns& b) {
            return std::pair(a.hits, b.runs) < std::pair(b.hits, a.runs);
          });
      if (worst->runs == 0) continue;
      std::vector<std::string> texts{
          row.name, words_of({"of", {counted("part", worst->hits), counted("all", worst->runs)}}),
          share_words(greatest_share(worst->hits, worst->runs, misses_))};
      if (standing.costs.empty()) {
        texts.resize(table.columns.size(), "-");
      } else {
        const SituationFigures figures = fresh_.figures(row.settings);
        texts.push_back(figures.back ? time_words(*figures.back) : words_of("not-in-time"));
        texts.push_back(share_words(figures.in_outage[shown]));
        for (const double each : figures.in_errors) texts.push_back(share_words(each));
        texts.push_back(number_words(figures.attempts));
        texts.push_back(number_words(figures.most_attempts));
      }
      const bool is_choice = row.name == kRecommended;
      const bool has_reason = !is_choice && (row.name == kYours || reasons++ == 0);
      table.rows.push_back(std::move(texts));
      table.tones.push_back(is_choice                    ? Tone::kGood
                            : is_certified(row.settings) ? Tone::kPlain
                                                         : Tone::kDoubt);
      table.remarks.push_back(has_reason ? words_of(why_not(row, rows.front().settings)) : "");
    }
    return table;
  }

  // What is recommended: in one sentence, and as options.
  void print_choice(const Settings& settings) const {
    const bool as_it_is = settings == space_.strategy(0);
    teller_.headline(Tone::kGood,
                     {as_it_is ? "recommend-start" : "recommend-found",
                      {{"what", as_it_is ? space_.name(settings[0]) : settings_text(settings)},
                       counted("count", search_.tried().size())}});
    std::vector<std::string> full;
    for (const auto& [name, value] : space_.in_full(settings)) full.push_back(name + "=" + value);
    teller_.text(list_words(full, "  "), Tone::kPlain);
  }

  // What is certified holds for what was given only.
  void print_beside(const Settings& recommended, bool complete) const {
    std::vector<std::string> where;
    std::size_t up = 0;
    for (const Variation& variation : variations_.all) {
      const DownRuns worst = worst_of(recommended, variation);
      if (worst.runs > 0 && worst.hits == 0) ++up;
      if (worst.hits > 0) where.push_back(variation.title);
    }
    if (!complete) return teller_.below({"recommend-interrupted"}, Tone::kDoubt);
    if (where.empty()) {
      teller_.below({"recommend-varied", {counted("count", up)}});
    } else {
      teller_.below({"recommend-varied-down", {{"list", list_words(where)}}}, Tone::kDoubt);
    }
    const ScenarioOptions options = scenario_of(space_.options_of(recommended, question_.given));
    if (const auto length =
            options.graph.on() ? std::nullopt : advised_queue_length(look_ahead(options))) {
      const bool in_kernel = options.service.accepts_when_free();
      teller_.below({"recommend-queue",
                     {{"option", in_kernel ? "backlog" : "queue-length"},
                      {"length", std::to_string(*length)}}});
    }
    const double most = greatest_share(certificate_.most_for, certificate_.runs, misses_);
    teller_.dim({options_.start.empty() ? "recommend-below" : "recommend-below-start",
                 {{"share", ShareOf{most}}, {"seed", std::to_string(study_.seed())}}});
  }

  // Of a named strategy its name first, then what differs from it; and the changes. Yours are known.
  std::vector<std::pair<std::string, std::string>> own_settings(const Settings& settings) const {
    std::vector<std::pair<std::string, std::string>> all;
    if (space_.name(settings[0]) != kYours) {
      for (const auto& each : space_.settings_of(settings[0])) {
        all.insert(each.first == "strategy" ? all.begin() : all.end(), each);
      }
    }
    const NamedOptions changes = space_.changes(settings);
    all.insert(all.end(), changes.begin(), changes.end());
    return all;
  }

  // As options, in one line.
  std::string settings_text(const Settings& settings) const {
    std::vector<std::string> words;
    for (const auto& [name, value] : own_settings(settings)) {
      words.push_back("--" + name + '=' + value);
    }
    if (space_.name(settings[0]) != kYours) return list_words(words, " ");
    return words.empty() ? std::string(kYours)
                         : words_of({"recommend-changed", {{"options", list_words(words, " ")}}});
  }

  // Where these settings are down in more runs than so many.
  Statements down_in(const Standing& standing, std::size_t most) const {
    Statements all;
    for (std::size_t i = 0; i < standing.down.size(); ++i) {
      const DownRuns& down = standing.down[i];
      if (down.hits <= most) continue;
      all.push_back({"setting-down",
                     {counted("down", down.hits),
                      counted("runs", down.runs),
                      {"fault", question_.situations[i].title}}});
    }
    return all;
  }

  // What stands in the way.
  void print_nearest() const {
    const std::vector<Settings> ranked = search_.ranked();
    Statements why{{"recommend-all-down", {{"claim", question_.down.text}}}};
    if (!ranked.empty()) {
      why.clear();
      for (const auto& [claim, miss] : trials_.missed(ranked.front())) {
        why.push_back(missed(claim, miss));
      }
      const Statements down = down_in(trials_.standing(ranked.front()), 0);
      why.insert(why.end(), down.begin(), down.end());
    }
    teller_.headline(
        Tone::kBad,
        {"recommend-none", {counted("count", search_.tried().size()), {"why", words_of(why)}}});
    if (!ranked.empty()) {
      teller_.below({"recommend-nearest", {{"what", settings_text(ranked.front())}}});
    }
    teller_.dim({"recommend-what-else"});
  }

  void write(const std::vector<Row>& rows) {
    const auto options_json = [this](const Settings& settings) {
      Json json = Json::object();
      json["strategy"] = space_.name(settings[0]);
      for (const auto& [name, value] : own_settings(settings)) json[underscored(name)] = value;
      return json;
    };
    for (const Settings& each : search_.ranked()) {
      if (trials_.standing(each).costs.empty()) continue;
      const SituationFigures figures = trials_.figures(each);
      Json line{{"type", "candidate"},
                {"settings", options_json(each)},
                {"down", trials_.standing(each).most_down()},
                {"claims_missed", trials_.missed(each).size()},
                {"back_s", nullptr},
                {"failed", rounded(figures.failed)},
                {"attempts", rounded(figures.attempts)}};
      if (figures.back) line["back_s"] = rounded(to_seconds(*figures.back));
      study_.json().write(line);
    }
    for (const Row& row : rows) {
      study_.json().write({{"type", "setting"},
                           {"setting", row.name},
                           {"settings", options_json(row.settings)},
                           {"certified", is_certified(row.settings)}});
      for (std::size_t i = 0; i < question_.situations.size(); ++i) {
        const auto& runs = fresh_.runs(row.settings, i);
        if (!runs.empty())
          study_.write_row({row.name, question_.situations[i].title}, summarize(runs));
      }
    }
  }

  // Interrupted before any settings were certified: the best by then.
  void print_best_so_far() const {
    const std::vector<Settings> ranked = search_.ranked();
    const std::string best = !found_.empty()   ? settings_text(found_.front())
                             : !ranked.empty() ? settings_text(ranked.front())
                                               : "";
    teller_.headline(Tone::kDoubt,
                     {best.empty() ? "recommend-nothing-yet" : "recommend-best-so-far",
                      {{"what", best}, counted("count", search_.tried().size())}});
  }

  const RecommendOptions& options_;
  const Teller teller_;
  const Question question_;
  const PolicySpace space_;
  Study study_;
  const Evaluator evaluator_;
  const Variations variations_;
  const SearchPlan plan_;
  const std::size_t certified_;  // how many settings are put to the certificate
  const double misses_;          // of the claim of each of them
  const Acceptance certificate_;
  ProgressBar bar_;
  SimulatedTrials trials_, robust_, fresh_;
  Search search_;
  std::vector<Settings> found_{};  // the finalists
};

int recommend(const Invocation& invocation, const RecommendOptions& typed) {
  RecommendOptions options = typed;
  if (!options.workload.seed) options.workload.seed = 1;  // for the same answer each time
  return Recommendation(invocation, options).run();
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
