// Clients that lose their connections at once and come back. Expectations are arithmetic: N clients
// that come over a window of W at a service that connects m a second are all back after
// max(W, N / m).

#include "simulate/program.h"
#include "simulator/simulation.h"
#include "tests/support/refusal.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

struct HerdRecording final : RunObserver, ServiceObserver {
  std::vector<RunInterval> intervals;
  std::uint64_t offered = 0;  // in the last 9 s of the run
  void on_interval(const RunInterval& interval) override { intervals.push_back(interval); }
  void on_interval(Duration t, Duration, const ServerInterval& interval) override {
    if (t > 11s && t <= 20s) offered += interval.counts.offered;
  }
};

SimulatorOptions herd_options(const std::string& more) {
  SimulatorOptions options;
  OptionList list;
  declare_options(list, options);
  // Clients that hardly ever want something, at a service that connects 2,000 of them a second.
  list.apply(
      "outage = reconnect\noutage-at = 10s\nobserve = 19s\nclients = 5000\nlambda = 1000h\n"
      "timeout = 100s\nservice = workers\nworkers = 200\nservice-time = 100ms\n"
      "reconnect-growth = constant\n");
  list.apply(more);
  return options;
}

ReconnectResult run_herd(const std::string& more, std::uint64_t seed = 1,
                         HerdRecording* recording = nullptr) {
  SimulatorOptions options = herd_options(more);
  options.report_interval = 500ms;
  SimulationObservers observers;
  if (recording != nullptr) observers = {.run = {recording}, .service = {recording}};
  return Simulation(make_scenario(options, seed), observers).run().summary.reconnect.value();
}

double all_back(const ReconnectResult& result) {
  return to_seconds(result.all_back.value());
}

// The numbers without a connection are binomial. The last of 5,000 comes within 1 % of the window's
// end but in e^-50 of the runs.
TEST(Reconnect, BringsClientsBackEvenlyOverTheWindow) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    HerdRecording recording;
    const ReconnectResult result =
        run_herd("reconnect-base = 2500ms\nworkers = 5000\nservice-time = 1ms\n", seed, &recording);
    EXPECT_EQ(result.clients, 5000u);
    EXPECT_EQ(result.back, 5000u);
    EXPECT_EQ(result.attempts, 5000u);
    EXPECT_EQ(result.failed, 0u);
    EXPECT_NEAR(all_back(result), 2.4885, 0.0125);
    EXPECT_NEAR(to_seconds(result.half_back.value()), 1.251, 4 * 2.5 * 0.5 / std::sqrt(5000));
    for (const RunInterval& each : recording.intervals) {
      const double since = to_seconds(each.t) - 10;
      const double without = since <= 0 || since > 2.5 ? 0 : 1 - since / 2.5;
      EXPECT_NEAR(static_cast<double>(each.clients.disconnected.value()), 5000 * without,
                  10 + 4 * std::sqrt(5000 * without * (1 - without)))
          << since;
    }
  }
}

// More come than can connect: the queue holds the others, and is never empty before the last.
TEST(Reconnect, TakesAsLongAsTheServiceNeedsForAllOfThem) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const char* window : {"100ms", "1s", "2s"}) {
      EXPECT_NEAR(all_back(run_herd(std::string("reconnect-base = ") + window, seed)), 5000 / 2000.,
                  0.15)
          << window;
    }
    EXPECT_NEAR(all_back(run_herd("reconnect-base = 5s\n", seed)), 5.1, 0.06);
  }
  // All come at the same moment, after 1 s, and are served in 25 batches.
  const std::string at_once("reconnect-jitter = none\nreconnect-base = 1s\n");
  EXPECT_EQ(run_herd(at_once).all_back, 3500ms);
  EXPECT_EQ(run_herd(at_once).half_back, 2300ms);  // of 12.5 batches
}

