#include "explorer/engine/engine.h"

#include "tests/support/given.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using ::testing::Ge;
using ::testing::Gt;

// As patiently as a busy machine, or a sanitizer, needs.
Json asked(Json question) {
  question.emplace("patience_s", 600);
  return Json::parse(answer(question.dump()));
}

// A run of a few milliseconds.
const Json kSmall(test::given("clients=50, limit=2, outage-at=10s, outage-for=5s, observe=15s"));

std::vector<Json> objects(const std::string& lines) {
  std::vector<Json> all;
  for (std::size_t from = 0; from < lines.size();) {
    const std::size_t end = lines.find('\n', from);
    all.push_back(Json::parse(lines.substr(from, end - from)));
    from = end + 1;
  }
  return all;
}

TEST(Engine, AnswersBadQuestionsWithASentence) {
  const auto error = [](std::string_view question) {
    const Json answered = Json::parse(answer(question));
    EXPECT_EQ(answered.size(), 1) << question;
    return answered.value("error", "");
  };
  EXPECT_FALSE(error("").empty());
  EXPECT_FALSE(error("{").empty());
  EXPECT_FALSE(error("[]").empty());
  EXPECT_FALSE(error("null").empty());
  EXPECT_FALSE(error("\xff\xfe").empty());
  EXPECT_FALSE(error("{}").empty());
  EXPECT_FALSE(error(R"({"ask": 5})").empty());
  EXPECT_EQ(error(R"({"ask": "why"})"), "'why' is no question");
  for (const char* what : {"describe", "run", "lines", "batch", "waits"}) {
    const std::string ask = std::string(R"({"ask": ")") + what + '"';
    EXPECT_FALSE(error(ask + "}").empty()) << what;
    EXPECT_FALSE(error(ask + R"(, "given": []})").empty()) << what;
    EXPECT_EQ(error(ask + R"(, "given": {"clients": 5}, "seeds": [1]})"), "clients is no text");
    EXPECT_FALSE(error(ask + R"(, "given": {}, "seed": "x", "seeds": ["x"]})").empty()) << what;
  }
  for (const char* what : {"run", "lines", "batch", "waits"}) {
    EXPECT_EQ(error(std::string(R"({"ask": ")") + what +
                    R"(", "given": {"clients": "0"}, "seeds": [1]})"),
              "clients: '0' is not a whole number from 1 to 1000000000");
  }
  EXPECT_FALSE(error(R"({"ask": "summarize"})").empty());
  EXPECT_FALSE(error(R"({"ask": "summarize", "results": [{}]})").empty());
}

TEST(Engine, HasTheIntervalOfAShare) {
  // By Wilson's formula, with z = 1.95996.
  const Json interval = asked({{"ask", "share"}, {"hits", 1}, {"runs", 3}});
  EXPECT_NEAR(interval["low"], 0.06149, 1e-5);
  EXPECT_NEAR(interval["high"], 0.79234, 1e-5);
  EXPECT_EQ(asked({{"ask", "share"}, {"hits", 4}, {"runs", 3}})["error"],
            "there are more hits than runs");
}

// 800/s is what 64 workers of 80 ms can do, and 800/s are sent once all requests are retried. From 736 waiting on, answers take
// longer than 1 s: a backlog of 256 is worked off, and one of 4096 never.
TEST(Engine, TriesWhatAnAnswerHangsOn) {
  const Json given(
      test::given("service=workers, workers=64, service-time=80ms, arrivals=open, rate=400, "
                  "timeout=1s, max-attempts=2, outage-for=30s"));
  const auto tried = [](const Json& options) {
    const Json batch = asked({{"ask", "batch"}, {"given", options}, {"seeds", {1, 2, 3}}});
    return asked({{"ask", "trials"},
                  {"given", options},
                  {"seed", 1},
                  {"results", batch.at("results")},
                  {"runs", 3}});
  };
  const Json hangs = tried(given);
  EXPECT_EQ(hangs.at("any"), true);
  EXPECT_EQ(hangs.at("hangs"), true);
  EXPECT_FALSE(hangs.at("lines").empty());
  // The experiment's small service is far from the edge, whatever is tried.
  Json known = kSmall;
  known["backlog"] = "256";
  known["timeout"] = "1s";
  EXPECT_EQ(tried(known).at("hangs"), false);
}

