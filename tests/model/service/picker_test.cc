#include "model/service/picker.h"

#include "model/service/host_life.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using ::testing::UnorderedElementsAre;

using Ended = Picker::Ended;
using Host = Picker::Host;

HostSettings hosts(std::size_t replicas, Balance balance) {
  return {.replicas = replicas, .balance = balance};
}
TimePoint at(Duration time) {
  return TimePoint(time);
}

// Picks so many hosts, each of which answers at once. Returns how often each was picked.
std::map<Host, int> picks(Picker& picker, TimePoint now, int count) {
  std::map<Host, int> all;
  for (int i = 0; i < count; ++i) {
    const Host host = picker.pick(now);
    ++all[host];
    picker.ended(now, host, Ended::kOk);
  }
  return all;
}

TEST(Picker, TakesTurns) {
  Picker picker(hosts(3, Balance::kRoundRobin), 1, 0);
  const Host first = picker.pick({});
  EXPECT_EQ(picker.pick({}), (first + 1) % 3);
  EXPECT_EQ(picker.pick({}), (first + 2) % 3);
  EXPECT_EQ(picker.pick({}), first);
}

// Pickers that began at the same host would stay in step.
TEST(Picker, BeginsAnywhere) {
  std::map<Host, int> first;
  for (std::uint64_t number = 0; number < 300; ++number) {
    ++first[Picker(hosts(3, Balance::kRoundRobin), 1, number).pick({})];
  }
  for (Host host = 0; host < 3; ++host) EXPECT_NEAR(first[host], 100, 40);
}

TEST(Picker, PicksTheFewestUnderWay) {
  Picker picker(hosts(3, Balance::kLeast), 1, 0);
  const Host a = picker.pick({}), b = picker.pick({}), c = picker.pick({});
  EXPECT_THAT((std::vector{a, b, c}), UnorderedElementsAre(0, 1, 2));
  picker.ended({}, b, Ended::kOk);
  EXPECT_EQ(picker.pick({}), b);
  EXPECT_EQ(picker.under_way(b), 1);
  // Of two empty ones, the one picked longest ago.
  picker.ended({}, c, Ended::kOk);
  picker.ended({}, a, Ended::kOk);
  EXPECT_EQ(picker.pick({}), a);
  EXPECT_EQ(picker.pick({}), c);
}

// With two hosts the better of two is the emptier one, always.
TEST(Picker, PicksTheBetterOfTwo) {
  Picker picker(hosts(2, Balance::kTwo), 1, 0);
  const Host first = picker.pick({});
  for (int i = 0; i < 20; ++i) {
    const Host other = picker.pick({});
    EXPECT_EQ(other, 1 - first);
    picker.ended({}, other, Ended::kOk);
  }
}

TEST(Picker, PicksAnotherHostForARetry) {
  for (const Balance balance :
       {Balance::kRandom, Balance::kRoundRobin, Balance::kLeast, Balance::kTwo}) {
    HostSettings settings = hosts(5, balance);
    settings.retry_host = {.kind = RetryHost::Kind::kOther};
    Picker picker(settings, 1, 0);
    for (int request = 0; request < 50; ++request) {
      std::vector<Host> tried;
      for (int attempt = 0; attempt < 5; ++attempt) {
        const Host host = picker.pick({}, tried);
        picker.ended({}, host, Ended::kFailed);
        EXPECT_THAT(tried, Each(::testing::Ne(host)));
        tried.push_back(host);
      }
      // All have been tried: any will do.
      picker.ended({}, picker.pick({}, tried), Ended::kOk);
    }
  }
}

// --- Ejection ---

HostSettings ejecting(std::size_t replicas, std::size_t failures, Duration base, double most) {
  HostSettings settings = hosts(replicas, Balance::kRoundRobin);
  settings.eject = {.failures = failures, .base = base, .most = most};
  return settings;
}

// Fails once at this host, whatever else is picked until then.
void fail_at(Picker& picker, TimePoint now, Host bad) {
  while (true) {
    const Host host = picker.pick(now);
    picker.ended(now, host, host == bad ? Ended::kFailed : Ended::kOk);
    if (host == bad) return;
  }
}

