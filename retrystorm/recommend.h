// What `retrystorm recommend` is asked, and its work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/output/style.h"
#include "model/base/statement.h"
#include "policies/export.h"
#include "retrystorm/policy_space.h"
#include "retrystorm/simulated_trials.h"
#include "retrystorm/study_command.h"
#include "study/progress_bar.h"

namespace retrystorm {

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

// The name of the settings that the user has now.
inline constexpr std::string_view kYours = "yours";

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

// Throws std::invalid_argument, or UnreadableFile, with a readable message.
Question question_of(const Invocation& invocation, const RecommendOptions& options);

// Seeds that no other part of the work has.
inline constexpr std::uint64_t kRobustSeeds = 1'000, kFreshSeeds = 10'000;

// What the search does not see.
struct Variation {
  std::string title;
  NamedOptions options{};
  std::string action{};  // as --at has it
  bool in_each_outage = true;
  // Is it as likely as what was given? Then settings that are down with it lose to those that are not.
  bool decides = true;
};

// What is given, such as a backlog, is known: its variations are shown, and do not decide.
std::vector<Variation> variations(const WorkloadOptions& workload, const NamedOptions& given);

// Each variation in each outage, one after the other.
std::vector<StudyDisturbance> varied(const std::vector<Variation>& variations,
                                     const Question& question);

// A row of the tables.
struct Row {
  std::string name;
  Settings settings;
  bool is_found = true;  // by the search; the others are those that it is compared with
};

inline constexpr std::string_view kRecommended = "recommended";

// Its search asks it for the trials: the situations, and what the search does not see of them.
class Recommendation final : private Trials {
 public:
  Recommendation(const Invocation& invocation, const RecommendOptions& options);
  // Searches, certifies and prints. Returns the exit code.
  int run();

 private:
  SimulatedTrials trials(const std::vector<StudyDisturbance>& situations,
                         const std::vector<SituationClaim>& claims, std::uint64_t first_seed);
  bool work();
  std::size_t expected_runs() const;
  std::size_t robust_runs() const { return options_.thorough ? 20 : 10; }

  bool run(const std::vector<Settings>& all, std::size_t situation, std::size_t until) override {
    return trials_.run(all, situation, until);
  }
  bool vary(const std::vector<Settings>& all) override;
  Standing standing(const Settings& settings) const override;
  // In the worst of the outages.
  DownRuns worst_of(const Settings& settings, const Variation& variation) const;
  // How long until 90 % of the runs are back, in the slowest of the outages. Empty if they are not.
  std::optional<Duration> back_of(const Settings& settings, const Variation& variation) const;
  std::size_t down_when_varied(const Settings& settings) const;
  // The variation in which the times until settings are back differ the most. None if hardly.
  const Variation* parting(const std::vector<Settings>& all) const;
  std::vector<Settings> by_merit(std::vector<Settings> all, const SimulatedTrials& trials) const;
  bool is_certified(const Settings& settings) const;
  std::vector<Row> rows() const;
  Statements why_not(const Row& row, const Settings& recommended) const;
  Statements distance(const Settings& settings, const Settings& recommended) const;
  Statement missed(std::size_t claim, const MissedClaim& miss) const;
  std::vector<std::pair<std::string, std::string>> own_settings(const Settings& settings) const;
  std::string settings_text(const Settings& settings) const;
  Style style() const { return style_of(1, options_.look.color); }

  Table table_of(const std::vector<Row>& rows) const;
  void print_choice(const Settings& settings) const;
  void print_beside(const Settings& recommended, bool complete) const;
  void print_nearest() const;
  void print_best_so_far() const;
  void write(const std::vector<Row>& rows);

  const RecommendOptions& options_;
  const Question question_;
  const PolicySpace space_;
  Study study_;
  const Evaluator evaluator_;
  const std::vector<Variation> variations_;
  const std::vector<StudyDisturbance> varied_;
  const std::vector<SituationClaim> no_claims_{};
  const SearchPlan plan_;
  const std::size_t certified_;  // how many settings are put to the certificate
  const double misses_;          // of the claim of each of them
  const Acceptance certificate_;
  ProgressBar bar_;
  SimulatedTrials trials_, robust_, fresh_;
  Search search_;
  std::vector<Settings> found_{};  // the finalists
  const Variation* parting_ = nullptr;
};

}  // namespace retrystorm
