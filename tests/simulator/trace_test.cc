// Traces of requests in a simulated run.

#include "common/output/json_lines.h"
#include "common/output/json_report.h"
#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

Scenario traced(const std::string& settings, std::size_t trace) {
  ScenarioOptions options;
  options.trace = trace;
  OptionList list;
  declare_options(list, options);
  list.apply(settings);
  return make_scenario(options, 1);
}

struct Requests final : RunObserver {
  std::vector<TracedRequest> all;
  void on_request(const TracedRequest& request) override { all.push_back(request); }
};

// The lines of a run's trace, as in the file.
std::vector<std::string> trace_lines(const Scenario& scenario) {
  const test::TempDir dir;
  {
    JsonLines json(dir.file("json"));
    JsonReport report(json.sink());
    Simulation(scenario, {.run = {&report}}).run();
  }
  std::vector<std::string> lines = test::lines(test::read_file(dir.file("json")));
  std::erase_if(lines, [](const std::string& line) {
    return !line.starts_with(R"({"type":"attempt")") && !line.starts_with(R"({"type":"request")");
  });
  return lines;
}

// Three clients without think time send at once to a server that is frozen for the first 3 s. Its kernel
// has room for two. The third one's SYN is repeated after 1.01 s. At 2.02 s its client has given up. At
// 2.5 s there is no room for any of the three. At 3.51 s the server is awake and idle.
constexpr const char* kThreeTries =
    "clients = 3\nlambda = 0s\ntimeout = 2s\nstrategy = fixed\nfixed-delay = 500ms\nbacklog = 1\n"
    "outage-at = 0s\noutage-for = 3s\nobserve = 1s\n";

TEST(Trace, RecordsEachAttemptToTheMicrosecond) {
  const std::string in_vain =
      R"("outcome":"timed_out","status":null,"reason":null,"latency_s":2.0,"connect_s":0.0,"queue_s":3.0,"service_s":0.1,"late_s":1.1,"wait_s":0.5})";
  const std::string no_room =
      R"("outcome":"timed_out","status":null,"reason":null,"latency_s":2.0,"connect_s":null,"queue_s":null,"service_s":null,"late_s":null,"wait_s":0.5})";
  const std::string ok =
      R"("outcome":"ok","status":null,"reason":null,"latency_s":1.11,"connect_s":1.01,"queue_s":0.0,"service_s":0.1,"late_s":null,"wait_s":null})";
  const std::string over =
      R"("outcome":"ok","reason":null,"time_s":3.61,"attempts":2,"not_sent":0})";
  EXPECT_THAT(
      trace_lines(traced(kThreeTries, 3)),
      ElementsAre(R"({"type":"attempt","t":0.0,"request":1,"attempt":1,"client":0,)" + in_vain,
                  R"({"type":"attempt","t":2.5,"request":1,"attempt":2,"client":0,)" + ok,
                  R"({"type":"request","t":0.0,"request":1,"client":0,)" + over,
                  R"({"type":"attempt","t":0.0,"request":2,"attempt":1,"client":1,)" + in_vain,
                  R"({"type":"attempt","t":2.5,"request":2,"attempt":2,"client":1,)" + ok,
                  R"({"type":"request","t":0.0,"request":2,"client":1,)" + over,
                  R"({"type":"attempt","t":0.0,"request":3,"attempt":1,"client":2,)" + no_room,
                  R"({"type":"attempt","t":2.5,"request":3,"attempt":2,"client":2,)" + ok,
                  R"({"type":"request","t":0.0,"request":3,"client":2,)" + over));
}

TEST(Trace, ShowsRequestsThatTheServerDoesNotServe) {
  Requests skipped, cancelled;
  const std::string settings = kThreeTries;
  Simulation(traced(settings + "abandoned = skip\n", 1), {.run = {&skipped}}).run();
  Simulation(traced(settings + "abandoned = cancel\n", 1), {.run = {&cancelled}}).run();
  for (const Requests& each : {skipped, cancelled}) {
    ASSERT_EQ(each.all.size(), 1u);
    const TracedAttempt& attempt = each.all[0].attempts.at(0);
    EXPECT_EQ(attempt.queue, 3s);
    EXPECT_EQ(attempt.service, 0s);
    EXPECT_EQ(attempt.late, std::nullopt);
  }
}

TEST(Trace, ShowsRequestsThatTheEndOfTheRunCutsOff) {
  // At 2.2 s all attempts have been given up once, and the clients wait. The server wakes at that moment.
  Requests requests;
  Simulation(traced(std::string(kThreeTries) + "outage-for = 2200ms\nobserve = 0s\n", 3),
             {.run = {&requests}})
      .run();
  ASSERT_EQ(requests.all.size(), 3u);
  for (const TracedRequest& each : requests.all) {
    EXPECT_EQ(each.time, std::nullopt);
    ASSERT_EQ(each.attempts.size(), 1u);
    EXPECT_EQ(each.attempts[0].latency, 2s);
    EXPECT_EQ(each.attempts[0].wait, 500ms);
    const bool had_room = each.client < 2;
    EXPECT_EQ(each.attempts[0].queue, had_room ? std::optional<Duration>(2200ms) : std::nullopt);
    EXPECT_EQ(each.attempts[0].service, std::nullopt);
  }
}

