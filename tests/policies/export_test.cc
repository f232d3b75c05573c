// Policies written as files of other programs: read back, they are what they were.
#include "policies/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "explorer/engine/knobs.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "policies/changes.h"
#include "policies/findings.h"
#include "policies/import.h"

namespace retrystorm::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

WorkloadOptions workload_of(const std::vector<std::pair<std::string, std::string>>& options) {
  WorkloadOptions workload;
  OptionList list;
  declare_options(list, workload);
  for (const auto& [name, value] : options) list.set(name, value);
  return workload;
}

// By hand: a budget of 10 % becomes a ratio of 0.1, and 0.1 / 1.1 = 9.1 %. Half of ten tokens are five.
TEST(Export, SaysWhatTheThrottleOfGrpcAndItsInternalCost) {
  const auto begin = workload_of({{"strategy", "begin"}});
  const Exported exported = export_policy(begin, ExportFormat::kGrpc);
  EXPECT_THAT(exported.differences,
              Contains(AllOf(HasSubstr("after 5 failed attempts more than"),
                             HasSubstr("while more than 9.1 % of the attempts fail"))));
  EXPECT_THAT(exported.differences, Contains(StartsWith("INTERNAL stands for the 500")));
  // Asked for by name, it is meant.
  const auto meant = workload_of({{"retry-on", "UNAVAILABLE+INTERNAL"}, {"max-retries", "2"}});
  EXPECT_THAT(export_policy(meant, ExportFormat::kGrpc).differences,
              Not(Contains(StartsWith("INTERNAL"))));
}

// All combinations of some values, in each format those that it can express.
TEST(Export, IsReadBackAsWhatItWas) {
  for (const char* retries : {"1", "2", "4"}) {
    for (const char* base : {"5ms", "100ms", "1.5s"}) {
      for (const char* deadline : {"none", "7s"}) {
        for (const char* budget : {"none", "grpc"}) {
          const std::string per_request = deadline == std::string("none") ? "2s" : deadline;
          const auto workload = workload_of({{"growth", "exponential"},
                                             {"backoff-base", base},
                                             {"backoff-factor", "1.6"},
                                             {"backoff-cap", "20s"},
                                             {"jitter", "proportional:0.2"},
                                             {"max-retries", retries},
                                             {"deadline", deadline},
                                             {"deadline-check", "at-end"},
                                             {"timeout", per_request},
                                             {"retry-on", "UNAVAILABLE+INTERNAL"},
                                             {"retry-budget", budget}});
          const Exported exported = export_policy(workload, ExportFormat::kGrpc);
          if (deadline == std::string("none")) {
            // A file of gRPC has no timeout of an attempt, and without a deadline no check of it.
            EXPECT_THAT(exported.differences, Contains(HasSubstr("timeout is 2s here, and none")));
          } else {
            EXPECT_THAT(exported.differences, IsEmpty()) << exported.text;
          }
        }
        for (const char* share : {"none", "0.2"}) {
          for (const char* on : {"5xx+transport+timeout", "502+503+504+transport+timeout",
                                 "429+503+transport+timeout"}) {
            const auto workload =
                workload_of({{"growth", "exponential"},
                             {"backoff-base", base},
                             {"backoff-cap", base == std::string("5ms")     ? "50ms"
                                             : base == std::string("100ms") ? "1s"
                                                                            : "15s"},
                             {"jitter", "full"},
                             {"max-retries", retries},
                             {"timeout", "900ms"},
                             {"deadline", "7s"},
                             {"deadline-check", "at-end"},
                             {"retry-on", on},
                             {"retry-budget", "envoy"},
                             {"budget-share", share},
                             {"budget-min-concurrency", "6"},
                             {"concurrency-limit", "fixed:40"}});
            for (const ExportFormat format : {ExportFormat::kEnvoy, ExportFormat::kIstio}) {
              const Exported exported = export_policy(workload, format);
              EXPECT_THAT(exported.differences, IsEmpty()) << exported.text;
            }
          }
        }
      }
      for (const char* jitter : {"none", "proportional:0.3"}) {
        const auto workload = workload_of(
            {{"growth", "exponential"},
             {"backoff-base", base},
             {"backoff-factor", "3"},
             {"backoff-cap", "4s"},
             {"cap-applies", jitter == std::string("none") ? "before-jitter" : "after-jitter"},
             {"jitter", jitter},
             {"max-retries", retries},
             {"timeout", "3s"},
             {"breaker", "resilience4j"},
             {"breaker-calls", "50"},
             {"breaker-min-calls", "20"},
             {"breaker-failure-share", "0.3"},
             {"breaker-open-for", "5s"},
             {"when-refused", "back-off"}});
        const Exported exported = export_policy(workload, ExportFormat::kResilience4j);
        EXPECT_THAT(exported.differences, IsEmpty()) << exported.text;
      }
    }
  }
  for (const char* delay : {"1ms", "1.5s"}) {
    for (const char* deadline : {"7s", "1h1m1.25s"}) {
      const auto workload = workload_of({{"strategy", "polly"},
                                         {"backoff-base", delay},
                                         {"max-retries", "5"},
                                         {"timeout", "3s"},
                                         {"deadline", deadline},
                                         {"retry-after", "ignore"},
                                         {"breaker-failure-share", "0.3"},
                                         {"breaker-min-calls", "20"},
                                         {"breaker-time", "45s"},
                                         {"breaker-open-for", "10s"},
                                         {"concurrency-limit", "fixed:70"}});
      const Exported exported = export_policy(workload, ExportFormat::kDotNet);
      EXPECT_THAT(exported.differences, IsEmpty()) << exported.text;
    }
  }
  for (const char* strategy : {"aws-standard", "aws-legacy", "aws-adaptive"}) {
    const Exported exported = export_policy(
        workload_of({{"strategy", strategy}, {"max-attempts", "7"}}), ExportFormat::kAws);
    EXPECT_THAT(exported.differences, Contains(HasSubstr("timeout is")));
    EXPECT_EQ(exported.differences.size(), 1u) << exported.differences.back();
  }
}

