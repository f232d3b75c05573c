// Requests that arrive as a file says, or periodically.

#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "tests/support/refusal.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// A file's path is its text, with a ; for each end of a line.
std::string named_text(const std::string& path, std::size_t /*most*/,
                       const std::string& /*whose*/) {
  std::string text = path;
  std::replace(text.begin(), text.end(), ';', '\n');
  return text;
}

class PlannedArrivals : public testing::Test {
 protected:
  PlannedArrivals() : reads_(std::exchange(read_arrivals, named_text)) {}
  ~PlannedArrivals() override { read_arrivals = reads_; }

 private:
  decltype(read_arrivals) reads_;
};

struct Watch final : RunObserver {
  std::vector<RunInterval> intervals;
  std::vector<Duration> begun, ended;  // requests
  Summary summary;

  Watch(const std::string& settings, std::uint64_t seed = 1) {
    ScenarioOptions options = options_from(settings);
    options.trace = 1'000'000;
    options.report_interval = 1s;
    refuse(unused_options(options));
    SimulationObservers observers;
    observers.run.push_back(this);
    summary = Simulation(make_scenario(options, seed), observers).run().summary;
    std::sort(begun.begin(), begun.end());
    std::sort(ended.begin(), ended.end());
  }
  void on_interval(const RunInterval& interval) override { intervals.push_back(interval); }
  void on_request(const TracedRequest& request) override {
    begun.push_back(request.t);
    if (request.time) ended.push_back(request.t + *request.time);
  }
  std::ptrdiff_t begun_in(Duration from, Duration until) const {
    return std::ranges::count_if(begun, [&](Duration t) { return t >= from && t < until; });
  }
};

const std::string kCalm = "outage-at = 30s\nobserve = 60s\noutage-for = 0s\n";

TEST_F(PlannedArrivals, OfAConstantRateAreThoseOfTheRate) {
  for (const std::string outage : {"0s", "10s"}) {
    const std::string settings = "service = workers\noutage-for = " + outage + '\n';
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Watch rate("arrivals = open\nrate = 130\n" + settings, seed);
      const Watch file("arrivals = file:seconds,rate;0,130;12.5,130;31,130\n" + settings, seed);
      EXPECT_EQ(file.begun, rate.begun);
      EXPECT_EQ(file.ended, rate.ended);
      EXPECT_EQ(file.summary.counts.ok, rate.summary.counts.ok);
      EXPECT_EQ(file.summary.counts.attempts, rate.summary.counts.attempts);
      EXPECT_EQ(file.summary.recovery.verdict, rate.summary.recovery.verdict);
      EXPECT_EQ(file.summary.recovery.ok_lost, rate.summary.recovery.ok_lost);
      EXPECT_EQ(file.summary.arrivals, "");
    }
  }
}

TEST_F(PlannedArrivals, FollowTheRatesOfTheFile) {
  const Watch run("arrivals = file:10,100;40,0;50,400\nmax-retries = 0\n" + kCalm);
  EXPECT_EQ(run.begun_in(0s, 10s), 0);
  EXPECT_NEAR(static_cast<double>(run.begun_in(10s, 40s)), 3000, 4 * std::sqrt(3000));
  EXPECT_EQ(run.begun_in(40s, 50s), 0);
  EXPECT_NEAR(static_cast<double>(run.begun_in(50s, 90s)), 16000, 4 * std::sqrt(16000));
  EXPECT_EQ(run.summary.arrivals, "file:10,100;40,0;50,400");
}

TEST_F(PlannedArrivals, HaveTheirRatesScaledAndMultiplied) {
  const Watch run("arrivals = file:0,100;45,200\nmax-retries = 0\nscale = 2\nat = 60s load 3\n" +
                  kCalm);
  EXPECT_NEAR(static_cast<double>(run.begun_in(0s, 45s)), 9000, 4 * std::sqrt(9000));
  EXPECT_NEAR(static_cast<double>(run.begun_in(45s, 60s)), 6000, 4 * std::sqrt(6000));
  EXPECT_NEAR(static_cast<double>(run.begun_in(60s, 90s)), 36000, 4 * std::sqrt(36000));
}

