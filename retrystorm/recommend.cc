// Which retry settings keep a service up at the least cost?
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <iostream>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "common/output/json_text.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "policies/import.h"
#include "retrystorm/disturbances.h"
#include "retrystorm/policy_files.h"
#include "retrystorm/policy_runs.h"
#include "retrystorm/policy_space.h"
#include "retrystorm/simulated_trials.h"
#include "retrystorm/study_command.h"
#include "study/fitted_table.h"
#include "study/judged_runs.h"
#include "study/progress_bar.h"

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
  bool quick = false;
  std::size_t candidates = 300;
};

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
  study
      ->add_option("--fix", options.fixed,
                   "an option that stays as it is in the settings of --start; may be repeated")
      ->type_name("OPTION")
      ->group("Study")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_value(
      *study, "--as", "NAME", "",
      [&options](const std::string& word) { options.format = parse_export_format(word); },
      "only settings that this format can say, and print them in it: grpc, envoy, istio, resilience4j "
      "or aws; not given: the format of --start")
      ->group("Study");
  study
      ->add_flag("--quick", options.quick,
                 "a quarter of the work: fewer settings, and a certificate for down<5%")
      ->group("Study");
  add_count(*study, "--candidates", options.candidates,
            "how many settings the search begins with, --quick with a third of them", 10, 100'000)
      ->group("Study");
  add_study_options(app, options, kSetByDisturbances);
  hide(app, "runs");  // the certificate's plan says how many
}

// ---- what is asked ----

struct Question {
  std::vector<ListedStrategy> strategies{};  // the first one is changed
  std::size_t compared = 1;                  // how many of them stand beside what is found
  NamedOptions given{};                      // for all settings
  std::optional<ExportFormat> format{};
  bool multiplexed = false;
  std::vector<Situation> situations{};
  Expectation down{};                    // the claim that is certified
  std::vector<SituationClaim> claims{};  // the others
};

constexpr std::string_view kYours = "yours";

ListedStrategy named(std::string name) {
  return {.name = std::move(name)};
}

// What a program does that is told nothing, or gRPC's example, for it has no default.
ListedStrategy default_of(ExportFormat format) {
  switch (format) {
    case ExportFormat::kGrpc:
      return named("grpc");
    case ExportFormat::kEnvoy:
      return named("envoy");
    case ExportFormat::kResilience4j:
      return named("resilience4j-retry");
    case ExportFormat::kAws:
      return named("aws-standard");
    case ExportFormat::kIstio:
      break;
  }
  const PolicyFile file = read_policies(
      "apiVersion: networking.istio.io/v1\nkind: VirtualService\nspec:\n  http:\n"
      "  - route: [{destination: {host: a}}]\n");
  return {.name = "istio", .settings = options_of(file.policies.front())};
}