TEST(Export, NamesWhatItsFormatCannotSay) {
  const auto differences = [](const char* strategy, ExportFormat format) {
    return export_policy(workload_of({{"strategy", strategy}}), format).differences;
  };
  EXPECT_THAT(differences("exponential", ExportFormat::kGrpc),
              Contains(HasSubstr("max-retries is none")));
  EXPECT_THAT(differences("exponential", ExportFormat::kIstio),
              Contains(HasSubstr("backoff-factor is")));
  EXPECT_THAT(differences("envoy-budget", ExportFormat::kResilience4j),
              Contains(HasSubstr("retry-budget is envoy here, and none in the file")));
}

// A budget of another kind becomes the nearest that the format has. 10 % of the requests may be retried in all
// three.
TEST(Export, KeepsABudget) {
  const auto written = [](const std::vector<std::pair<std::string, std::string>>& options,
                          ExportFormat format) {
    return export_policy(workload_of(options), format).text;
  };
  const std::string share = "10%";
  EXPECT_THAT(written({{"retry-budget", share}}, ExportFormat::kGrpc),
              HasSubstr(R"("retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1})"));
  EXPECT_THAT(written({{"retry-budget", share}}, ExportFormat::kEnvoy),
              HasSubstr("retry_budget: {budget_percent: {value: 10}, min_retry_concurrency: 3}"));
  EXPECT_THAT(written({{"retry-budget", share}}, ExportFormat::kIstio),
              HasSubstr("percent: 10\n      minRetryConcurrency: 3"));
  // By hand: 10 retries a second for 10 s at once, twice of which are tokens; 500 tokens at 14 a retry.
  EXPECT_THAT(written({{"retry-budget", "finagle"}}, ExportFormat::kGrpc),
              HasSubstr(R"({"maxTokens": 200, "tokenRatio": 0.2})"));
  EXPECT_THAT(written({{"retry-budget", "aws"}}, ExportFormat::kGrpc),
              HasSubstr(R"({"maxTokens": 71, "tokenRatio": 0.071})"));
  EXPECT_THAT(written({{"retry-budget", "envoy"}, {"budget-share", "0.2"}}, ExportFormat::kGrpc),
              HasSubstr(R"({"maxTokens": 10, "tokenRatio": 0.2})"));
}