TEST(Engine, RefusesRunsThatAreTooLarge) {
  const auto error = [](const Json& given) {
    return asked({{"ask", "run"}, {"given", given}}).value("error", "");
  };
  EXPECT_THAT(error({{"clients", "1000000000"}}), HasSubstr("GB of memory"));
  EXPECT_THAT(error({{"observe", "1000000h"}}), HasSubstr("the run is too long"));
}

TEST(Engine, AbandonsRunsThatTakeTooLong) {
  for (const char* what : {"run", "lines", "batch"}) {
    const Json answered = asked(
        {{"ask", what}, {"given", {{"observe", "5000h"}}}, {"seeds", {1}}, {"patience_s", 0.02}});
    EXPECT_THAT(answered.value("error", ""), HasSubstr("this takes longer than 20ms here")) << what;
  }
}

TEST(Engine, ReportsARunAsTheSimulatorDoes) {
  const Json run = asked({{"ask", "run"}, {"given", kSmall}, {"seed", 3}});
  ASSERT_TRUE(run.contains("client")) << run;
  EXPECT_THAT(run["events"].get<std::size_t>(), Gt(100));
  EXPECT_EQ(run["result"]["peak_concurrency"], run["peak_concurrency"]);
  // An interval a second, and the summary.
  std::size_t intervals = 0;
  for (const Json& object : run["client"]) intervals += object["type"] == "interval" ? 1 : 0;
  EXPECT_EQ(intervals, 30);
  EXPECT_EQ(run["client"].back()["type"], "summary");
  EXPECT_EQ(run["server"].size(), 25);  // it reports nothing while it is frozen
}

TEST(Engine, MakesIntervalsLongerIfTheRunIsLong) {
  Json given = kSmall;
  given["observe"] = "1185s";  // 1200 s in all
  const Json run = asked({{"ask", "run"}, {"given", given}});
  std::size_t intervals = 0;
  for (const Json& object : run["client"]) intervals += object["type"] == "interval" ? 1 : 0;
  EXPECT_EQ(intervals, 400);
  Json job(test::given("arrivals=job, tasks=20, calls=10"));
  const Json of_job = asked({{"ask", "run"}, {"given", job}});
  ASSERT_TRUE(of_job.contains("server")) << of_job;
  EXPECT_LE(of_job["server"].size(), 401);
  EXPECT_EQ(of_job["client"].back()["type"], "summary");
  // The intervals of all seeds are as long as those of the first.
  const Json jobs = asked(
      {{"ask", "batch"}, {"given", job}, {"seeds", {1, 2}}, {"interval_s", of_job["interval_s"]}});
  EXPECT_EQ(jobs["t"][0], of_job["interval_s"]);
  EXPECT_EQ(asked({{"ask", "batch"}, {"given", job}, {"seeds", {1}}, {"interval_s", 0}})["error"],
            "interval_s is no interval of a run");
}

TEST(Engine, HasTheSameResultForEveryKindOfQuestion) {
  const Json run = asked({{"ask", "run"}, {"given", kSmall}, {"seed", 2}});
  const Json batch = asked({{"ask", "batch"}, {"given", kSmall}, {"seeds", {1, 2}}});
  const Json with_series = asked(
      {{"ask", "batch"}, {"given", kSmall}, {"seeds", {2}}, {"interval_s", run["interval_s"]}});
  EXPECT_EQ(run["result"], batch["results"][1]);
  EXPECT_EQ(run["result"], with_series["results"][0]);
  EXPECT_NE(batch["results"][0], batch["results"][1]);
  EXPECT_FALSE(batch.contains("series"));
  // The series are the numbers of the run's intervals.
  const Json& series = with_series["series"];
  ASSERT_EQ(with_series["t"].size(), 30);
  std::size_t i = 0;
  for (const Json& object : run["client"]) {
    if (object["type"] != "interval") continue;
    EXPECT_EQ(with_series["t"][i], object["t"]);
    EXPECT_EQ(series["errors"][0][i], object["errors"]) << object;
    ++i;
  }
  // The server's are also placed by their times: null while it is frozen.
  for (std::size_t at = 0; at < 30; ++at) {
    EXPECT_EQ(series["concurrency"][0][at].is_null(), at >= 10 && at < 15) << at;
  }
}