TEST_F(PlannedArrivals, ComeAtTheTimesOfTheFileAndNoMore) {
  const Watch run("arrivals = file:# t;0;0.25;0.25;7.000000001;89.5\n" + kCalm);
  EXPECT_EQ(run.begun, (std::vector<Duration>{0s, 250ms, 250ms, 7s + 1ns, 89'500ms}));
  EXPECT_EQ(run.summary.counts.requests, 5u);
}

// 20 workers with 100 ms each do 200/s: 1,000 requests at once are done after 5 s, each time.
TEST_F(PlannedArrivals, OfAllClientsAtOnceAreDoneAfterClientsByCapacity) {
  const Watch run(
      "arrivals = periodic:40s\nclients = 1000\nservice = workers\nworkers = 20\n"
      "service-time = fixed:100ms\ntimeout = none\nbacklog = 1000\n");
  ASSERT_EQ(run.begun.size(), 3000u);
  ASSERT_EQ(run.ended.size(), 3000u);
  for (const std::size_t period : {0u, 1u, 2u}) {
    const Duration begin = 40s * period;
    EXPECT_EQ(run.begun[1000 * period], begin);
    EXPECT_EQ(run.begun[1000 * period + 999], begin);
    EXPECT_EQ(run.ended[1000 * period], begin + 100ms);
    EXPECT_EQ(run.ended[1000 * period + 999], begin + 5s);
  }
  EXPECT_EQ(run.summary.recovery.verdict, Verdict::kNoOutage);
  EXPECT_EQ(run.summary.arrival_rate, 25);
}

// A client comes at the same moment of each period.
TEST_F(PlannedArrivals, SpreadOverTheSplay) {
  const Watch run("arrivals = periodic:30s\nclients = 600\nsplay = 6s\nbase-delay = 1ms\n" + kCalm);
  ASSERT_EQ(run.begun.size(), 1800u);
  for (std::size_t i = 0; i < 1200; ++i) EXPECT_EQ(run.begun[i] + 30s, run.begun[i + 600]);
  EXPECT_LT(run.begun[599], 6s);
  const std::set<Duration> moments(run.begun.begin(), run.begun.begin() + 600);
  EXPECT_EQ(moments.size(), 600u);
  for (const auto second : {0s, 1s, 2s, 3s, 4s, 5s}) {
    EXPECT_NEAR(static_cast<double>(run.begun_in(second, second + 1s)), 100,
                4 * std::sqrt(100 * 5. / 6));
  }
}

// The service is as well as before when half as much is OK because half as much arrives, and not when as much is.
TEST_F(PlannedArrivals, AreComparedAtTheirRates) {
  const std::string settings =
      "service = workers\nworkers = 100\nservice-time = fixed:50ms\nmax-retries = 0\noutage-for = 10s\n";
  const auto recovery_of = [&settings](const std::string& rates, const std::string& more = "") {
    return Watch("arrivals = file:" + rates + '\n' + settings + more).summary.recovery;
  };
  EXPECT_EQ(recovery_of("0,400;35,200").verdict, Verdict::kRecovered);
  EXPECT_EQ(recovery_of("0,100;15,500;22,300;41,200").verdict, Verdict::kRecovered);
  // 300/s would be twice the OK/s of the calm, but its capacity is now 150/s.
  const Recovery less = recovery_of("0,100;15,200;41,600", "at = 31s capacity 0.15\n");
  EXPECT_NE(less.verdict, Verdict::kRecovered);
  EXPECT_FALSE(less.time_to_recovery);
}

TEST_F(PlannedArrivals, OfEmptyWindowsHaveNoVerdict) {
  for (const std::string arrivals : {"file:0,100;60,0", "file:0,100;20,0;25,100", "periodic:20s"}) {
    const Recovery recovery =
        Watch("outage-for = 10s\narrivals = " + arrivals + '\n').summary.recovery;
    EXPECT_EQ(recovery.verdict, Verdict::kUndecided) << arrivals;
    EXPECT_EQ(recovery.causes.front().id, "uneven-arrivals") << arrivals;
  }
  EXPECT_EQ(
      Watch("outage-for = 10s\narrivals = file:0,100\nmax-retries = 0\n").summary.recovery.verdict,
      Verdict::kRecovered);
  EXPECT_EQ(Watch("outage-for = 10s\narrivals = periodic:20s\nsplay = 20s\nmax-retries = 0\n")
                .summary.recovery.verdict,
            Verdict::kRecovered);
}

TEST_F(PlannedArrivals, NameTheLineThatIsWrong) {
  test::expect_refusals([](const std::string& lines) { options_from("arrivals = file:" + lines); },
                        {{"5;3", "line 2: 3 s does not come after the 5 s"},
                         {"1,2;1,3", "line 2: 1 s does not come after the 1 s"},
                         {"1,-2", "line 1: '-2'"},
                         {"0,5;-1,2", "line 2: '-1'"},
                         {"0,1;;2", "line 3: '2'"},
                         {"0,1,2", "line 1: '0,1,2'"},
                         {"t;0;x", "line 3: 'x'"},
                         {"1700000000", "from the start of the run"},
                         {"a,b;c,d", "line 2: 'c'"},
                         {"0,0", "nothing arrives"},
                         {"seconds", "nothing arrives"},
                         {"", "nothing arrives"}});
  EXPECT_THAT(test::refusal_of([] { parse_arrivals(std::string(1'000'001, '\n') + "1"); }),
              HasSubstr("line 1000002: a million lines"));
}

TEST_F(PlannedArrivals, RefuseWhatHasNoEffectOnThem) {
  test::expect_refusals(
      [](const std::string& settings) {
        const ScenarioOptions options = options_from(settings);
        refuse(unused_options(options));
        make_scenario(options, 1);
      },
      {{"arrivals = file:0,5\nrate = 50", "rate has no effect with --arrivals=file:0,5"},
       {"arrivals = periodic:1m\nrate = 50", "rate has no effect with --arrivals=periodic:1m0s"},
       {"arrivals = file:0,5\nclients = 50", "clients has no effect"},
       {"arrivals = periodic:1m\nlambda = 1s", "lambda has no effect"},
       {"arrivals = file:0,5\nsplay = 1s", "splay has no effect without --arrivals=periodic:P"},
       {"arrivals = periodic:1m\nsplay = 61s", "--splay=1m1s is longer"},
       {"arrivals = file:5;6\nat = 40s load 2", "load 2' has no effect with --arrivals=file:5;6"},
       {"arrivals = file:5;6\nscale = 2", "scale has no effect"},
       {"arrivals = periodic:1m\noutage-for = 5s\noutage = load:2", "outage load:2 has no effect"},
       {"arrivals = file:0,5\nat = 40s load 2", ""},
       {"arrivals = periodic:1m\nclients = 50\nsplay = 60s\nscale = 2", ""}});
}

// As a file of settings has them, and an axis of a sweep.
TEST_F(PlannedArrivals, AreWrittenAsTheyAreRead) {
  ScenarioOptions options;
  OptionList list;
  declare_options(list, options);
  for (const std::string text : {"file:0,5", "periodic:1m0s", "open", "job", "closed"}) {
    list.set("arrivals", text);
    EXPECT_EQ(list.find("arrivals")->get(), text);
  }
  EXPECT_FALSE(options.workload.plan.on());
  EXPECT_EQ(options.workload.rate, WorkloadOptions().rate);
}

}  // namespace
}  // namespace retrystorm
