// Policies written as files of other programs: read back, they are what they were.
#include "policies/export.h"

#include "explorer/engine/engine.h"
#include "model/base/random.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "policies/policy.h"
#include "policies/readers.h"
#include "tests/support/facts.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using ::testing::IsSupersetOf;

WorkloadOptions workload_of(const std::vector<std::pair<std::string, std::string>>& options) {
  WorkloadOptions workload;
  OptionList list;
  declare_options(list, workload);
  for (const auto& [name, value] : options) list.set(name, value);
  return workload;
}

std::vector<std::string> differences_of(const Exported& exported) {
  std::vector<std::string> all;
  for (const Statement& each : exported.differences) all.push_back(test::facts(each));
  return all;
}

// The options that it names.
std::vector<std::string> options_in(const Exported& exported) {
  std::vector<std::string> all;
  for (const Statement& each : exported.differences) {
    for (const StatementValue& value : each.values) {
      if (value.name == "option") all.push_back(std::get<std::string>(value.of));
    }
  }
  return all;
}

// By hand: a budget of 10 % becomes a ratio of 0.1, and 0.1 / 1.1 = 9.1 %. Half of ten tokens are five.
TEST(Export, SaysWhatTheThrottleOfGrpcAndItsInternalCost) {
  const auto begin = workload_of({{"strategy", "begin"}});
  const Exported exported = export_policy(begin, ExportFormat::kGrpc);
  EXPECT_THAT(differences_of(exported), Contains("export-throttle(failures=5, share=0.0909)"));
  EXPECT_TRUE(says(exported.differences, "export-internal"));
  // Asked for by name, it is meant.
  const auto meant = workload_of({{"retry-on", "UNAVAILABLE+INTERNAL"}, {"max-retries", "2"}});
  EXPECT_FALSE(says(export_policy(meant, ExportFormat::kGrpc).differences, "export-internal"));
}

// Envoy Gateway's CRD (api/v1alpha1: retry_types.go, circuitbreaker_types.go): numRetries is an int32, and there are
// 1,024 requests at a time unless it says more.
TEST(Export, StaysWithinWhatEnvoyGatewayTakes) {
  const auto endless = workload_of({{"max-retries", "none"}});
  const Exported exported = export_policy(endless, ExportFormat::kEnvoyGateway);
  EXPECT_THAT(exported.text, AllOf(HasSubstr("numRetries: 2147483647\n"),
                                   HasSubstr("maxParallelRequests: 4294967295\n")));
  EXPECT_THAT(options_in(exported), Not(Contains("concurrency-limit")));
  std::string more = exported.text;
  more.replace(more.find("2147483647"), 10, "2147483648");
  EXPECT_TRUE(read_policies(more).policies.at(0).refused);
}

using Options = std::vector<std::pair<std::string, std::string>>;

// Settings by chance, of all that a format can say.
class Chance {
 public:
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(random_.uniform() * static_cast<double>(count));
  }
  std::string one_of(std::vector<std::string> all) { return all[below(all.size())]; }
  // From `least` up to ten thousand times as much.
  std::string duration(std::int64_t least_us) {
    const double factor = std::pow(10, 4 * random_.uniform());
    return format_duration(
        std::chrono::microseconds(least_us * static_cast<std::int64_t>(std::round(factor))));
  }
  std::string share(std::size_t parts) {
    return print_number(static_cast<double>(1 + below(parts)) / static_cast<double>(parts));
  }
  std::string count(std::size_t least, std::size_t most) {
    return std::to_string(least + below(most - least + 1));
  }

 private:
  ClientRandom random_{7, 0};
};

std::string times(const std::string& duration, std::int64_t factor) {
  return format_duration(factor * parse_duration(duration));
}

