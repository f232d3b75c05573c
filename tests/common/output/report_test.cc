#include "common/output/report.h"

#include <ctime>

#include "common/output/answer.h"
#include "common/output/json_lines.h"
#include "common/output/line_report.h"
#include "common/output/output_queue.h"
#include "tests/support/facts.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// Sets the process's time zone during a test.
class TimeZone {
 public:
  explicit TimeZone(const char* name) { set(name); }
  ~TimeZone() { set("UTC"); }

 private:
  static void set(const char* name) {
    setenv("TZ", name, 1);
    tzset();
  }
};

constexpr std::chrono::system_clock::time_point kJune{1719007987492ms};  // 2024-06-21 22:13:07 UTC

TEST(ClientLine, IsThatOfTheOriginal) {
  EXPECT_EQ(client_line({.ok = 98}),
            "OK: 98.00 req/sec, errors: 0.00 req/sec, timedout: 0.00 req/sec");
  EXPECT_EQ(client_line({.ok = 0.2, .errors = 12.345, .timed_out = 476.2}),
            "OK: 0.20 req/sec, errors: 12.35 req/sec, timedout: 476.20 req/sec");
}

TEST(ServerLine, IsThatOfTheOriginal) {
  EXPECT_EQ(server_line("Jun 21 22:13:07.492", {.concurrency = 1040, .last_delay = 2671444385ns}),
            "Jun 21 22:13:07.492: concurrency: 1040, last delay: 2.671444385s");
  EXPECT_EQ(server_line("Jun 21 22:13:07.492", {.concurrency = 9, .last_delay = 100ms}),
            "Jun 21 22:13:07.492: concurrency:    9, last delay: 100ms");
  EXPECT_EQ(server_line("Jun 21 22:13:07.492", {.concurrency = 19000, .last_delay = 0s}),
            "Jun 21 22:13:07.492: concurrency: 19000, last delay: 0s");
}

TEST(TimeStamp, IsGosStampMilliInLocalTime) {
  const TimeZone utc("UTC");
  EXPECT_EQ(time_stamp(kJune), "Jun 21 22:13:07.492");
  // 2024-12-03 04:05:06.007: the day padded with a space, the rest with zeros.
  EXPECT_EQ(time_stamp(std::chrono::system_clock::time_point(1733198706007ms)),
            "Dec  3 04:05:06.007");
  const TimeZone east("XYZ-2");  // two hours east, in POSIX's notation
  EXPECT_EQ(time_stamp(kJune), "Jun 22 00:13:07.492");
}

TEST(ClientIntervalJson, HasItsFieldsInOrder) {
  const RunInterval interval{
      .t = 5s,
      .rates = {.ok = 98,
                .errors = 0.5,
                .timed_out = 1.25,
                .attempts = 98.2004,
                .retries = 2,
                .requests = 96.5,
                .gave_up_by = {0.1, 0, 0.2},
                .errors_by = {0, 0, 0.25, 0, 0, 0, 0, 0, 0, 0, 0.125}},
      .clients = {.thinking = 30, .in_flight = 9, .waiting_to_retry = 2},
      .latency = {.p50 = 100ms, .p95 = 1500us, .p99 = std::nullopt},
  };
  EXPECT_EQ(
      client_interval_json(interval).dump(),
      R"({"type":"interval","t":5.0,"ok":98.0,"errors":0.5,)"
      R"("errors_by":{"429":0.25,"refused":0.125},"timed_out":1.25,)"
      R"("attempts":98.2,"retries":2.0,"requests":96.5,"gave_up":0.3,"gave_up_by":{"attempts":0.1,)"
      R"("deadline":0.0,"budget":0.2,"gate":0.0,"not_retryable":0.0},"not_sent":0.0,)"
      R"("latency_ms":{"p50":100.0,"p95":1.5,"p99":null},"thinking":30,)"
      R"("in_flight":9,"waiting_to_retry":2})");
}

TEST(OutageJson, SaysWhatHappenedWhen) {
  EXPECT_EQ(outage_json(15s, OutageEvent::kBegin, "freeze").dump(),
            R"({"type":"outage","t":15.0,"event":"stop","what":"freeze"})");
  EXPECT_EQ(outage_json(35000400us, OutageEvent::kEnd, "slow:3").dump(),
            R"({"type":"outage","t":35.0,"event":"continue","what":"slow:3"})");
  EXPECT_EQ(action_json(60s, "load 0.5").dump(), R"({"type":"action","t":60.0,"what":"load 0.5"})");
}