TEST(Engine, GivesTheLinesOfTheSameRun) {
  const Json lines = asked({{"ask", "lines"}, {"given", kSmall}, {"seed", 3}});
  const auto client = objects(lines["client"]), server = objects(lines["server"]);
  // Intervals of five seconds and of one, as the command line has them.
  EXPECT_EQ(server.size(), 25);
  const Json run = asked({{"ask", "run"}, {"given", kSmall}, {"seed", 3}});
  EXPECT_EQ(client.back(), run["client"].back());
  EXPECT_EQ(Json(server), run["server"]);
  EXPECT_NE(lines, asked({{"ask", "lines"}, {"given", kSmall}, {"seed", 4}}));
}

// Five clients without a pause or a timeout, and a service that never wakes behind one that holds a worker for each of
// their requests. Its accept queue of 2 takes one connection more than it says.
const Json kHeld(
    test::given("chain=front 10x1ms > back 10x1ms, clients=5, lambda=0s, timeout=none, backlog=2, "
                "outage-at=10s, outage-for=20s, observe=0s"));

TEST(Engine, SaysWhereRequestsLieAlsoWhileAServiceIsFrozen) {
  const Json run = asked({{"ask", "run"}, {"given", kHeld}});
  ASSERT_TRUE(run.contains("places")) << run;
  const Json &times = run["places"]["t"], &services = run["places"]["services"];
  ASSERT_EQ(times.size(), 30);
  ASSERT_EQ(services.size(), 2);
  std::map<std::string, std::size_t> front, back;
  for (const auto& [name, values] : services[0].items()) front[name] = values[28];
  for (const auto& [name, values] : services[1].items()) back[name] = values[28];
  using Places = std::map<std::string, std::size_t>;
  EXPECT_EQ(front, (Places{{"at_caller", 0},
                           {"accept_queue", 0},
                           {"accept_queue_stale", 0},
                           {"buffers", 0},
                           {"buffers_stale", 0},
                           {"service", 5},
                           {"service_stale", 0}}));
  // Those of the last millisecond before it froze are in it.
  const std::size_t inside = back["service"];
  EXPECT_EQ(back["accept_queue"], std::min<std::size_t>(3, 5 - inside));
  EXPECT_EQ(back["at_caller"], 5 - inside - back["accept_queue"]);
  EXPECT_EQ(back["service_stale"] + back["accept_queue_stale"], 0);
}

TEST(Engine, HasTheWindowsOfServicesBehindServices) {
  const Json run = asked({{"ask", "run"}, {"given", kHeld}});
  const Json& graph = run["graph"];
  ASSERT_EQ(graph["nodes"].size(), 2) << graph;
  EXPECT_EQ(graph["nodes"][0]["name"], "front");
  EXPECT_EQ(graph["edges"][0]["from"], "clients");
  EXPECT_EQ(graph["edges"][1]["from"], "front");
  EXPECT_EQ(graph["edges"][1]["to"], "back");
  ASSERT_EQ(graph["windows"].size(), 6);
  EXPECT_EQ(graph["windows"][4]["t"], 25);
  // Held, each by a request of a client.
  EXPECT_EQ(graph["windows"][4]["nodes"][0]["calling"], 5);
  EXPECT_EQ(graph["windows"][4]["nodes"][0]["busy"], 0);
  EXPECT_EQ(graph["windows"][4]["nodes"][0]["workers"], 10);
  // Before: a call for each request.
  EXPECT_NEAR(graph["windows"][0]["edges"][1]["amplification"].get<double>(), 1, 0.001);
  EXPECT_TRUE(asked({{"ask", "run"}, {"given", kSmall}})["graph"].is_null());
}

