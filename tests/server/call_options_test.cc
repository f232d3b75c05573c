#include "server/options.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

UpstreamSettings upstream(const Settings& settings) {
  CallOptions calls;
  OptionList list;
  declare_options(list, calls);
  for (const auto& [name, value] : settings) list.set(name, value);
  return make_upstream(calls);
}

TEST(CallOptions, NameWhatIsCalled) {
  const auto settings = upstream(
      {{"calls",
        "a=http://127.0.0.1:81/x, http://127.0.0.1:82/y? & a=http://127.0.0.1:81/x*2@0.5"}});
  ASSERT_EQ(settings.callees.size(), 2);
  EXPECT_EQ(settings.callees[0].name, "a");
  EXPECT_THAT(settings.callees[0].urls, ElementsAre("http://127.0.0.1:81/x"));
  EXPECT_EQ(settings.callees[1].name, "127.0.0.1:82");
  ASSERT_EQ(settings.node.calls.size(), 2);
  const auto& second = settings.node.calls[1];
  ASSERT_EQ(second.size(), 2);
  EXPECT_EQ(second[0].to, 1);
  EXPECT_TRUE(second[0].optional);
  EXPECT_EQ(second[1].to, 0);
  EXPECT_EQ(second[1].times, 2);
  EXPECT_EQ(second[1].share, 0.5);
}

// What is said of one callee overrules what is said of all, and its strategy does not overrule what stands beside it.
TEST(CallOptions, HoldForAllOrForOneCallee) {
  const auto settings =
      upstream({{"calls", "a=http://127.0.0.1:81/, b=http://127.0.0.1:82/"},
                {"call-timeout", "300ms"},
                {"call-max-attempts", "7"},
                {"call-fixed-delay", "3ms"},
                {"call-to", "b max_attempts=2 strategy=fixed; a deadline-propagation=attempt"}});
  const WorkloadOptions& a = settings.callees[0].edge.caller;
  EXPECT_EQ(a.timeout, 300ms);
  EXPECT_EQ(a.retry.limit.max_retries, 6);
  EXPECT_EQ(a.retry.backoff.base, 3ms);
  EXPECT_EQ(settings.callees[0].edge.deadline, DeadlinePropagation::kAttempt);
  const WorkloadOptions& b = settings.callees[1].edge.caller;
  EXPECT_EQ(b.timeout, 300ms);
  EXPECT_EQ(b.retry.limit.max_retries, 1);
  EXPECT_EQ(settings.callees[1].edge.deadline, DeadlinePropagation::kNone);
}

TEST(CallOptions, NameTheHostsOfACallee) {
  const auto settings =
      upstream({{"calls", "a=http://127.0.0.1:81/|http://127.0.0.1:82/ & b=http://127.0.0.1:83/"},
                {"call-balance", "least"},
                {"call-to", "a eject=5:30s:50% retry-host=other"}});
  EXPECT_THAT(settings.callees[0].urls,
              ElementsAre("http://127.0.0.1:81/", "http://127.0.0.1:82/"));
  const HostSettings& a = settings.callees[0].hosts;
  EXPECT_EQ(a.replicas, 2u);
  EXPECT_EQ(a.balance, Balance::kLeast);
  EXPECT_EQ(a.eject.failures, 5u);
  EXPECT_EQ(a.retry_host.kind, RetryHost::Kind::kOther);
  EXPECT_FALSE(settings.callees[1].hosts.many());
}

TEST(CallOptions, RefuseWhatCannotBe) {
  const std::string a = "a=http://127.0.0.1:81/";
  test::expect_refusals<Settings>(
      upstream,
      {{{{"calls", "db"}}, "db"},
       {{{"calls", "9=http://127.0.0.1:81/"}}, "is no name"},
       {{{"calls", a + ", a=http://127.0.0.1:82/"}}, "a has other URLs elsewhere"},
       {{{"calls", a + "|db"}}, "db"},
       {{{"calls", a}, {"call-balance", "two"}}, "no effect without a second URL"},
       {{{"calls", a + "|http://127.0.0.1:82/"}, {"call-panic", "0.5"}},
        "no effect without --eject"},
       {{{"calls", a}, {"call-to", "b timeout=1s"}}, "--call-to: "},
       {{{"calls", a}, {"call-to", "a timeout"}}, "NAME OPTION=VALUE"},
       {{{"calls", a}, {"call-to", "a"}}, "NAME OPTION=VALUE"},
       {{{"calls", a}, {"call-to", "a tmeout=1s"}}, "did you mean timeout"},
       {{{"calls", a}, {"call-deadline-propagation", "request"}}, "needs a --call-deadline"},
       {{{"calls", a}, {"call-pool-size", "3"}}, "no effect without --connections=keep-alive"}});
}

TEST(CallOptions, HaveNoEffectAlone) {
  CallOptions calls;
  calls.node.waiting = Waiting::kFree;
  EXPECT_EQ(unused_calls(calls, ServiceOptions())["waiting"],
            "waiting has no effect without --calls");
}

}  // namespace
}  // namespace retrystorm
