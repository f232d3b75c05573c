// The rules of the findings about retry policies in other programs' files. `retrystorm check`
// (policies/) names them; --explain knows them, too.
#pragma once

#include <array>
#include <string_view>

namespace retrystorm {

// Those that the readers of files give. The others are of policies/findings.cc.
inline constexpr std::string_view kNotModelled = "not-modelled";
inline constexpr std::string_view kNoEffect = "no-effect";
inline constexpr std::string_view kRefusedRule = "refused";
inline constexpr std::string_view kHardLimit = "hard-limit";
inline constexpr std::string_view kDependsOnVersion = "version";
inline constexpr std::string_view kPercent = "percent";
inline constexpr std::string_view kAssumed = "assumed";

struct FindingRule {
  std::string_view name;
  std::string_view meaning;
};

inline constexpr std::array kFindingRules{
    FindingRule{"never-begins", "Attempts that never begin before the deadline"},
    FindingRule{"cut-short", "The last attempt has less time than the others"},
    FindingRule{"timeout-not-retried", "Timeouts are not retried"},
    FindingRule{"no-attempt-timeout", "An attempt that hangs takes all the time of its request"},
    FindingRule{"no-deadline", "A request that is never answered waits for ever"},
    FindingRule{"long-tries", "Nothing limits the time of all attempts of a request together"},
    FindingRule{"short-timeout", "A time limit that hardly an answer meets"},
    FindingRule{"never-ends", "Nothing ends the retries"},
    FindingRule{"cap-below-base", "The greatest wait is below the first"},
    FindingRule{"cap-not-reached", "No wait reaches the cap"},
    FindingRule{"no-wait", "Retries are sent at once"},
    FindingRule{"no-jitter", "Waits are not random"},
    FindingRule{"no-budget", "Nothing limits the retries of all requests together"},
    FindingRule{"budget-empties", "From which share of failures on a budget stops the retries"},
    FindingRule{"permanent", "Failures are retried that stay what they are"},
    FindingRule{"retries-success", "Answers are retried that say that all is well"},
    FindingRule{"grpc-unseen", "Failures of gRPC that the words of the policy do not see"},
    FindingRule{"same-server", "Retries go to the server that failed"},
    FindingRule{"ejects-none", "No host is ever left out: its share of the hosts is less than one"},
    FindingRule{"repeats-work", "Work that was done may be done again"},
    FindingRule{"layers", "Several parts of a system retry the same requests"},
    FindingRule{kNoEffect, "A setting has no effect"},
    FindingRule{kRefusedRule, "The program that reads the file refuses it"},
    FindingRule{kHardLimit, "A value is above a limit of the program"},
    FindingRule{kDependsOnVersion, "It depends on the version of the program"},
    FindingRule{kPercent, "A percentage that was probably meant as a share"},
    FindingRule{kAssumed, "What the file does not say"},
    FindingRule{kNotModelled, "What is not simulated"}};

}  // namespace retrystorm