TEST(Picker, EjectsAfterFailuresInARow) {
  Picker picker(ejecting(3, 2, 30s, 0.34), 1, 0);
  fail_at(picker, at(1s), 1);
  picks(picker, at(1s), 3);  // a success in between
  fail_at(picker, at(2s), 1);
  EXPECT_FALSE(picker.is_out(at(2s), 1));
  fail_at(picker, at(2s), 1);
  EXPECT_TRUE(picker.is_out(at(2s), 1));
  EXPECT_EQ(picker.ejections(1), 1);
  EXPECT_EQ(picks(picker, at(31s), 4), (std::map<Host, int>{{0, 2}, {2, 2}}));
  EXPECT_EQ(picks(picker, at(32s), 6), (std::map<Host, int>{{0, 2}, {1, 2}, {2, 2}}));
}

// Envoy: base time x number of ejections in a row, which falls by one with each ten seconds without one.
TEST(Picker, EjectsLongerEachTime) {
  Picker picker(ejecting(2, 1, 30s, 0.5), 1, 0);
  fail_at(picker, at(0s), 1);  // out until 30 s
  EXPECT_TRUE(picker.is_out(at(29s), 1));
  fail_at(picker, at(30s), 1);  // the second time, until 90 s
  EXPECT_TRUE(picker.is_out(at(89s), 1));
  EXPECT_FALSE(picker.is_out(at(90s), 1));
  fail_at(picker, at(110s), 1);  // it was well for twenty seconds: two less, and one more
  EXPECT_TRUE(picker.is_out(at(139s), 1));
  EXPECT_FALSE(picker.is_out(at(140s), 1));
}

// Ten percent of three hosts are none; a third are one.
// nginx: ngx_http_upstream_get_peer and ngx_http_upstream_free_round_robin_peer.
TEST(Picker, TriesAHostThatWasOut) {
  HostSettings settings = ejecting(2, 2, 10s, 1);
  settings.eject.trial = true;
  Picker picker(settings, 1, 0);
  fail_at(picker, at(1s), 0);
  picks(picker, at(2s), 2);  // too early to count
  fail_at(picker, at(3s), 0);
  EXPECT_TRUE(picker.is_out(at(12999ms), 0));
  EXPECT_FALSE(picker.is_out(at(13s), 0));
  // One attempt only, which fails: out as long as before, from then on.
  std::vector<Host> picked;
  for (int i = 0; i < 5; ++i) picked.push_back(picker.pick(at(14s)));
  EXPECT_EQ(std::count(picked.begin(), picked.end(), 0), 1);
  picker.ended(at(15s), 0, Ended::kFailed);
  EXPECT_TRUE(picker.is_out(at(24999ms), 0));
  // The next one does not.
  while (picker.pick(at(25s)) != 0) {
  }
  EXPECT_TRUE(picker.is_out(at(26s), 0));
  picker.ended(at(26s), 0, Ended::kOk);
  EXPECT_EQ(picks(picker, at(26s), 2), (std::map<Host, int>{{0, 1}, {1, 1}}));
  EXPECT_EQ(picker.ejections(0), 1);
  // Failures count from 0 again. A success so long after the last one is enough for that.
  fail_at(picker, at(27s), 0);
  picks(picker, at(37s), 2);
  fail_at(picker, at(38s), 0);
  EXPECT_FALSE(picker.is_out(at(38s), 0));
}

// gRPC's connection-backoff.md: 1 s, 1.6 times as long each time, at most 120 s, a fifth more or less; a connection ends the row.
TEST(Picker, LeavesOutWhatCannotBeConnected) {
  HostSettings settings = ejecting(2, 1, 1s, 1);
  settings.eject.lost = true;
  Picker picker(settings, 1, 0);
  fail_at(picker, {}, 0);
  EXPECT_FALSE(picker.is_out({}, 0));
  const auto lose = [&picker](TimePoint now) {
    while (picker.pick(now) != 0) {
    }
    picker.ended(now, 0, Ended::kLost);
  };
  TimePoint now{};
  for (const double mean : {1.0, 1.6, 2.56, 4.096, 6.5536, 10.48576, 16.777, 26.844, 42.95, 68.72,
                            109.95, 120.0, 120.0}) {
    lose(now);
    EXPECT_TRUE(picker.is_out(now + scale(1s, 0.79 * mean), 0)) << mean;
    now += scale(1s, 1.21 * mean);
    EXPECT_FALSE(picker.is_out(now, 0)) << mean;
  }
  picks(picker, now, 2);
  lose(now);
  EXPECT_FALSE(picker.is_out(now + 1210ms, 0));
}