TEST(Reconnect, CostsSoManyRequestsEach) {
  const ReconnectResult result =
      run_herd("reconnect-jitter = none\nreconnect-base = 1s\nreconnect-calls = 3\n");
  EXPECT_EQ(result.attempts, 15'000u);
  EXPECT_NEAR(all_back(result), 1 + 15'000 / 2000., 0.001);
}

TEST(Reconnect, IsTriedAgainByItsOwnPolicy) {
  std::string failing(
      "clients = 100\nstrategy = none\nat = 10s set error-share=1\n"
      "reconnect-growth = exponential\nreconnect-base = 1s\nreconnect-jitter = none\n");
  // After 1, 3, 7 and 15 s.
  const ReconnectResult result = run_herd(failing);
  EXPECT_EQ(result.attempts, 400u);
  EXPECT_EQ(result.failed, 400u);
  EXPECT_EQ(result.back, 0u);
  EXPECT_EQ(result.all_back, std::nullopt);
  // After 1, 3, 5, ... 19 s.
  failing += "reconnect-cap = 2s\n";
  EXPECT_EQ(run_herd(failing).attempts, 1000u);
}

// A hundred clients ask again as soon as they have an answer.
TEST(Reconnect, FailsWhatIsUnderWayAndKeepsTheRestWaiting) {
  HerdRecording recording;
  SimulatorOptions options = herd_options(
      "clients = 100\nlambda = 0s\nstrategy = none\ntimeout = 3s\nobserve = 60s\n"
      "reconnect-jitter = none\nreconnect-base = 10s\n");
  const Summary summary =
      Simulation(make_scenario(options, 1), {.run = {&recording}, .service = {&recording}})
          .run()
          .summary;
  const std::size_t reset = error_kind(not_connected(0s, NoAnswer::kReset));
  EXPECT_EQ(summary.counts.errors, 100u);
  EXPECT_EQ(summary.counts.errors_by.at(reset), 100u);
  // Nothing is sent for ten seconds: three attempts of each time out, and the fourth waits for a
  // second until there is a connection.
  EXPECT_EQ(recording.offered, 0u);
  EXPECT_EQ(summary.counts.timed_out, 300u);
  EXPECT_EQ(summary.reconnect->all_back, 10'100ms);
  EXPECT_EQ(summary.recovery.verdict, Verdict::kRecovered);
}

// Clients that hardly ever ask only connect: no rate of answers can tell whether the service is back.
TEST(Reconnect, SayWhereToLookWhereNobodyAsks) {
  const Recovery recovery =
      Simulation(make_scenario(herd_options({}), 1), {}).run().summary.recovery;
  EXPECT_EQ(recovery.verdict, Verdict::kUndecided);
  EXPECT_TRUE(says(recovery.causes, "see-reconnect"));
}

// 1,000 clients and 200 connects a second: 400 are answered within the timeout of 2 s. Those that
// come too late come again, and the service is busy with what nobody waits for. Over 5 s there is no
// queue. Exponential waits make the window longer by themselves, until fewer come than are served.
TEST(Reconnect, OfAHerdHoldsTheServiceDownUnlessItIsSpread) {
  std::string herd(
      "clients = 1000\nworkers = 20\ntimeout = 2s\nlambda = 10s\nobserve = 180s\n"
      "reconnect-base = 100ms\nstrategy = none\n");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(run_herd(herd, seed).all_back, std::nullopt);
    EXPECT_LT(all_back(run_herd(herd + "reconnect-base = 10s\n", seed)), 12);
    EXPECT_LT(all_back(run_herd(herd + "reconnect-growth = exponential\n", seed)), 180);
  }
}

TEST(Reconnect, IsForClientsThatKeepAConnection) {
  const auto unused = [](const std::string& more) {
    return text_of(unused_options(herd_options(more)));
  };
  test::expect_refusals(
      unused, {{"", ""},
               {"outage = drop\nreconnect-calls = 2\n",
                "reconnect-calls has no effect without --outage=reconnect\n"
                "reconnect-growth has no effect without --outage=reconnect\n"},
               {"arrivals = open\n", "outage reconnect has no effect without --arrivals=closed"},
               {"reconnect-factor = 3\n",
                "reconnect-factor has no effect without --reconnect-growth=exponential"},
               {"outage-for = 0s\n", "reconnect-growth has no effect without --outage=reconnect"}});
}

}  // namespace
}  // namespace retrystorm