// One of these hosts fails, and is ejected; another one starts again.
const Json kHosts(
    test::given("workers=10, service-time=100ms, arrivals=open, rate=150, eject=5:30s:0.5, "
                "outage=errors:1, outage-replicas=1, outage-at=10s, outage-for=10s, host-start=7s, "
                "at=17s restart host 3, observe=5s"));

Json with_hosts(const char* replicas) {
  Json given = kHosts;
  given["replicas"] = replicas;
  return given;
}

TEST(Engine, HasBoxesOfHostsThatAgreeWithTheirLines) {
  const Json hosts = asked({{"ask", "run"}, {"given", with_hosts("3")}})["hosts"];
  ASSERT_EQ(hosts["t"].size(), 25) << hosts;
  EXPECT_EQ(hosts["each"], 1);
  std::set<std::pair<std::string, double>> seen;
  std::size_t compared = 0;
  const Json lines = asked({{"ask", "lines"}, {"given", with_hosts("3")}});
  for (const Json& line : objects(lines["client"])) {
    if (line["type"] != "host") continue;
    const auto at = static_cast<std::size_t>(std::lround(line["t"].get<double>())) - 1;
    const std::size_t host = line["host"].get<std::size_t>() - 1;
    ASSERT_EQ(hosts["t"][at], line["t"]);
    const Json& box = hosts["boxes"][at][host];
    EXPECT_THAT(box, ElementsAre(line["state"], line["out"], line["busy"], Gt(0),
                                 line["concurrency"], Ge(0), Ge(0)));
    // A line is of five seconds, a box of one.
    std::size_t attempts = 0, failed = 0;
    for (std::size_t i = at - 4; i <= at; ++i) {
      attempts += hosts["boxes"][i][host][5].get<std::size_t>();
      failed += hosts["boxes"][i][host][6].get<std::size_t>();
    }
    EXPECT_EQ(attempts, line["attempts"]);
    EXPECT_EQ(failed, line["failed"]);
    seen.emplace(line["state"], line["out"]);
    ++compared;
  }
  EXPECT_EQ(compared, 5 * 3);
  EXPECT_THAT(seen, ElementsAre(Pair("starting", 0), Pair("up", 0), Pair("up", 1)));
  EXPECT_TRUE(asked({{"ask", "run"}, {"given", kSmall}})["hosts"].is_null());
}

TEST(Engine, HasABoxForSomeHostsIfThereAreTooMany) {
  const Json hosts = asked({{"ask", "run"}, {"given", with_hosts("600")}})["hosts"];
  EXPECT_EQ(hosts["all"], 600);
  EXPECT_EQ(hosts["each"], 3);
  const Json& boxes = hosts["boxes"][18];
  ASSERT_EQ(boxes.size(), 200);
  // The first three: all of their workers, and the worst state, which is that of the third.
  EXPECT_EQ(boxes[0][0], "starting");
  EXPECT_EQ(boxes[1][0], "up");
  EXPECT_EQ(boxes[0][3], 30);
}

TEST(Engine, RunsServicesWithOptionsOfTheirOwnLikeTheSameChain) {
  const Json chain = asked({{"ask", "run"}, {"given", kHeld}});
  Json given = kHeld;
  given.erase("chain");
  given.update(Json(
      test::given("front.workers=10, front.service-time=1ms, front.calls=back, back.workers=10, "
                  "back.service-time=1ms")));
  const Json sections = asked({{"ask", "run"}, {"given", given}});
  EXPECT_EQ(sections["client"], chain["client"]);
  EXPECT_EQ(sections["graph"], chain["graph"]);
  // No request is ever answered, so all are in the second one.
  given["back.service-time"] = "1h";
  const Json stuck = asked({{"ask", "run"}, {"given", given}});
  EXPECT_EQ(stuck["places"]["services"][1]["service"][28], 5);
  given["back.workers"] = "0";
  EXPECT_EQ(asked({{"ask", "run"}, {"given", given}})["error"],
            "back.workers: '0' is not a whole number from 1 to 1000000000");
}