TEST(Picker, EjectsNoMoreThanItsShare) {
  Picker none(ejecting(3, 1, 30s, 0.1), 1, 0);
  fail_at(none, {}, 0);
  EXPECT_EQ(none.ejections(0), 0);
  Picker one(ejecting(3, 1, 30s, 0.34), 1, 0);
  fail_at(one, {}, 0);
  fail_at(one, {}, 1);
  EXPECT_TRUE(one.is_out({}, 0));
  EXPECT_FALSE(one.is_out({}, 1));
}

// Three of five are out, 40 % are well: less than half. So all five get traffic.
TEST(Picker, PanicsWhenFewAreLeft) {
  HostSettings settings = ejecting(5, 1, 30s, 1);
  settings.panic = 0.5;
  Picker picker(settings, 1, 0);
  fail_at(picker, {}, 0);
  fail_at(picker, {}, 1);
  EXPECT_EQ(picks(picker, {}, 6), (std::map<Host, int>{{2, 2}, {3, 2}, {4, 2}}));
  fail_at(picker, {}, 2);
  EXPECT_EQ(picks(picker, {}, 10), (std::map<Host, int>{{0, 2}, {1, 2}, {2, 2}, {3, 2}, {4, 2}}));
}

TEST(Picker, HasNobodyLeft) {
  Picker picker(ejecting(2, 1, 30s, 1), 1, 0);
  fail_at(picker, {}, 0);
  fail_at(picker, {}, 1);
  EXPECT_EQ(picker.pick(at(29s)), Picker::kNone);
  EXPECT_NE(picker.pick(at(30s)), Picker::kNone);
}

// nginx: of the failures that proxy_next_upstream may name, only "error" and "timeout" count if it does not. Where the
// client gives up (499), ngx_http_upstream_finalize_request frees the host without NGX_PEER_FAILED.
TEST(Picker, TakesAnErrorForAnAnswerIfErrorsDoNotCount) {
  HostSettings settings = ejecting(2, 1, 10s, 1);
  settings.eject.trial = true;
  settings.eject.errors = false;
  Picker picker(settings, 1, 0);
  fail_at(picker, at(1s), 0);
  EXPECT_FALSE(picker.is_out(at(1s), 0));
  picker.begin(at(2s), 0);
  picker.ended(at(2s), 0, Ended::kTimedOut);
  EXPECT_TRUE(picker.is_out(at(2s), 0));
  settings.eject.timeouts = false;
  Picker proxy(settings, 1, 0);
  proxy.begin(at(1s), 0);
  proxy.ended(at(1s), 0, Ended::kTimedOut);
  EXPECT_FALSE(proxy.is_out(at(1s), 0));
  proxy.begin(at(2s), 0);
  proxy.ended(at(2s), 0, Ended::kLost);
  EXPECT_TRUE(proxy.is_out(at(2s), 0));
}

// --- As text ---

TEST(Picker, ReadsItsSettings) {
  EXPECT_EQ(parse_ejection("none"), Ejection());
  EXPECT_EQ(parse_ejection("5"), (Ejection{.failures = 5}));
  EXPECT_EQ(parse_ejection("5:1m:34%"), (Ejection{.failures = 5, .base = 1min, .most = .34}));
  EXPECT_EQ(parse_ejection("1:10s:1:trial"),
            (Ejection{.failures = 1, .base = 10s, .most = 1, .trial = true, .errors = false}));
  for (const char* text : {"1:10s:1:trial", "1:10s:1:trial+5xx", "1:10s:1:trial-timeout"}) {
    EXPECT_EQ(to_string(parse_ejection(text)), text);
  }
  EXPECT_EQ(parse_ejection("1:1s:1:lost"),
            (Ejection{.failures = 1, .base = 1s, .most = 1, .lost = true}));
  EXPECT_EQ(to_string(parse_ejection("1:1s:1:lost")), "1:1s:1:lost");
  EXPECT_EQ(parse_ejection(to_string(Ejection{.failures = 1, .base = 10s, .most = 1})),
            (Ejection{.failures = 1, .base = 10s, .most = 1}));
  EXPECT_EQ(parse_retry_host("other:3"), (RetryHost{.kind = RetryHost::Kind::kAgain, .times = 3}));
  EXPECT_EQ(parse_retry_host("other"), (RetryHost{.kind = RetryHost::Kind::kOther}));
  for (const char* wrong : {"0", "5:30s:10%:1", "5:30s:200%", "five", ""}) {
    EXPECT_THROW(parse_ejection(wrong), std::invalid_argument) << wrong;
  }
  for (const char* wrong : {"other:0", "others", ""}) {
    EXPECT_THROW(parse_retry_host(wrong), std::invalid_argument) << wrong;
  }
  HostSettings few = hosts(3, Balance::kRandom);
  few.outage_replicas = 4;
  EXPECT_THROW(check(few), std::invalid_argument);
}