TEST(Trace, BeginsWithTheOutage) {
  Requests requests;
  Simulation(traced("outage-at = 10s\noutage-for = 5s\nobserve = 20s\nstrategy = fixed\n", 20),
             {.run = {&requests}})
      .run();
  ASSERT_EQ(requests.all.size(), 20u);
  for (const TracedRequest& each : requests.all) {
    EXPECT_GE(each.t, 10s);
    // A thousand clients, each of which begins a request every 10.1 s: twenty in 0.2 s.
    EXPECT_LT(each.t, 11s);
    EXPECT_EQ(each.attempts.at(0).fate, AttemptFate::kTimedOut);
  }
}

TEST(Trace, BeginsWithTheRunIfThereIsNoOutage) {
  Requests requests;
  Simulation(traced("outage-for = 0s\nobserve = 5s\n", 20), {.run = {&requests}}).run();
  ASSERT_EQ(requests.all.size(), 20u);
  for (const TracedRequest& each : requests.all) {
    EXPECT_LT(each.t, 1s);
    EXPECT_EQ(each.time, 100ms);
  }
}

// A trace of every request of a run, from its beginning.
class TraceOfAll : public testing::TestWithParam<const char*> {};

void expect_whole(const TracedRequest& request) {
  Duration before = request.t;
  for (std::size_t i = 0; i < request.attempts.size(); ++i) {
    const TracedAttempt& each = request.attempts[i];
    EXPECT_GE(each.t, before);
    before = each.t + each.latency.value_or(0s) + each.wait.value_or(0s);
    const bool last = i + 1 == request.attempts.size();
    // The end of the run may have cut off the wait of the last one.
    EXPECT_TRUE(last || each.wait.has_value());
    EXPECT_EQ(each.why.has_value(), each.fate == AttemptFate::kNotSent);
    const bool answered =
        each.fate == AttemptFate::kOk || (each.fate == AttemptFate::kError && each.status > 0);
    if (answered) {
      EXPECT_EQ(each.connect.value() + each.queue.value() + each.service.value(), each.latency);
      EXPECT_FALSE(each.late.has_value());
    }
    if (each.late) {
      EXPECT_EQ(each.fate, AttemptFate::kTimedOut);
      EXPECT_GE(*each.late, 0s);
      EXPECT_EQ(each.connect.value() + each.queue.value() + each.service.value(),
                each.latency.value() + *each.late);
    }
    if (last && request.time && each.fate != AttemptFate::kNotSent) {
      EXPECT_EQ(each.t + each.latency.value(), request.t + *request.time);
    }
  }
}

// (OptionPairs has the sums of the other counts.)
TEST_P(TraceOfAll, AddsUpToTheCounts) {
  const std::string settings =
      std::string("outage-at = 0s\noutage-for = 6s\nobserve = 30s\n") + GetParam();
  Requests requests;
  const Counts whole =
      Simulation(traced(settings, 1'000'000), {.run = {&requests}}).run().summary.counts;
  Counts counts;
  std::uint64_t under_way = 0;
  for (const TracedRequest& each : requests.all) {
    expect_whole(each);
    if (each.gave_up) counts.give_up(*each.gave_up);
    for (const TracedAttempt& attempt : each.attempts) {
      if (attempt.fate == AttemptFate::kUnderWay) ++under_way;
      if (attempt.why == GiveUp::kGate) ++counts.not_sent;
    }
  }
  EXPECT_GT(whole.requests, 900u);
  EXPECT_EQ(requests.all.size(), whole.requests);
  EXPECT_EQ(counts.not_sent, whole.not_sent);
  EXPECT_EQ(counts.gave_up_by, whole.gave_up_by);
  EXPECT_EQ(under_way, whole.attempts - whole.finished());
}

INSTANTIATE_TEST_SUITE_P(
    Runs, TraceOfAll,
    testing::Values("strategy = exponential\n", "strategy = fixed\noutage-for = 12s\n",
                    "strategy = responsive\nbacklog = 5\ntimeout = 4s\n",
                    "strategy = fixed\nabandoned = cancel\n",
                    "strategy = fixed\nabandoned = skip\n",
                    "strategy = fixed\ndeadline = 5s\ndeadline-check = at-end\n",
                    "strategy = fixed\nmax-retries = 3\nerror-share = 0.2\nerror-after = service\n",
                    "strategy = go-retryablehttp\nshed-above = 20\n",
                    "strategy = resilience4j\nbreaker-open-for = 5s\nerror-share = 0.6\n",
                    "strategy = aws-adaptive\nrate-limit = 50\n",
                    "arrivals = open\nrate = 200\nstrategy = fixed\nmax-retries = 4\n"));

}  // namespace
}  // namespace retrystorm