TEST(ServerIntervalJson, GivesRatesOfItsWindow) {
  const ServerInterval interval{.concurrency = 9,
                                .last_delay = 100ms,
                                .counts = {.offered = 56,
                                           .admitted = 50,
                                           .completed = 49,
                                           .served = 46,
                                           .failed = 2,
                                           .rejected = {3, 1, 2}},
                                .times = {.served = {.p50 = 100ms, .p95 = 101500us, .p99 = 2s}}};
  EXPECT_EQ(
      server_interval_json(1s, 500ms, interval).dump(),
      R"({"type":"interval","t":1.0,"concurrency":9,"last_delay_s":0.1,"offered":112.0,)"
      R"("admitted":100.0,"completed":98.0,"served":92.0,"failed":4.0,"lost":0.0,)"
      R"("rejected":{"rate_limited":6.0,"shed":2.0,"error":4.0,"queue_full":0.0,"dropped":0.0,"abandoned":0.0},)"
      R"("served_ms":{"p50":100.0,"p95":101.5,"p99":2000.0},)"
      R"("late_ms":{"p50":null,"p95":null,"p99":null}})");
}

TEST(ServerInterval, ShowsTheStateOfTheWorkers) {
  const ServerInterval interval{.concurrency = 173,
                                .last_delay = 870ms,
                                .workers = WorkerState{.workers = 20, .busy = 19, .waiting = 153}};
  EXPECT_EQ(server_line("now", interval), "now: busy:   19 of 20, waiting:  153, delay: 870ms");
  const auto json = server_interval_json(1s, 1s, interval);
  EXPECT_EQ(json["workers"], 20);
  EXPECT_EQ(json["busy"], 19);
  EXPECT_EQ(json["waiting"], 153);
}

TEST(ServerIntervalJson, HasWhatIsKnown) {
  EXPECT_EQ(server_interval_json(1s, 1s, {.concurrency = 173, .waited_for = 20})["waited_for"], 20);
  EXPECT_FALSE(server_interval_json(1s, 1s, {.concurrency = 173}).contains("waited_for"));
  EXPECT_EQ(server_interval_json(0s, 0s, {.counts = {.offered = 5}})["offered"], 0);
}

Summary recovered_run() {
  Summary summary;
  summary.title = "exponential retries";
  summary.clients = 1000;
  summary.seed = 7;
  summary.elapsed = 110s + 400us;
  summary.counts = {.ok = 9000,
                    .errors = 10,
                    .timed_out = 990,
                    .requests = 9500,
                    .attempts = 10450,
                    .retries = 950,
                    .gave_up_by = {2, 0, 0, 0, 1},
                    .failing = 12};
  summary.recovery.verdict = Verdict::kRecovered;
  summary.recovery.causes = {{"back-after", {{"baseline", 99.2}, {"after", Duration(10s)}}}};
  summary.recovery.baseline_ok = 99.2;
  summary.recovery.errors_gone = 5s;
  summary.recovery.time_to_half = 0s;
  summary.recovery.time_to_recovery = 10s;
  summary.recovery.peak_attempts = 476.25;
  summary.recovery.ok_lost = 2400.4;
  summary.latencies.add_ok(TimePoint{}, 93994140ns,
                           93994140ns);  // the middle of a bin of the histogram
  summary.latencies.add_given_up(TimePoint{}, 12s);
  summary.retry_metrics = {
      .invocations = 10000, .ups = 4, .downs = 2, .sleeps = 950, .total_sleep = 1234560ms};
  summary.longest_without_ok = 61234ms;
  return summary;
}

// Where each of `expected` has its value.
void expect_fields(const nlohmann::ordered_json& json, const char* expected) {
  const auto fields = nlohmann::ordered_json::parse(expected);
  for (const auto& [name, value] : fields.items()) EXPECT_EQ(json.at(name), value) << name;
}

TEST(Summary, HasFiguresBeforeDuringAndAfterTheOutage) {
  Summary summary = recovered_run();
  EXPECT_FALSE(summary_json(summary).contains("success_before"));
  summary.phases.emplace();
  (*summary.phases)[0] = {.length = 25s,
                          .counts = {.ok = 2500, .attempts = 2500},
                          .ok = 2500,
                          .request_p50 = TimeBound{.time = 100ms},
                          .request_p99 = TimeBound{.time = 101ms, .or_more = true}};
  Counts counts{.errors = 45, .timed_out = 50, .attempts = 100, .not_sent = 3};
  counts.errors_by[5] = 40;  // 503
  counts.errors_by[10] = 4;  // refused
  (*summary.phases)[1] = {
      .length = 20s, .counts = counts, .ok = 779, .gave_up = 70, .unfinished = 1};
  const std::string text = figures_text(summary, Style());
  for (const char* row : {"answered                    100 %           91.6 %",
                          "request p99                 >101 ms         -               -",
                          "errors by 503                               40"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n  ") + row));
  }
  const auto json = summary_json(summary);
  expect_fields(
      json,
      R"({"success_before": 1, "success_during": 0.91647, "success_after": null, "requests_during": 850,
    "gave_up_during": 70, "unfinished_during": 1, "not_sent_during": 3, "attempts_per_s_during": 5,
    "ok_per_s_before": 100, "timed_out_during": 50, "errors_during": 45, "errors_by_during": {"503": 40, "refused": 4},
    "request_p50_before_ms": 100, "request_p50_before_ms_high": 100, "request_p99_before_ms": 101,
    "request_p99_before_ms_high": null})");
}