TEST(Engine, HasClientsOfSeveralKinds) {
  const Json given(
      test::given("api.workers=2, clients.app.rate=30, clients.app.arrivals=open, "
                  "clients.job.clients=1, outage-for=0s, observe=10s"));
  const Json described = asked({{"ask", "describe"}, {"given", given}});
  EXPECT_EQ(described["services"]["kinds"], (Json{"app", "job"}));
  EXPECT_EQ(described["values"]["clients.app.rate"], "30");
  const Json result = asked({{"ask", "run"}, {"given", given}})["result"];
  ASSERT_EQ(result["clients"].size(), 2);
  EXPECT_EQ(result["clients"][0][0], "app");
  const Json cell = asked({{"ask", "summarize"}, {"results", {result}}})["cell"];
  EXPECT_EQ(cell["clients"], result["clients"]);
}

TEST(Engine, CountsWhichServiceDiesFirst) {
  const Json given(test::given(
      "chain=api 4x5ms > db 8x40ms, arrivals=open, rate=150, timeout=1s, outage-at=10s, "
      "outage-for=10s, observe=30s"));
  const Json results = asked({{"ask", "batch"}, {"given", given}, {"seeds", {1, 2}}})["results"];
  ASSERT_EQ(results.size(), 2);
  // 4 workers that are held for 45 ms each do 89/s of the 150/s, so nothing gets better: the first one dies, if any.
  const Json cell = asked({{"ask", "summarize"}, {"results", results}})["cell"];
  EXPECT_EQ(cell.contains("died_first"),
            results[0]["died_first"] != "" || results[1]["died_first"] != "");
  EXPECT_EQ(read_result(results[0]).died_first, results[0]["died_first"].get<std::string>());
}