Options any_grpc(Chance& chance) {
  const std::string base = chance.duration(1'000);
  Options all{{"growth", "exponential"},
              {"backoff-base", base},
              {"backoff-cap", times(base, 1 + static_cast<std::int64_t>(chance.below(50)))},
              {"backoff-factor", print_number(static_cast<double>(1 + chance.below(500)) / 100)},
              {"jitter", "proportional:0.2"},
              {"max-retries", chance.count(1, 4)},
              {"retry-on", chance.one_of({"UNAVAILABLE", "UNAVAILABLE+INTERNAL",
                                          "UNAVAILABLE+RESOURCE_EXHAUSTED", "ABORTED"})}};
  const std::string deadline = chance.duration(1'000);
  all.insert(all.end(),
             {{"deadline", deadline}, {"deadline-check", "at-end"}, {"timeout", deadline}});
  if (chance.below(2) == 0) {
    all.insert(all.end(), {{"retry-budget", "grpc"},
                           {"budget-tokens", chance.count(1, 1'000)},
                           {"budget-deposit", chance.share(1'000)}});
  }
  return all;
}

Options any_envoy(Chance& chance, const std::string& base) {
  Options all{{"growth", "exponential"},
              {"backoff-base", base},
              {"backoff-cap", times(base, 10)},
              {"jitter", "full"},
              {"max-retries", chance.count(1, 100)},
              {"timeout", chance.duration(1'000)},
              {"retry-on", chance.one_of({"5xx+transport+timeout", "502+503+504+transport+timeout",
                                          "429+503+transport+timeout"})},
              {"retry-budget", "envoy"},
              {"budget-share", chance.one_of({"none", chance.share(1'000)})},
              {"budget-min-concurrency", chance.count(1, 5'000)},
              {"concurrency-limit", "fixed:" + chance.count(1, 100'000)}};
  if (chance.below(4) > 0) {
    // Above that of an attempt, which otherwise has no effect.
    all.insert(all.end(), {{"deadline", times(all[5].second, chance.below(9) + 2)},
                           {"deadline-check", "at-end"}});
  }
  return all;
}

Options any_resilience4j(Chance& chance) {
  const std::string base = chance.duration(1'000);
  const std::string jitter = chance.one_of({"none", "proportional:" + chance.share(100)});
  const bool random = jitter != "none" && jitter != "proportional:1";
  Options all{{"backoff-base", base},
              {"jitter", random ? jitter : "none"},
              {"max-retries", chance.count(1, 1'000)},
              {"timeout", chance.duration(1'000)}};
  if (chance.below(2) == 0) {
    all.insert(
        all.end(),
        {{"growth", "exponential"},
         {"backoff-factor", print_number(static_cast<double>(101 + chance.below(400)) / 100)},
         {"backoff-cap", times(base, 1 + static_cast<std::int64_t>(chance.below(50)))},
         {"cap-applies", random ? "after-jitter" : "before-jitter"}});
  } else {
    all.insert(all.end(), {{"growth", "constant"}, {"backoff-cap", "none"}});
  }
  if (chance.below(2) == 0) {
    const std::string calls = chance.count(2, 500);
    all.insert(all.end(), {{"breaker", "resilience4j"},
                           {"breaker-calls", calls},
                           {"breaker-min-calls", calls},
                           {"breaker-failure-share", chance.share(100)},
                           {"breaker-slow-call", chance.duration(1'000)},
                           {"breaker-slow-share", chance.share(100)},
                           {"breaker-open-for", chance.duration(1'000)},
                           {"breaker-trials", chance.count(1, 50)},
                           {"when-refused", "back-off"}});
  }
  return all;
}

Options any_dotnet(Chance& chance) {
  const std::string timeout = format_duration(std::chrono::milliseconds(10 + chance.below(20'000)));
  Options all{{"strategy", "polly"},
              {"backoff-base", chance.duration(1'000)},
              {"max-retries", chance.count(1, 1'000)},
              {"timeout", timeout},
              {"deadline", times(timeout, static_cast<std::int64_t>(chance.below(9)) + 2)},
              {"retry-after", chance.one_of({"ignore", "replace"})},
              {"breaker-failure-share", chance.share(1'000)},
              {"breaker-min-calls", chance.count(2, 500)},
              {"breaker-time", times(timeout, static_cast<std::int64_t>(chance.below(9)) + 50)},
              {"breaker-open-for", chance.duration(500'000)},
              {"concurrency-limit", "fixed:" + chance.count(1, 100'000)}};
  return all;
}

HostSettings hosts_of(const Options& options) {
  HostSettings hosts{.replicas = 3};
  OptionList list;
  declare_options(list, hosts);
  for (const auto& [name, value] : options) list.set(name, value);
  return hosts;
}

// As both Envoy and Istio can have it.
HostSettings any_hosts(Chance& chance) {
  Options all{{"balance", chance.one_of({"random", "round-robin", "two"})},
              {"retry-host", chance.one_of({"any", "other:5"})}};
  if (chance.below(4) > 0) {
    all.insert(all.end(), {{"eject", chance.count(1, 100) + ':' + chance.duration(1'000) + ':' +
                                         chance.share(100)},
                           {"panic", chance.share(100)}});
  }
  return hosts_of(all);
}

// Settings by chance are read back as what they were, in each format.
TEST(Export, IsReadBackAsWhatItWas) {
  constexpr int kEach = 200;
  Chance chance;
  const auto expect_same = [](const Options& options, ExportFormat format,
                              const HostSettings& hosts = {}) {
    const Exported exported = export_policy(workload_of(options), format, {}, hosts);
    EXPECT_THAT(exported.differences, IsEmpty()) << exported.text;
  };
  for (int i = 0; i < kEach && !HasFailure(); ++i) {
    expect_same(any_grpc(chance), ExportFormat::kGrpc);
    const Options envoy = any_envoy(chance, chance.duration(1'000));
    const HostSettings hosts = any_hosts(chance);
    expect_same(envoy, ExportFormat::kEnvoy, hosts);
    expect_same(envoy, ExportFormat::kIstio, hosts);
    expect_same(envoy, ExportFormat::kEnvoyGateway);
    expect_same(any_resilience4j(chance), ExportFormat::kResilience4j);
    expect_same(any_dotnet(chance), ExportFormat::kDotNet);
    // A file of AWS has no timeout.
    const Exported aws = export_policy(
        workload_of({{"strategy", chance.one_of({"aws-standard", "aws-legacy", "aws-adaptive"})},
                     {"max-attempts", chance.count(1, 1'000)}}),
        ExportFormat::kAws);
    EXPECT_THAT(options_in(aws), ElementsAre("timeout")) << aws.text;
    EXPECT_EQ(aws.differences.size(), 1u);
  }
  // Without a deadline a file of gRPC has no time at all.
  EXPECT_THAT(differences_of(export_policy(workload_of({{"strategy", "grpc"}, {"timeout", "2s"}}),
                                           ExportFormat::kGrpc)),
              ElementsAre("export-option(option=timeout, here=2s, there=none)"));
}

// The picks of Istio are 5, its percentages whole; neither it nor Envoy looks at all hosts for the least loaded one.
TEST(Export, NamesWhatItCannotSayOfHosts) {
  const HostSettings hosts = hosts_of(
      {{"balance", "least"}, {"retry-host", "other"}, {"eject", "5:30s:0.125"}, {"panic", "0.5"}});
  const auto options_of_hosts = [&](ExportFormat format) {
    return options_in(export_policy(workload_of({{"strategy", "envoy"}}), format, {}, hosts));
  };
  EXPECT_THAT(options_of_hosts(ExportFormat::kEnvoy),
              ElementsAre("balance", "retry-host", "eject"));
  EXPECT_THAT(options_of_hosts(ExportFormat::kIstio),
              IsSupersetOf({"balance", "retry-host", "eject"}));
  EXPECT_THAT(options_of_hosts(ExportFormat::kDotNet),
              IsSupersetOf({"balance", "retry-host", "eject", "panic"}));
}

TEST(Export, NamesWhatItsFormatCannotSay) {
  const auto exported = [](const char* strategy, ExportFormat format) {
    return export_policy(workload_of({{"strategy", strategy}}), format);
  };
  EXPECT_THAT(differences_of(exported("exponential", ExportFormat::kGrpc)),
              Contains(HasSubstr("option=max-retries, here=none")));
  EXPECT_THAT(options_in(exported("exponential", ExportFormat::kIstio)),
              Contains("backoff-factor"));
  EXPECT_THAT(differences_of(exported("envoy-budget", ExportFormat::kResilience4j)),
              Contains("export-option(option=retry-budget, here=envoy, there=none)"));
}

// A budget of another kind becomes the nearest that the format has. 10 % of the requests may be retried in all
// three.
TEST(Export, KeepsABudget) {
  const auto written = [](const std::vector<std::pair<std::string, std::string>>& options,
                          ExportFormat format) {
    return export_policy(workload_of(options), format).text;
  };
  const auto of_grpc = [&](const Options& options) {
    const auto throttling = read_policies(written(options, ExportFormat::kGrpc)).policies.at(0);
    return std::pair(throttling.find("budget-tokens")->value,
                     throttling.find("budget-deposit")->value);
  };
  const Options share{{"retry-budget", "10%"}};
  EXPECT_EQ(of_grpc(share), std::pair(std::string("10"), std::string("0.1")));
  EXPECT_THAT(written(share, ExportFormat::kEnvoy),
              HasSubstr("retry_budget: {budget_percent: {value: 10}, min_retry_concurrency: 3}"));
  EXPECT_THAT(written(share, ExportFormat::kIstio),
              HasSubstr("percent: 10\n      minRetryConcurrency: 3"));
  // By hand: 10 retries a second for 10 s at once, twice of which are tokens; 500 tokens at 14 a retry.
  EXPECT_EQ(of_grpc({{"retry-budget", "finagle"}}),
            std::pair(std::string("200"), std::string("0.2")));
  EXPECT_EQ(of_grpc({{"retry-budget", "aws"}}), std::pair(std::string("71"), std::string("0.071")));
  EXPECT_EQ(of_grpc({{"retry-budget", "envoy"}, {"budget-share", "0.2"}}),
            std::pair(std::string("10"), std::string("0.2")));
}

// What is recommended to begin with is well in every format, too.
TEST(Export, BeginsWithoutFault) {
  const auto begin = [] {
    WorkloadOptions workload;
    workload.retry = retry_settings("begin");
    return workload;
  }();
  for (const ExportFormat format :
       {ExportFormat::kGrpc, ExportFormat::kEnvoy, ExportFormat::kIstio,
        ExportFormat::kResilience4j, ExportFormat::kAws, ExportFormat::kEnvoyGateway}) {
    const Exported exported = export_policy(begin, format);
    const PolicyFile file = read_policies(exported.text);
    for (const Note& note : findings_of(file.policies.at(0))) {
      EXPECT_EQ(note.level, Note::Level::kNote) << note.text << '\n' << exported.text;
    }
  }
  const Exported grpc = export_policy(begin, ExportFormat::kGrpc);
  EXPECT_TRUE(says(grpc.differences, "export-no-attempt-timeout"));
  EXPECT_THAT(differences_of(grpc),
              Contains("export-option(option=retry-budget, here=sre, there=grpc)"));
}

// Whatever the strategy, what is written can be read, and a link to the explorer with it has only options that its page
// knows.
TEST(Export, WritesFilesThatCanBeRead) {
  std::set<std::string> known;
  const auto page = catalogue();
  for (const auto& each : page["options"]) known.insert(each["name"]);
  for (const NamedStrategy& strategy : named_strategies()) {
    for (const ExportFormat format :
         {ExportFormat::kGrpc, ExportFormat::kEnvoy, ExportFormat::kIstio,
          ExportFormat::kResilience4j, ExportFormat::kAws, ExportFormat::kDotNet,
          ExportFormat::kEnvoyGateway}) {
      WorkloadOptions workload;
      workload.retry = retry_settings(strategy.name);
      const Exported exported = export_policy(workload, format);
      const PolicyFile file = read_policies(exported.text, ReadAs::kGrpcChannel);
      ASSERT_EQ(file.policies.size(), 1u) << strategy.name;
      EXPECT_FALSE(file.policies.front().refused) << strategy.name << '\n' << exported.text;
      for (const auto& [name, value] : options_of(file.policies.front())) {
        EXPECT_TRUE(known.contains(name)) << name << " = " << value;
      }
      if (format != ExportFormat::kResilience4j && format != ExportFormat::kDotNet) continue;
      // Their own readers skip names that they do not know. So do not have any.
      for (const Note& note : file.policies.front().notes) {
        EXPECT_NE(note.rule, kNoEffect) << note.text << '\n' << exported.text;
      }
    }
  }
}

}  // namespace
}  // namespace retrystorm::test