TEST(Summary, CountsRequestsWithoutAThread) {
  Summary summary = recovered_run();
  EXPECT_FALSE(summary_json(summary).contains("dropped_arrivals"));
  summary.arrival_rate = 100;
  summary.arrival_lag = {.dropped_arrivals = 12, .latest_start = 1500us};
  EXPECT_EQ(test::facts(remarks_of(summary)), "run-no-thread(count=12)");
  EXPECT_EQ(summary_json(summary)["dropped_arrivals"], 12);
  EXPECT_EQ(summary_json(summary)["latest_start_ms"], 1.5);
  EXPECT_EQ(summary_json(summary)["late_starts"], 0);
}

// A machine that cannot keep up would blame the service.
TEST(Summary, WarnsOfAMachineThatDoesNotKeepUp) {
  Summary summary = recovered_run();
  summary.counts.requests = 1000;
  summary.arrival_lag = {.latest_start = 3200ms, .late_starts = 9};
  EXPECT_FALSE(says(remarks_of(summary), "run-late"));
  summary.arrival_lag->late_starts = 250;
  EXPECT_EQ(test::facts(remarks_of(summary)), "run-late(share=0.25, limit=50ms, latest=3.2s)");
  EXPECT_EQ(summary_json(summary)["late_starts"], 250);
}

TEST(Summary, SaysTheFirstErrorInWords) {
  Summary summary = recovered_run();
  EXPECT_FALSE(summary_json(summary).contains("first_error"));
  EXPECT_FALSE(says(remarks_of(summary), "run-first-error"));
  summary.first_error = "Connection refused";
  EXPECT_TRUE(says(remarks_of(summary), "run-first-error"));
  EXPECT_EQ(summary_json(summary)["first_error"], "Connection refused");
}

TEST(Summary, SaysThatNothingWasRetried) {
  Summary summary = recovered_run();
  summary.retry_metrics.not_retryable.include(answered(500, std::nullopt, 1ms));
  EXPECT_FALSE(summary_json(summary).contains("nothing_retried"));
  summary.counts.retries = 0;
  EXPECT_TRUE(says(remarks_of(summary), "remark-not-retried"));
  EXPECT_EQ(summary_json(summary)["nothing_retried"],
            (nlohmann::ordered_json{{"not_retryable", 1}, {"failures", "500"}}));
  // Without a retry, and without a failure that would have needed one.
  summary.counts.gave_up_by = {};
  EXPECT_FALSE(says(remarks_of(summary), "remark-not-retried"));
}

TEST(Summary, HasTheNumberOfProcesses) {
  Summary summary = recovered_run();
  EXPECT_FALSE(summary_json(summary).contains("processes"));
  summary.processes = 10;
  EXPECT_EQ(summary_json(summary)["processes"], 10);
  EXPECT_NEAR(summary_json(summary)["process_requests_per_s"], 9500 / 110. / 10, 1e-3);
}

TEST(Summary, CountsTheCommandsThatFailed) {
  Summary summary = recovered_run();
  EXPECT_FALSE(summary_json(summary).contains("failed_commands"));
  EXPECT_FALSE(summary_json(summary).contains("failed_orders"));
  for (const std::size_t count : {0, 2}) {
    summary.failed_orders = summary.failed_commands = count;
    EXPECT_EQ(summary_json(summary)["failed_orders"], count);
    EXPECT_EQ(summary_json(summary)["failed_commands"], count);
  }
}

TEST(SummaryJson, HasTheDocumentedFields) {
  const auto json = summary_json(recovered_run());
  expect_fields(
      json,
      R"({"type": "summary", "verdict": "recovered", "baseline_ok": 99.2, "errors_gone_s": 5.0,
    "time_to_recovery_s": 10.0, "time_to_50_percent_s": 0.0, "time_to_95_percent_s": null, "amplification": 1.1,
    "peak_attempts": 476.25, "ok_lost": 2400.4, "elapsed_s": 110.0, "ok": 9000, "errors": 10, "timed_out": 990,
    "requests": 9500, "retries": 950, "gave_up": 3, "failing": 12, "success_share": 0.99834,
    "longest_without_ok_s": 61.234, "pauses_s": 1234.56})");
  EXPECT_EQ(json["causes"][0]["id"], "back-after");
  EXPECT_EQ(json["causes"][0]["after"], 10.0);
  EXPECT_EQ(json["gave_up_by"]["attempts"], 2);
  EXPECT_EQ(json["gave_up_by"]["not_retryable"], 1);
  EXPECT_EQ(json["request_time_ms"]["max"], 12000.0);
  EXPECT_EQ(json.count("sleeper"), 0);  // there were no sleepers
  for (const char* q : {"p50", "p95", "p99", "max"}) {
    EXPECT_NEAR(json["latency_ms"][q].get<double>(), 93.994, 0.001) << q;
  }
}