// What is recommended to begin with is well in every format, too.
TEST(Export, BeginsWithoutFault) {
  const auto begin = [] {
    WorkloadOptions workload;
    workload.retry = retry_settings("begin");
    return workload;
  }();
  for (const ExportFormat format : {ExportFormat::kGrpc, ExportFormat::kEnvoy, ExportFormat::kIstio,
                                    ExportFormat::kResilience4j, ExportFormat::kAws}) {
    const Exported exported = export_policy(begin, format);
    const PolicyFile file = read_policies(exported.text);
    for (const Note& note : findings_of(file.policies.at(0))) {
      EXPECT_EQ(note.level, Note::Level::kNote) << note.text << '\n' << exported.text;
    }
  }
  const Exported grpc = export_policy(begin, ExportFormat::kGrpc);
  EXPECT_THAT(grpc.differences, Contains(HasSubstr("none is retried after a timeout")));
  EXPECT_THAT(grpc.differences, Contains("retry-budget is sre here, and grpc in the file"));
}

// The least change comes first, and has the lines that the file does not have yet.
TEST(Changes, AreLinesOfTheFile) {
  const auto changes_of = [](const std::string& text, ExportFormat format) {
    std::vector<std::pair<std::string, std::string>> changes;
    for (const PolicyChange& each :
         changes_to(options_of(read_policies(text).policies.at(0)), format)) {
      std::string lines;
      for (const std::string& line : each.lines) lines += std::string(trimmed(line)) + ';';
      changes.emplace_back(each.title, lines);
    }
    return changes;
  };
  EXPECT_THAT(changes_of(R"({"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4,
        "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"]}}]})",
                         ExportFormat::kGrpc),
              ElementsAre(Pair("a retry budget of 10 %",
                               R"("retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1};)"),
                          Pair("one retry", R"("maxAttempts": 2,;)"),
                          Pair("no retries", "(no retryPolicy);")));
  const auto of_r4j =
      changes_of("resilience4j.retry.instances.a.maxAttempts=9\n", ExportFormat::kResilience4j);
  ASSERT_THAT(of_r4j, SizeIs(4));  // it has no budget
  EXPECT_THAT(of_r4j[0],
              Pair("a circuit breaker", StartsWith("circuitbreaker:;instances:;policy:;")));
  EXPECT_THAT(of_r4j[1], Pair("waits that grow",
                              "enableExponentialBackoff: true;"
                              "exponentialBackoffMultiplier: 2;"));
  // With the change the policy is what the file then says.
  const auto settings =
      options_of(read_policies("resilience4j.retry.instances.a.maxAttempts=9\n").policies.at(0));
  const PolicyChange one = changes_to(settings, ExportFormat::kResilience4j)[2];
  EXPECT_EQ(one.title, "one retry");
  NamedOptions expected = settings;
  expected["max-attempts"] = "2";
  EXPECT_EQ(one.settings, expected);
}

// A link to the explorer may have only options that its page knows.
TEST(Import, HasOptionsOfTheExplorer) {
  std::set<std::string> known;
  const auto page = catalogue();
  for (const auto& each : page["options"]) known.insert(each["name"]);
  for (const NamedStrategy& strategy : named_strategies()) {
    for (const ExportFormat format :
         {ExportFormat::kGrpc, ExportFormat::kEnvoy, ExportFormat::kIstio,
          ExportFormat::kResilience4j, ExportFormat::kAws, ExportFormat::kDotNet}) {
      WorkloadOptions workload;
      workload.retry = retry_settings(strategy.name);
      const PolicyFile file =
          read_policies(export_policy(workload, format).text, ReadAs::kGrpcChannel);
      for (const auto& [name, value] : options_of(file.policies.at(0))) {
        EXPECT_TRUE(known.contains(name)) << name << " = " << value;
      }
    }
  }
}

// Whatever the strategy, what is written can be read.
TEST(Export, WritesFilesThatCanBeRead) {
  for (const NamedStrategy& strategy : named_strategies()) {
    for (const ExportFormat format :
         {ExportFormat::kGrpc, ExportFormat::kEnvoy, ExportFormat::kIstio,
          ExportFormat::kResilience4j, ExportFormat::kAws, ExportFormat::kDotNet}) {
      WorkloadOptions workload;
      workload.retry = retry_settings(strategy.name);
      const Exported exported = export_policy(workload, format);
      const PolicyFile file = read_policies(exported.text, ReadAs::kGrpcChannel);
      ASSERT_EQ(file.policies.size(), 1u) << strategy.name;
      EXPECT_FALSE(file.policies.front().refused) << strategy.name << '\n' << exported.text;
    }
  }
}

}  // namespace
}  // namespace retrystorm::test