TEST(Engine, ReadsASeedAsTextToo) {
  const auto run = [](const Json& seed) {
    return asked({{"ask", "run"}, {"given", kSmall}, {"seed", seed}});
  };
  EXPECT_EQ(run("3"), run(3));
  // They differ by one, and are the same number in 53 bits.
  EXPECT_EQ(run("18446744073709551615"), run(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_NE(run("18446744073709551615"), run("18446744073709551614"));
  const Json batch = asked({{"ask", "batch"}, {"given", kSmall}, {"seeds", {"3"}}});
  EXPECT_EQ(batch["results"][0], run(3)["result"]);
}

TEST(Engine, HasTheWaitsOfClientsWhoseAttemptsFail) {
  const Json fixed = asked({{"ask", "waits"},
                            {"given", {{"strategy", "fixed"}, {"backoff-base", "250ms"}}},
                            {"clients", 2},
                            {"attempts", 3}});
  EXPECT_EQ(
      fixed["clients"].dump(),
      R"([{"waits":[0.25,0.25,0.25],"gave_up":false},{"waits":[0.25,0.25,0.25],"gave_up":false}])");
  const Json few = asked({{"ask", "waits"},
                          {"given", {{"growth", "exponential"}, {"max-retries", "2"}}},
                          {"clients", 1}});
  EXPECT_EQ(few["clients"].dump(), R"([{"waits":[0.1,0.2],"gave_up":true}])");
  EXPECT_EQ(asked({{"ask", "waits"}, {"given", Json::object()}})["clients"].size(), 5);
}

RunResult a_result(Verdict verdict, double success_share, double amplification) {
  RunResult result;
  result.verdict = verdict;
  result.success_share = success_share;
  result.amplification = amplification;
  return result;
}

// Values that no result has of itself.
struct Change {
  void operator()(bool& value) const { value = true; }
  void operator()(double& value) const { value += 1.0 / 3; }
  void operator()(std::size_t& value) const { value += 7; }
  void operator()(std::string& value) const { value = "a \"name\""; }
  void operator()(Duration& value) const { value = 123456789ns; }
  void operator()(TimeBound& value) const { value = {.time = 1ns, .or_more = true}; }
  void operator()(RetryOn& value) const { value = parse_retry_on("5xx-503+429+hinted+timeout"); }
  void operator()(std::vector<double>& value) const { value = {0, 1.0 / 7}; }
  void operator()(std::vector<ClientsFigures>& value) const { value = {{"app", 1.0 / 3, 2}}; }
  void operator()(Verdict& value) const { value = Verdict::kRelapsed; }
  template <typename Value>
  void operator()(std::optional<Value>& value) const {
    (*this)(value.emplace());
  }
};

// With a figure that a run has now and had not when this was written, it does not compile: add its row.
TEST(Results, HaveARowForEveryFigure) {
  RunResult result;
  [[maybe_unused]] auto& [a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16,
                          a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31,
                          a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, phases] = result;
  EXPECT_EQ(figure_rows().size(), 42);
  [[maybe_unused]] auto& [p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11] = phases[0];
  EXPECT_EQ(phase_rows().size(), 11);
}

// 300/s of 200/s: a third waits at the end, and nobody knows how that ends, for clients wait for 60 s.
TEST(Engine, LeavesTheDoubtInTheIntervalOfTheSuccess) {
  const Json given(
      test::given("service=workers, workers=10, service-time=50ms, arrivals=open, rate=300, "
                  "timeout=60s, strategy=none, outage-for=0s, observe=30s"));
  const Json results = asked({{"ask", "batch"}, {"given", given}, {"seeds", {1, 2, 3}}})["results"];
  const Json cell = asked({{"ask", "summarize"}, {"results", results}})["cell"];
  EXPECT_EQ(cell["success_share"], 1);
  EXPECT_NEAR(cell["success_share_low"].get<double>(), 2.0 / 3, 0.03);
}

// Each figure by itself, to the page and back.
TEST(Results, ReadBackAsTheyWereWritten) {
  std::vector<std::string> names;
  RunResult all;
  each_figure(all, [&names](const std::string& name, const auto&) { names.push_back(name); });
  for (const std::string& name : names) {
    RunResult result;
    const auto change_it = [&name](const std::string& each, auto& value) {
      if (each == name) Change()(value);
    };
    each_figure(result, change_it);
    each_figure(all, change_it);
    EXPECT_NE(result, RunResult()) << name;
    EXPECT_EQ(read_result(Json::parse(result_json(result).dump())), result) << name;
  }
  const Json json = result_json(all);
  EXPECT_EQ(read_result(Json::parse(json.dump())), all);
  for (const auto& [name, value] : json.items()) {
    Json without = json;
    without.erase(name);
    EXPECT_ANY_THROW(read_result(without)) << name;
  }
  Json unknown = json;
  unknown["verdict"] = "fine";
  EXPECT_ANY_THROW(read_result(unknown));
  for (const Verdict each : {Verdict::kNoOutage, Verdict::kUndecided, Verdict::kRecovered,
                             Verdict::kRelapsed, Verdict::kRecovering, Verdict::kCollapsed}) {
    EXPECT_EQ(read_result(result_json(a_result(each, 1, 1))).verdict, each);
  }
}

// By hand: differences of 0.1, 0.2 and 0.3 have the mean 0.2 and the standard deviation 0.1, and t
// of two degrees of freedom is 4.302653: 0.2 -+ 4.302653 * 0.1 / sqrt(3).
TEST(Difference, IsThatOfRunsOfTheSameSeed) {
  std::vector<RunResult> ours{a_result(Verdict::kRecovered, 0.6, 1),
                              a_result(Verdict::kRecovered, 0.7, 2),
                              a_result(Verdict::kCollapsed, 0.8, 3)};
  std::vector<RunResult> theirs{a_result(Verdict::kCollapsed, 0.5, 2),
                                a_result(Verdict::kRecovered, 0.5, 3),
                                a_result(Verdict::kCollapsed, 0.5, 4)};
  ours[0].time_to_recovery = 10s;
  ours[1].time_to_recovery = 20s;
  theirs[1].time_to_recovery = 50s;
  const Json difference = difference_json(ours, theirs);
  EXPECT_NEAR(difference["success_share"]["value"], 0.2, 1e-12);
  EXPECT_NEAR(difference["success_share"]["low"], 0.2 - 4.302653 * 0.1 / std::sqrt(3), 1e-6);
  EXPECT_NEAR(difference["success_share"]["high"], 0.2 + 4.302653 * 0.1 / std::sqrt(3), 1e-6);
  EXPECT_EQ(difference["success_share"]["pairs"], 3);
  // All are the same: no spread.
  EXPECT_EQ(difference["amplification"]["value"], -1);
  EXPECT_EQ(difference["amplification"]["low"], -1);
  // Both came back in one pair only: no interval.
  EXPECT_EQ(difference["recovery_s"]["value"], -30);
  EXPECT_TRUE(difference["recovery_s"]["low"].is_null());
  EXPECT_EQ(difference["recovery_s"]["pairs"], 1);
  EXPECT_TRUE(difference["makespan_s"].is_null());
  EXPECT_EQ(difference["ok_lost"]["value"], 0);
  // 1 of 3 and 2 of 3: Wilson's are 0.0615 to 0.7923 and 0.2077 to 0.9385.
  EXPECT_NEAR(difference["down"]["value"], -1.0 / 3, 1e-12);
  EXPECT_NEAR(difference["down"]["low"],
              -1.0 / 3 - std::hypot(1.0 / 3 - 0.06149, 0.93851 - 2.0 / 3), 1e-4);
  EXPECT_NEAR(difference["down"]["high"],
              -1.0 / 3 + std::hypot(0.79234 - 1.0 / 3, 2.0 / 3 - 0.20766), 1e-4);
}

// A relapse is as bad as a collapse, and a run without a verdict does not count.
TEST(Difference, IsThatOfTheSharesDownAtTheEnd) {
  const auto down = [](std::initializer_list<Verdict> ours, std::initializer_list<Verdict> theirs) {
    std::vector<RunResult> a, b;
    for (const Verdict each : ours) a.push_back(a_result(each, 0.5, 1));
    for (const Verdict each : theirs) b.push_back(a_result(each, 0.5, 1));
    return difference_json(a, b)["down"];
  };
  using enum Verdict;
  EXPECT_EQ(down({kRelapsed, kCollapsed}, {kRecovering, kRecovered})["value"], 1);
  EXPECT_EQ(down({kRelapsed, kUndecided}, {kRecovered, kRecovered})["value"], 1);
  EXPECT_TRUE(down({kUndecided}, {kCollapsed}).is_null());
  EXPECT_EQ(down({kCollapsed}, {kNoOutage})["value"], 1);
}

TEST(Difference, NeedsTheSameNumberOfBoth) {
  const std::vector<RunResult> one(1), two(2);
  EXPECT_THROW(difference_json(one, two), std::invalid_argument);
  EXPECT_THROW(difference_json({}, {}), std::invalid_argument);
}

TEST(Engine, SummarizesResultsAsARowOfASweep) {
  const Json results =
      asked({{"ask", "batch"}, {"given", kSmall}, {"seeds", {1, 2, 3}}})["results"];
  const Json sum = asked({{"ask", "summarize"}, {"results", results}, {"against", results}});
  EXPECT_EQ(sum["cell"]["runs"], 3);
  EXPECT_EQ(sum["difference"]["success_share"]["value"], 0);
  EXPECT_EQ(sum["difference"]["down"]["value"], 0);
  EXPECT_EQ(asked({{"ask", "summarize"}, {"results", results}}).size(), 1);
  EXPECT_THAT(asked({{"ask", "summarize"}, {"results", results}, {"against", Json::array()}})
                  .value("error", ""),
              HasSubstr("of the same seeds"));
}

}  // namespace
}  // namespace retrystorm
