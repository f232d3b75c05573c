// What `retrystorm recommend` is asked, and its work.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/export.h"
#include "retrystorm/simulated_trials.h"
#include "retrystorm/study_command.h"

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

// Searches, certifies and prints. Returns the exit code.
int recommend_settings(const Invocation& invocation, const RecommendOptions& options);

}  // namespace retrystorm