// The settings to start from. The format becomes that of their file, unless one is set.
ListedStrategy read_start(const RecommendOptions& options, std::optional<ExportFormat>& format) {
  ScenarioOptions any;
  OptionList list;
  declare_options(list, any);
  const bool is_strategy = options.start.find_first_of("./") == std::string::npos;
  if (is_strategy || options.start.ends_with(".ini")) {
    ListedStrategy start = parse_strategies(list, options.start).at(0);
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
  if (!format && !file.format.empty()) format = parse_export_format(file.format);
  return {.name = options.start, .settings = options_of(policy)};
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

Question question_of(const Invocation& invocation, const RecommendOptions& options) {
  Question question{.given = given_to_study(invocation.app, kSetByDisturbances),
                    .format = options.format};
  if (find_option(invocation.app, "runs")->count() > 0) {
    throw std::invalid_argument("--runs is set by this study (see --help)");
  }
  std::string start = options.start;
  const auto strategy = question.given.find("strategy");
  if (strategy != question.given.end() && !start.empty()) {
    throw std::invalid_argument("--start excludes --strategy");
  }
  if (!start.empty()) {
    ListedStrategy yours = read_start(options, question.format);
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
  for (const NamedStrategy& each : named_strategies()) {
    if (each.name != question.strategies[question.compared - 1].name) {
      question.strategies.push_back(named(std::string(each.name)));
    }
  }
  // All requests of a process are on one connection.
  question.multiplexed = question.format == ExportFormat::kGrpc &&
                         question.given.try_emplace("connections", "multiplexed").second;
  question.given["outage-at"] = format_duration(options.outage_at);
  question.given["observe"] = format_duration(options.observe);
  for (const StudyDisturbance& each : disturbances()) {
    question.situations.push_back({each.title, each.outage, each.options});
  }

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
    question.down = parse_expectation(options.quick ? "down<5%" : "down<1%", known);
  }
  // What retries are for. Without such a claim it would be cheapest to have none.
  constexpr std::size_t kErrors = 3;
  if (question.claims.empty()) {
    question.claims.push_back({parse_expectation("success>99%", known), kErrors});
  }
  return question;
}

std::string claim_text(const SituationClaim& claim, const std::vector<Situation>& situations) {
  return claim.claim.text + (claim.only_in ? " (" + situations[*claim.only_in].title + ')' : "");
}

// ---- what nobody tuned on ----

constexpr std::size_t kOutages = 3;  // of the disturbances, the first ones

struct Variation {
  std::string title;
  NamedOptions options{};
  std::string action{};  // as --at has it
  bool in_each_outage = true;
  // Is it as likely as the service itself? Then recommended settings must not be down with it.
  bool is_near = false;
};

std::vector<Variation> variations(const WorkloadOptions& workload) {
  std::vector<Variation> all{{"load -20 %", {}, "0s load 0.8", true, true},
                             {"load +20 %", {}, "0s load 1.2", true, true},
                             {"capacity -20 %", {}, "0s capacity 0.8", true, true},
                             {"capacity +20 %", {}, "0s capacity 1.2", true, true}};
  for (const char* backlog : {"128", "511", "4096"}) {
    all.push_back({std::string("backlog ") + backlog, {{"backlog", backlog}}});
  }
  if (workload.arrivals == Arrivals::kClosed) {
    const double rate = static_cast<double>(workload.clients) / to_seconds(workload.think_time);
    all.push_back({"open arrivals", {{"arrivals", "open"}, {"rate", print_number(rate)}}});
  }
  for (const auto& [title, outage, length] : std::initializer_list<std::array<const char*, 3>>{
           {"frozen 3 s", "freeze", "3s"},
           {"frozen 25 s", "freeze", "25s"},
           {"a tenth of the capacity for 20 s", "capacity:0.1", "20s"}}) {
    all.push_back({title, {{"outage", outage}, {"outage-for", length}}, "", false});
  }
  return all;
}

// Each variation in each outage, one after the other.
std::vector<Situation> varied(const std::vector<Variation>& variations, const Question& question) {
  std::vector<Situation> all;
  for (const Variation& variation : variations) {
    for (std::size_t i = 0; i < (variation.in_each_outage ? kOutages : 1); ++i) {
      Situation one{variation.title, true, variation.options};
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

// ---- the work ----

// A row of the tables.
struct Row {
  std::string name;
  Settings settings;
};

constexpr std::string_view kRecommended = "recommended", kSafer = "safer", kCheaper = "cheaper",
                           kRefused = "refused";

// The names whose first letters are marks in the picture.
bool has_mark(std::string_view name) {
  return name == kRecommended || name == kSafer || name == kCheaper || name == kYours;
}

class Recommendation {
 public:
  Recommendation(const Invocation& invocation, const RecommendOptions& options);
  // Searches, certifies and prints. Returns the exit code.
  int run();

 private:
  SimulatedTrials trials(const std::vector<Situation>& situations,
                         const std::vector<SituationClaim>& claims, std::uint64_t first_seed);
  bool work();
  std::size_t expected_runs() const;
  std::size_t robust_runs() const { return options_.quick ? 10 : 20; }

  std::size_t fragile(const Settings& settings) const;
  DownRuns worst_of(const Standing& standing, const Variation& variation) const;
  std::size_t down_when_varied(const Settings& settings) const;
  std::vector<Settings> by_merit(std::vector<Settings> all, const SimulatedTrials& trials) const;
  bool is_certified(const Settings& settings) const;
  std::vector<Row> rows() const;
  std::string why_not(const Row& row, const Settings& recommended) const;
  std::string missed_text(std::size_t claim, const MissedClaim& miss) const;
  std::string settings_text(const Settings& settings) const;

  void print_plan() const;
  Table table_of(const std::vector<Row>& rows) const;
  void print_variations(const std::vector<Row>& rows) const;
  void print_picture(const std::vector<Row>& rows) const;
  void print_settings(const std::vector<Row>& rows) const;
  void print_nearest() const;
  void write(const std::vector<Row>& rows);

  const RecommendOptions& options_;
  const Question question_;
  const PolicySpace space_;
  Study study_;
  const Evaluator evaluator_;
  const std::vector<Variation> variations_;
  const std::vector<Situation> varied_;
  const std::vector<SituationClaim> no_claims_{};
  const SearchPlan plan_;
  const std::size_t certified_;  // how many settings are put to the certificate
  const double misses_;          // of the claim of each of them
  const Acceptance certificate_;
  ProgressBar bar_;
  std::size_t made_ = 0;  // runs
  SimulatedTrials trials_, robust_, fresh_;
  Search search_;
  std::vector<Settings> found_{};  // the finalists
};

SearchPlan plan_of(const RecommendOptions& options) {
  const std::size_t count = options.quick ? options.candidates / 3 : options.candidates;
  SearchPlan plan{
      .candidates = count, .raced = count / 5, .children = std::max<std::size_t>(count / 5, 12)};
  if (options.quick) {
    plan.race = 20;
    plan.rounds = 3;
  }
  return plan;
}

ScenarioOptions scenario_in(const Situation& situation, const Settings& settings,
                            const Question& question, const PolicySpace& space) {
  NamedOptions common = question.given;
  for (const auto& [name, value] : situation.options) common[name] = value;
  return scenario_of(space.options_of(settings, common));
}

std::vector<StudyCell> cells_of(const Question& question, const PolicySpace& space) {
  std::vector<StudyCell> cells;
  for (const Situation& each : question.situations) {
    cells.push_back(
        {{space.name(0), each.title}, scenario_in(each, space.strategy(0), question, space)});
  }
  return cells;
}

// Seeds that no other part of the work has.
constexpr std::uint64_t kRobustSeeds = 1'000, kFreshSeeds = 10'000;

Recommendation::Recommendation(const Invocation& invocation, const RecommendOptions& options)
    : options_(options),
      question_(question_of(invocation, options)),
      space_(question_.strategies, question_.given, options.fixed, question_.format),
      study_(invocation, options, {"setting", "disturbance"}, cells_of(question_, space_)),
      evaluator_(study_.evaluator()),
      variations_(variations(options.workload)),
      varied_(varied(variations_, question_)),
      plan_(plan_of(options)),
      certified_(options.quick ? 3 : 4),
      misses_(kUsualMisses / static_cast<double>(certified_ + question_.compared)),
      certificate_(certificate(question_.down.bound, misses_)),
      bar_(isatty(STDERR_FILENO) == 1 ? &std::cerr : nullptr, expected_runs()),
      trials_(trials(question_.situations, question_.claims, 0)),
      robust_(trials(varied_, no_claims_, kRobustSeeds)),
      fresh_(trials(question_.situations, question_.claims, kFreshSeeds)),
      search_(space_.knobs(), trials_, question_.situations.size(), question_.down.bound, plan_,
              study_.seed()) {
  std::vector<std::size_t> outages(kOutages);
  std::iota(outages.begin(), outages.end(), std::size_t{0});
  std::vector<std::string> set_here = kSetByDisturbances;
  for (const std::string& name : space_.names()) set_here.push_back(name);
  if (question_.multiplexed) set_here.emplace_back("connections");
  study_.tell_outlook(invocation, outages, set_here);
}

SimulatedTrials Recommendation::trials(const std::vector<Situation>& situations,
                                       const std::vector<SituationClaim>& claims,
                                       std::uint64_t first_seed) {
  return {situations,
          claims,
          evaluator_,
          study_.seed() + first_seed,
          [this](const Settings& settings, const Situation& situation) {
            return make_scenario(scenario_in(situation, settings, question_, space_), 0);
          },
          [this](std::size_t runs) {
            made_ += runs;
            bar_.show(made_);
          }};
}

// About. The search drops most settings early, and the certificate ends the runs of the bad ones.
std::size_t Recommendation::expected_runs() const {
  const std::size_t search = plan_.candidates * plan_.screened + plan_.raced * plan_.race +
                             plan_.rounds * plan_.children * plan_.race / 2;
  return question_.situations.size() * (search + certified_ * certificate_.runs) +
         2 * certified_ * varied_.size() * robust_runs();
}

// How many of the near variations bring most runs down.
std::size_t Recommendation::fragile(const Settings& settings) const {
  const Standing standing = robust_.standing(settings);
  return static_cast<std::size_t>(
      std::count_if(variations_.begin(), variations_.end(), [&](const Variation& each) {
        const DownRuns worst = worst_of(standing, each);
        return each.is_near && is_majority(worst.hits, worst.runs);
      }));
}

// In the worst of the outages.
DownRuns Recommendation::worst_of(const Standing& standing, const Variation& variation) const {
  DownRuns worst;
  for (std::size_t i = 0; i < varied_.size(); ++i) {
    if (varied_[i].title != variation.title || standing.down[i].runs == 0) continue;
    if (worst.runs == 0 || standing.down[i].hits > worst.hits) worst = standing.down[i];
  }
  return worst;
}

std::size_t Recommendation::down_when_varied(const Settings& settings) const {
  std::size_t hits = 0;
  for (const DownRuns& each : robust_.standing(settings).down) hits += each.hits;
  return hits;
}

// Those that should be the recommended, the safer and the cheaper one, and then the next best.
std::vector<Settings> Recommendation::by_merit(std::vector<Settings> all,
                                               const SimulatedTrials& trials) const {
  std::vector<Settings> result;
  const auto add_best = [&](const auto& key) {
    const auto less = [&key](const Settings& a, const Settings& b) { return key(a) < key(b); };
    const auto best = std::min_element(all.begin(), all.end(), less);
    if (best == all.end()) return;
    result.push_back(*best);
    all.erase(best);
  };
  const auto merit = [&](const Settings& each) {
    return std::pair(fragile(each), trials.standing(each).cost());
  };
  add_best(merit);
  add_best([&](const Settings& each) {
    return std::pair(down_when_varied(each), trials.figures(each).most_attempts);
  });
  add_best([&](const Settings& each) { return trials.figures(each).attempts; });
  while (!all.empty()) add_best(merit);
  return result;
}

bool Recommendation::work() {
  if (!search_.run(space_.simplest(plan_.candidates))) return false;
  for (const Settings& each : search_.finalists(2 * certified_)) {
    const Settings simple = search_.simplified(each);
    if (std::find(found_.begin(), found_.end(), simple) == found_.end()) found_.push_back(simple);
  }
  for (std::size_t i = 0; i < varied_.size(); ++i) {
    if (!robust_.run(found_, i, robust_runs())) return false;
  }
  found_ = by_merit(found_, trials_);
  found_.resize(std::min(found_.size(), certified_));
  std::vector<Settings> all = found_;
  for (std::size_t i = 0; i < question_.compared; ++i) all.push_back(space_.strategy(i));
  return certify(certificate_, all, question_.situations.size(), fresh_);
}

bool Recommendation::is_certified(const Settings& settings) const {
  return passes(certificate_, fresh_.standing(settings)) &&
         fresh_.missed(settings, 2 * misses_).empty();
}

std::vector<Row> Recommendation::rows() const {
  std::vector<Settings> good = found_;
  std::erase_if(good, [this](const Settings& each) { return !is_certified(each); });
  std::vector<Row> rows;
  const auto is_shown = [&rows](const Settings& each) {
    return std::any_of(rows.begin(), rows.end(),
                       [&each](const Row& row) { return row.settings == each; });
  };
  if (!good.empty()) {
    good = by_merit(good, fresh_);
    rows.push_back({std::string(kRecommended), good.front()});
    const SituationFigures ours = fresh_.figures(good.front());
    for (std::size_t i = 1; i < good.size(); ++i) {
      const SituationFigures its = fresh_.figures(good[i]);
      if (i == 1 && (down_when_varied(good[i]) < down_when_varied(good.front()) ||
                     its.most_attempts < ours.most_attempts)) {
        rows.push_back({std::string(kSafer), good[i]});
      } else if (std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
                   return its.attempts < fresh_.figures(row.settings).attempts;
                 })) {
        rows.push_back({std::string(kCheaper), good[i]});
      }
    }
  }
  std::size_t refused = 0;
  for (const Settings& each : found_) {
    if (!is_certified(each))
      rows.push_back({std::string(kRefused) + ' ' + std::to_string(++refused), each});
  }
  for (std::size_t i = 0; i < question_.compared; ++i) {
    if (!is_shown(space_.strategy(i))) rows.push_back({space_.name(i), space_.strategy(i)});
  }
  return rows;
}

// ---- what is printed ----

// A value as the claim about it has it.
std::string value_text(const Expectation& claim, double value) {
  if (!std::isfinite(value)) return "never";
  if (claim.percent) return fixed(100 * value, 2) + '%';
  if (claim.time_unit > 0) return format_duration(from_seconds(rounded(value * claim.time_unit)));
  return print_number(rounded(value));
}

std::string share_text(double share) {
  return fixed(100 * share, 2) + " %";
}

std::string seconds_text(const std::optional<Duration>& time) {
  return time ? print_number(rounded(to_seconds(*time))) + " s" : "not in time";
}

// Why these settings are not the recommended ones.
std::string Recommendation::why_not(const Row& row, const Settings& recommended) const {
  const Standing standing = fresh_.standing(row.settings);
  for (std::size_t i = 0; i < standing.down.size(); ++i) {
    const DownRuns& down = standing.down[i];
    if (down.hits > certificate_.most_for) {
      return "down, or not back in time, in " + std::to_string(down.hits) + " of " +
             std::to_string(down.runs) + " runs (" + question_.situations[i].title + ')';
    }
  }
  if (!passes(certificate_, standing)) return "its runs were interrupted";
  std::string claims;
  for (const auto& [claim, miss] : fresh_.missed(row.settings, 2 * misses_)) {
    claims += (claims.empty() ? "misses " : " and ") + missed_text(claim, miss);
  }
  if (!claims.empty()) return claims;
  const SituationFigures ours = fresh_.figures(recommended), its = fresh_.figures(row.settings);
  std::string worse, better;
  const auto add = [&](bool is_worse, const std::string& what) {
    std::string& text = is_worse ? worse : better;
    text += (text.empty() ? "" : " and ") + what;
  };
  const auto compare = [&](double difference, double least, const char* more, const char* fewer,
                           const std::string& amount) {
    if (std::abs(difference) < least) return;
    add(difference > 0, (difference > 0 ? more : fewer) + (" (" + amount + ')'));
  };
  const double failed = its.failed - ours.failed, attempts = its.attempts - ours.attempts;
  compare(failed, 0.001, "more requests fail", "fewer requests fail",
          fixed(100 * std::abs(failed), 1) + " %");
  compare(attempts, 0.01, "more attempts are sent", "fewer attempts are sent",
          fixed(std::abs(attempts), 2) + " a request");
  if (ours.back && its.back) {
    const double back = to_seconds(*its.back) - to_seconds(*ours.back);
    compare(back, 0.5, "it is back later", "it is back sooner",
            print_number(rounded(std::abs(back))) + " s");
  } else if (ours.back || its.back) {
    add(ours.back.has_value(), its.back ? "it is back in time" : "it is not back in time");
  }
  const auto down = static_cast<double>(down_when_varied(row.settings)) -
                    static_cast<double>(down_when_varied(recommended));
  const bool varied = robust_.standing(row.settings).down.front().runs > 0;
  if (varied) {
    compare(down, 1, "it is down more often where something differs",
            "it is down less often where something differs", fixed(std::abs(down), 0) + " runs");
  }
  if (worse.empty() && better.empty()) return "nothing tells them apart";
  return better + (worse.empty() || better.empty() ? "" : ", but ") + worse;
}

// "success>99% (errors 10 %): 98.4 %"
std::string Recommendation::missed_text(std::size_t claim, const MissedClaim& miss) const {
  const SituationClaim& missed = question_.claims[claim];
  return missed.claim.text + " (" + question_.situations[miss.situation].title +
         "): " + value_text(missed.claim, miss.value);
}

void Recommendation::print_plan() const {
  std::cout << search_.tried().size() << " settings were tried in " << question_.situations.size()
            << " disturbances: " << question_.down.text << " in each";
  for (const SituationClaim& each : question_.claims) {
    std::cout << ", " << claim_text(each, question_.situations);
  }
  const auto passing = [this](double share) {
    return fixed(100 * binomial_at_most(certificate_.most_for, certificate_.runs, share), 1) + " %";
  };
  const double bound = question_.down.bound;
  std::cout << ".\n";
  if (question_.multiplexed) std::cout << kRunMultiplexed << '\n';
  print_wrapped(
      std::cout, "",
      "The best ones had fresh seeds. Certified is what is down, or not back in time, in at most " +
          std::to_string(certificate_.most_for) + " of " + std::to_string(certificate_.runs) +
          " runs in each: settings for which that is so in " + print_number(100 * bound) +
          " % of all runs pass with a probability of " + passing(bound) + ", in " +
          print_number(20 * bound) + " % with " + passing(bound / 5) +
          ". All that is certified is right, and all bounds of the table hold, with 95 %.");
  std::cout << '\n';
}

Table Recommendation::table_of(const std::vector<Row>& rows) const {
  Table table{.columns = {{.title = "setting", .code = true},
                          {.title = "down"},
                          {.title = "at most"},
                          {.title = "p90", .group = "back after"},
                          {.title = "in outage", .group = "success"},
                          {.title = "errors", .group = "success"},
                          {.title = "mean", .group = "load"},
                          {.title = "worst outage", .group = "load"}},
              .rows = {}};
  for (const Row& row : rows) {
    const Standing standing = fresh_.standing(row.settings);
    const auto worst = std::max_element(
        standing.down.begin(), standing.down.end(), [](const DownRuns& a, const DownRuns& b) {
          return a.hits < b.hits || (a.hits == b.hits && a.runs > b.runs);
        });
    if (worst->runs == 0) continue;
    std::vector<std::string> texts{
        row.name, std::to_string(worst->hits) + " of " + std::to_string(worst->runs),
        share_text(greatest_share(worst->hits, worst->runs, misses_))};
    if (standing.costs.empty()) {
      texts.resize(table.columns.size(), "-");
    } else {
      const SituationFigures figures = fresh_.figures(row.settings);
      for (std::string& each :
           std::array{seconds_text(figures.back), success_text(figures.in_outage),
                      success_text(figures.in_errors), fixed(figures.attempts, 2),
                      fixed(figures.most_attempts, 2)}) {
        texts.push_back(std::move(each));
      }
    }
    table.rows.push_back(std::move(texts));
  }
  return table;
}

// A row for each variation: how many of the runs are down in the worst outage.
void Recommendation::print_variations(const std::vector<Row>& rows) const {
  Table table{.columns = {{.title = "what differs"}}, .rows = {}};
  std::vector<const Row*> shown;
  for (const Row& row : rows) {
    if (std::find(found_.begin(), found_.end(), row.settings) == found_.end()) continue;
    shown.push_back(&row);
    table.columns.push_back({.title = row.name});
  }
  for (const Variation& variation : variations_) {
    std::vector<std::string> texts{variation.title};
    for (const Row* row : shown) {
      const Standing standing = robust_.standing(row->settings);
      const DownRuns worst = worst_of(standing, variation);
      texts.push_back(std::to_string(worst.hits) + " of " + std::to_string(worst.runs));
    }
    table.rows.push_back(std::move(texts));
  }
  std::cout
      << "\nDown where something differs, in the worst of the outages; nothing was tuned on it:\n";
  print(std::cout, table);
}

// Each setting that went through the whole race, by its load and its recovery.
void Recommendation::print_picture(const std::vector<Row>& rows) const {
  constexpr std::size_t kWidth = 72, kHeight = 12;
  struct Point {
    double x, y;
    char mark;
  };
  std::vector<Point> points;
  const auto add = [&](const SituationFigures& figures, char mark) {
    if (figures.back) points.push_back({figures.attempts, to_seconds(*figures.back), mark});
  };
  const std::vector<Settings> front = search_.front();
  for (const Settings& each : search_.ranked()) {
    const Standing standing = trials_.standing(each);
    if (standing.costs.empty() || standing.missed > 0) continue;
    const bool on_front = std::find(front.begin(), front.end(), each) != front.end();
    add(trials_.figures(each), standing.most_down() > 0 ? 'x' : on_front ? 'o' : '.');
  }
  for (const Row& row : rows) {
    if (!fresh_.standing(row.settings).costs.empty()) {
      add(fresh_.figures(row.settings),
          has_mark(row.name) ? static_cast<char>(std::toupper(row.name.front())) : 'D');
    }
  }
  if (points.empty()) return;
  double left = points.front().x, right = left, top = 1;
  for (const Point& each : points) {
    left = std::min(left, each.x);
    right = std::max(right, each.x);
    top = std::max(top, each.y);
  }
  std::vector<std::string> lines(kHeight, std::string(kWidth, ' '));
  const auto place = [](double share, std::size_t size) {
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(size - 1)));
  };
  for (const Point& each : points) {  // the rows last, above all others
    const double across = right > left ? (each.x - left) / (right - left) : 0;
    lines[place(1 - each.y / top, kHeight)][place(across, kWidth)] = each.mark;
  }
  std::cout
      << "\nBack after, of 90 % of the runs, over the load. o: not dominated; .: dominated; x: "
         "down in some runs;\nR, S, C, Y, D: recommended, safer, cheaper, yours, and the default below it in the table.\n";
  for (std::size_t i = 0; i < kHeight; ++i) {
    std::string label = i == 0 ? seconds_text(from_seconds(top)) : i + 1 == kHeight ? "0 s" : "";
    label.insert(0, 8 - std::min<std::size_t>(label.size(), 8), ' ');
    lines[i].erase(lines[i].find_last_not_of(' ') + 1);
    std::cout << label << " |" << lines[i] << '\n';
  }
  const std::string low = fixed(left, 2), high = fixed(right, 2);
  std::cout << std::string(9, ' ') << '+' << std::string(kWidth, '-') << '\n'
            << std::string(10, ' ') << low << std::string(kWidth - low.size() - high.size(), ' ')
            << high << '\n';
}

void Recommendation::print_settings(const std::vector<Row>& rows) const {
  const Settings& settings = rows.front().settings;
  const NamedOptions changes = space_.changes(settings);
  const std::string& strategy = space_.name(settings[0]);
  std::cout << "\nThe recommended settings"
            << (strategy == kYours ? " are yours" : ", for --config:\nstrategy = " + strategy)
            << (strategy == kYours && !changes.empty() ? " with\n" : "\n");
  for (const auto& [name, value] : changes) {
    std::cout << name << " = " << value << "  # not " << space_.unchanged(name) << '\n';
  }
  if (settings[0] == 0) {
    std::cout << changes.size() << " of " << space_.names().size()
              << " settings that were varied differ; for the others a change brings nothing.\n";
  }
  for (const Row& row : rows) {
    if (row.name == kSafer || row.name == kCheaper) {
      print_wrapped(std::cout, "The " + row.name + " ones: ", settings_text(row.settings));
    }
  }
  if (!question_.format) return;
  std::cout << '\n';
  print_exported(export_policy(scenario_of(space_.options_of(settings, question_.given)).workload,
                               *question_.format));
}

// As options, in one line.
std::string Recommendation::settings_text(const Settings& settings) const {
  std::string text = space_.name(settings[0]);
  if (text != kYours) text.insert(0, "--strategy=");
  for (const auto& [name, value] : space_.changes(settings)) text += " --" + name + '=' + value;
  return text;
}

// Which claims stand in the way.
void Recommendation::print_nearest() const {
  const std::vector<Settings> ranked = search_.ranked();
  std::cout << "No settings meet all claims.\n";
  const auto misses = [&](const Settings& settings) {
    std::string text;
    for (const auto& [claim, miss] : trials_.missed(settings)) {
      text += (text.empty() ? "" : ", ") + missed_text(claim, miss);
    }
    const Standing standing = trials_.standing(settings);
    for (std::size_t i = 0; i < standing.down.size(); ++i) {
      const DownRuns& down = standing.down[i];
      if (down.hits == 0) continue;
      text += (text.empty() ? "" : ", ") + question_.down.text + " (" +
              question_.situations[i].title + "): " + std::to_string(down.hits) + " of " +
              std::to_string(down.runs) + " runs";
    }
    return text;
  };
  if (!ranked.empty()) {
    print_wrapped(std::cout, "The nearest: ",
                  settings_text(ranked.front()) + " misses " + misses(ranked.front()));
  }
  std::string dropped;
  for (std::size_t i = 0; i < question_.situations.size(); ++i) {
    if (search_.dropped()[i] == 0) continue;
    dropped += (dropped.empty() ? "" : ", ") + std::to_string(search_.dropped()[i]) + " (" +
               question_.situations[i].title + ')';
  }
  if (!dropped.empty()) {
    print_wrapped(std::cout, "Dropped as down too often: ",
                  dropped + " of " + std::to_string(search_.tried().size()));
  }
  // Claims without which there are settings. The last one is that about `down`.
  bool freed = false;
  for (std::size_t c = 0; c <= question_.claims.size(); ++c) {
    const bool about_down = c == question_.claims.size();
    const auto only = std::find_if(ranked.begin(), ranked.end(), [&](const Settings& each) {
      const auto missed = trials_.missed(each);
      const bool down = trials_.standing(each).most_down() > 0;
      return about_down ? down && missed.empty()
                        : !down && missed.size() == 1 && missed.contains(c);
    });
    if (only == ranked.end()) continue;
    print_wrapped(
        std::cout,
        "Without " + (about_down ? question_.down.text : question_.claims[c].claim.text) + ": ",
        settings_text(*only) + " misses only " + misses(*only));
    freed = true;
  }
  if (!freed) {
    std::cout << "No claim alone is in the way. Ask what the service can do: --queue-length, and "
                 "`retrystorm remedies`\n";
  }
  std::cout << "What is retried (--retry-on) and --timeout were not changed.\n";
}

void Recommendation::write(const std::vector<Row>& rows) {
  const auto options_json = [this](const Settings& settings) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    json["strategy"] = space_.name(settings[0]);
    for (const auto& [name, value] : space_.changes(settings)) json[underscored(name)] = value;
    return json;
  };
  for (const Settings& each : search_.ranked()) {
    if (trials_.standing(each).costs.empty()) continue;
    const SituationFigures figures = trials_.figures(each);
    nlohmann::ordered_json line{{"type", "candidate"},
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

int Recommendation::run() {
  const bool complete = work();
  bar_.clear();
  study_.end_work(complete);
  const std::vector<Row> all = rows();
  write(all);
  const bool certified = !all.empty() && all.front().name == kRecommended;
  if (found_.empty()) {
    if (complete) {
      print_nearest();
    } else if (const auto ranked = search_.ranked(); !ranked.empty()) {
      const Standing standing = trials_.standing(ranked.front());
      print_wrapped(std::cout, "",
                    "The best of " + std::to_string(search_.tried().size()) +
                        " settings by then: " + settings_text(ranked.front()) + ": down in " +
                        std::to_string(standing.most_down()) + " of " +
                        std::to_string(standing.down.front().runs) +
                        " runs. It was chosen for its luck, too: no claim can be made.");
    } else {
      std::cout << "Not every disturbance has been tried by then: nothing can be said.\n";
    }
    const int code = study_.finish();
    return code == 0 ? kExitBroken : code;
  }
  print_plan();
  study_.show(table_of(all));
  std::cout << '\n';
  for (const Row& row : all) {
    if (row.name != kRecommended) {
      const bool refused = row.name.starts_with(kRefused);
      print_wrapped(
          std::cout, row.name + ": ",
          (refused ? settings_text(row.settings) + ": " : "") + why_not(row, all.front().settings));
    }
  }
  if (complete) {
    print_variations(all);
    print_picture(all);
  }
  if (certified) print_settings(all);
  const int code = study_.finish();
  return code != 0 || certified ? code : kExitUndecided;
}

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
    [](const Command& command, int argc, const char* const* argv) {
      return run_command<RecommendOptions>(command, argc, argv, declare, recommend);
    }};

}  // namespace retrystorm