TEST(SummaryJson, HasNullForMissingValues) {
  const auto json = summary_json({});
  expect_fields(
      json, R"({"verdict": "no outage", "reason": null, "baseline_ok": null, "errors_gone_s": null,
    "amplification": 1.0})");
  EXPECT_EQ(json["latency_ms"]["p50"], nullptr);
}

std::ptrdiff_t lines(bool job) {
  std::ostringstream out;
  LineReport report(out);
  for (Duration t = 5s; t <= 8000s; t += 5s) {
    RunInterval interval{.t = t};
    if (job) interval.clients.mean_pause = 1s;
    report.on_interval(interval);
  }
  const std::string text = out.str();
  return std::count(text.begin(), text.end(), '\n');
}

// A line each fifth longer: 5 up to 25 s, and at most ln(8000/25)/ln(1.2) = 31.6 after it.
TEST(LineReport, HasFewLinesOfALongJob) {
  EXPECT_EQ(lines(false), 1600);
  EXPECT_LE(lines(true), 37);
  EXPECT_GE(lines(true), 25);
}

std::string printed(const std::string& text, bool letter_by_letter) {
  std::ostringstream out;
  {
    PlainText plain(out);
    if (letter_by_letter) {
      for (const char c : text) out << c;
    } else {
      out << text << std::flush;
    }
  }
  return out.str();
}

TEST(PlainText, CommandsNobody) {
  for (const bool letters : {false, true}) {
    EXPECT_EQ(printed("a\033[2Jb\r\tc\n", letters), "a?[2Jb?\tc\n");
    EXPECT_EQ(printed("::error::x\n  ::warning::y\n", letters), ":?error::x\n  :?warning::y\n");
    EXPECT_EQ(printed("a::b\n: :\n:\n:\n", letters), "a::b\n: :\n:\n:\n");
    EXPECT_EQ(printed("a ##[error]x #[b\n", letters), "a ##?error]x #[b\n");
  }
}

TEST(PlainText, KeepsItsOwnColoursAndStrips) {
  const std::string own = "a " + painted("back", Tone::kGood, Style{.color = true});
  EXPECT_EQ(printed(own + " b\033[5m\n", false), own + " b?[5m\n");
  EXPECT_EQ(printed("99 ###[..]## 98\n", false), "99 ###[..]## 98\n");
}

TEST(PlainText, LetsThroughWhatMovesTheCursorOnPurpose) {
  std::ostringstream out;
  const PlainText plain(out);
  PlainText::write_as_it_is(out, "\r\033[K");
  EXPECT_EQ(out.str(), "\r\033[K");
}

using ::testing::MatchesRegex;

// The fields in their order, without those of the version.
nlohmann::ordered_json without_version(nlohmann::ordered_json start) {
  EXPECT_EQ(start["version"], kVersion);
  EXPECT_EQ(start.value("revision", ""), kRevision);
  start.erase("version");
  start.erase("revision");
  return start;
}

TEST(StartJson, NamesTheProgramAndEveryOption) {
  const auto start = start_json("client", "./client --seed=7", {{"clients", 1000}, {"seed", 7}});
  EXPECT_EQ(without_version(start).dump(),
            R"({"type":"start","program":"client","command":"./client --seed=7","clients":1000,)"
            R"("seed":7})");
}

TEST(StartJson, HasTheWallClockTimeIfThereIsOne) {
  const std::chrono::system_clock::time_point june(1719007987492ms);
  EXPECT_EQ(without_version(start_json("server", "./server", {{"port", 8070}}, june)).dump(),
            R"({"type":"start","program":"server","command":"./server",)"
            R"("started_at":1719007987.492,"port":8070})");
}

TEST(VersionText, HasTheVersionAndTheRevisionIfThereIsOne) {
  EXPECT_THAT(version_text(),
              MatchesRegex("retrystorm [0-9]+[.][0-9]+[.][0-9]+( [(][-0-9a-z]+[)])?"));
}

TEST(CsvComment, IsOneLineWhateverTheCommandIs) {
  EXPECT_EQ(csv_comment("simulate --at='1s\nload 2'", 7),
            "# simulate --at='1s load 2', " + version_text() + ", seed 7");
}

}  // namespace
}  // namespace retrystorm