using Health = Picker::Health;

// What starts or ends gets nothing, not even in a panic. What fails its probe does then.
TEST(Picker, LeavesOutWhatIsUnwellOrAway) {
  HostSettings settings = hosts(4, Balance::kRoundRobin);
  settings.panic = 0.5;
  Picker picker(settings, 1, 0);
  picker.set({}, 0, Health::kAway);
  picker.set({}, 1, Health::kUnwell);
  EXPECT_THAT(picks(picker, {}, 10),
              UnorderedElementsAre(Pair(2, 5), Pair(3, 5)));  // two of three are well
  picker.set({}, 2, Health::kUnwell);
  EXPECT_THAT(picks(picker, {}, 9), UnorderedElementsAre(Pair(1, 3), Pair(2, 3), Pair(3, 3)));
  picker.set({}, 1, Health::kUp);
  EXPECT_THAT(picks(picker, {}, 10), UnorderedElementsAre(Pair(1, 5), Pair(3, 5)));
  for (const Host host : {1u, 2u, 3u}) picker.set({}, host, Health::kAway);
  EXPECT_EQ(picker.pick({}), Picker::kNone);
}

TEST(Probe, IsReadAsItIsWritten) {
  EXPECT_EQ(parse_probe("none"), Probe());
  EXPECT_EQ(parse_probe("10s"), (Probe{.every = 10s}));
  const Probe probe{.every = 30s, .timeout = 2s, .failures = 5, .own_port = true};
  EXPECT_EQ(parse_probe("30s:2s:5:port"), probe);
  EXPECT_EQ(to_string(probe), "30s:2s:5:port");
  for (const char* text : {"", "0s", "10s:20s", "10s:1s:0", "10s:1s:3:4", "10s:1s:3:port:1"}) {
    EXPECT_THROW(parse_probe(text), std::invalid_argument) << text;
  }
}

// Hosts that are up at once, for as many looks. `load`: of one host's capacity. `queue`: does what waits keep all busy?
std::vector<std::size_t> scaled(double load, bool queue, int looks) {
  const ScalingSettings settings{.most = 40};
  HostScaler scaler(settings, 4);
  std::vector<std::size_t> all{4};
  for (int i = 1; i <= looks; ++i) {
    const double use = queue ? 1 : std::min(1., load / static_cast<double>(all.back()));
    all.push_back(scaler.wanted(TimePoint{i * settings.every}, all.back(), 0, use));
  }
  return all;
}

// Six times the load that four hosts do at half their capacity.
TEST(HostScaler, DoublesAsLongAsAllIsUsed) {
  EXPECT_THAT(scaled(12, false, 5), ElementsAre(4, 8, 16, 24, 24, 24));
  EXPECT_THAT(scaled(12, true, 4), ElementsAre(4, 8, 16, 32, 40));
}

TEST(HostScaler, LetsALittleMoreBe) {
  EXPECT_THAT(scaled(4 * .5 * 1.09, false, 2), ElementsAre(4, 4, 4));
  EXPECT_THAT(scaled(4 * .5 * 1.11, false, 2), ElementsAre(4, 5, 5));
}

// Those that start will take their share, so nothing is added for it twice.
TEST(HostScaler, WaitsForHostsThatStart) {
  HostScaler scaler({.most = 40}, 4);
  EXPECT_EQ(scaler.wanted(TimePoint{15s}, 4, 0, 1), 8);
  EXPECT_EQ(scaler.wanted(TimePoint{30s}, 4, 4, 1), 8);
  EXPECT_EQ(scaler.wanted(TimePoint{45s}, 8, 0, 1), 16);
}

// At the least use of five minutes, and never fewer than at first.
TEST(HostScaler, EndsHostsLate) {
  HostScaler scaler({.most = 40}, 4);
  EXPECT_EQ(scaler.wanted(TimePoint{0s}, 20, 0, .5), 20);
  EXPECT_EQ(scaler.wanted(TimePoint{300s}, 20, 0, .25), 20);
  EXPECT_EQ(scaler.wanted(TimePoint{301s}, 20, 0, .25), 10);
  EXPECT_EQ(scaler.wanted(TimePoint{601s}, 10, 0, .01), 10);
  EXPECT_EQ(scaler.wanted(TimePoint{602s}, 10, 0, .01), 4);
}

}  // namespace
}  // namespace retrystorm
