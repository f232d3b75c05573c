// Policies of other programs, imported and checked by the program: files, exit codes, output.
#include <sys/resource.h>
#include <sys/stat.h>

#include <ctime>

#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// A study takes some seconds of processor time.
Ended done(const char* program, const Arguments& arguments) {
  return ended(program, arguments, 4 * kPatience);
}

Ended passed(const char* program, const Arguments& arguments) {
  return succeeded(program, arguments, 4 * kPatience);
}

std::string written(const TempDir& dir, const std::string& name, const std::string& text) {
  const std::string path = dir.file(name);
  std::ofstream(path) << text;
  return path;
}

// gRPC's example in its proposal A6.
constexpr const char* kA6 = R"({"methodConfig": [{"name": [{"service": "a.B"}],
  "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s",
  "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}],
  "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}})";

// Retries that are not random.
std::string spring(int attempts, const std::string& more = "") {
  return "resilience4j.retry.instances.a.maxAttempts=" + std::to_string(attempts) +
         "\nresilience4j.retry.instances.a.waitDuration=100ms\n" + more;
}

const Arguments kCurve{"--clients=100", "--limit=5", "--k=2", "--backlog=48"};

TEST(Import, LinksToAPageThatIsAFile) {
  const TempDir dir;
  const std::string page = written(dir, "a page.html", "");
  EXPECT_THAT(done(RETRYSTORM_STUDIES, {"import", written(dir, "x", kA6), "--link=" + page}).out,
              AllOf(StartsWith("file:///"), HasSubstr("/a%20page.html#v=1&")));
}

// The cells of a check as its JSON has them, or its findings about claims, by disturbance.
std::map<std::string, nlohmann::json> cells(const std::string& out,
                                            const std::string& type = "cell") {
  std::map<std::string, nlohmann::json> all;
  for (const std::string& line : lines(out)) {
    if (!line.starts_with("{\"type\":\"" + type + '"')) continue;
    const auto json = nlohmann::json::parse(line);
    all[json["disturbance"]] = json;
  }
  return all;
}

TEST(Check, RunsThePolicyOnTheService) {
  const TempDir dir;
  // Retries without end, and hardly any.
  const std::string storm =
      written(dir, "storm.properties", "spring.datasource.password=hunter2\n" + spring(1000));
  const std::string calm = written(dir, "calm.json", kA6);
  const auto checked = [](const std::string& path, const Arguments& more) {
    return done(
        RETRYSTORM_STUDIES,
        Arguments{"check", path, "--runs=5", "--json=-", "--expect=down<50%"} + kCurve + more);
  };
  const Ended down = checked(storm, {"--threads=2"});
  EXPECT_EQ(cells(down.out).at("frozen 60 s")["down"], 1);
  EXPECT_THAT(down.out + down.err, Not(HasSubstr("hunter2")));
  const Ended back = checked(calm, {"--connections=new"});
  EXPECT_EQ(back.code, 0) << back.out << back.err;
  EXPECT_EQ(cells(back.out).at("frozen 60 s")["down"], 0);
  EXPECT_EQ(cells(back.out, "expectation").at("frozen 60 s")["finding"], "holds");
  // The same without a seed, and with any number of threads.
  EXPECT_EQ(cells(checked(storm, {"--threads=1"}).out), cells(down.out));
  // gRPC's requests share a connection, unless something else is said; options of retries replace those of the policy.
  EXPECT_EQ(cells(checked(calm, {}).out), cells(checked(calm, {"--connections=multiplexed"}).out));
  EXPECT_EQ(cells(checked(storm, {"--max-attempts=1"}).out).at("frozen 60 s")["down"], 0);
  // The reader's own outage takes the place of the freezes.
  EXPECT_THAT(cells(checked(calm, {"--outage=capacity:0.01", "--outage-for=6s"}).out),
              ElementsAre(testing::Key("0.01 times the capacity for 6s"),
                          testing::Key("errors 10 %"), testing::Key("errors 50 %")));
}

// Nobody is answered in a freeze, but for those who still wait at its end: 5 s of 10 s with this deadline.
// However long one observes it.
TEST(Check, SaysHowManyRequestsOfTheDisturbanceSucceed) {
  const TempDir dir;
  const std::string file =
      written(dir, "grpc.json", R"({"methodConfig": [{"name": [{}], "timeout": "5s", "retryPolicy":
        {"maxAttempts": 2, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"]}}]})");
  const auto success = [&file](const std::string& observe) {
    const Ended checked =
        done(RETRYSTORM_STUDIES,
             {"check", file, "--workers=40", "--rate=100", "--runs=5", "--json=-",
              "--expect=down<50%", "--outage=freeze", "--outage-for=10s", "--observe=" + observe});
    return cells(checked.out).at("frozen for 10s")["success_during"].get<double>();
  };
  EXPECT_EQ(success("1m"), success("30s"));
  EXPECT_NEAR(success("30s"), 0.5, 0.25);
}

TEST(Check, TakesAFixedNumberOfRunsUnlessTheOutcomeIsCertain) {
  const TempDir dir;
  const std::string storm = written(dir, "storm.properties", spring(1000));
  const auto checked = [](const Arguments& arguments) {
    return done(RETRYSTORM_STUDIES, Arguments{"check"} + arguments + kCurve);
  };
  // What would be enough is certain after the first of its rounds.
  const Ended down = checked({storm, "--json=-"});
  EXPECT_EQ(down.code, 3) << down.err;
  EXPECT_EQ(cells(down.out).at("frozen 60 s")["runs"], 15);
  EXPECT_EQ(cells(down.out, "expectation").at("frozen 1 s")["finding"], "not decided");
  // Other claims are judged after all runs.
  const Ended other = checked({storm, "--runs=20", "--expect=down>50%", "--json=-"});
  EXPECT_EQ(cells(other.out).at("frozen 60 s")["runs"], 20);
  EXPECT_EQ(cells(other.out, "expectation").at("frozen 60 s")["finding"], "holds");
}

// The same seeds make the same runs. (PolicyCases shows that check and import have the same settings of each kind.)
TEST(Check, AgreesWithSimulateAboutTheImport) {
  const TempDir dir;
  const Arguments service = kCurve + Arguments{"--backlog=30", "--runs=5", "--seed=7",
                                               "--connections=multiplexed", "--json=-"};
  const auto figures = [](const nlohmann::json& cell) {
    return std::tuple(cell.at("down"), cell.at("amplification"), cell.at("ok_per_s"),
                      cell.at("runs"));
  };
  const std::string policy = written(dir, "policy", kA6);
  const Ended imported = passed(RETRYSTORM_STUDIES, {"import", policy});
  const std::string ini = written(dir, "policy.ini", imported.out);
  const auto checked = cells(
      done(RETRYSTORM_STUDIES, Arguments{"check", policy, "--expect=down<50%"} + service).out);
  for (const auto& [name, options] : std::vector<std::pair<std::string, Arguments>>{
           {"frozen 1 s", {"--outage-for=1s"}},
           {"frozen 10 s", {"--outage-for=10s"}},
           {"errors 50 %", {"--outage-for=0s", "--error-share=0.5"}}}) {
    const std::string out =
        done(RETRYSTORM_SIMULATE,
             Arguments{"--config=" + ini, "--outage-at=15s", "--observe=45s", "--quiet"} + service +
                 options)
            .out;
    const std::size_t cell = out.find("{\"type\":\"cell\"");
    ASSERT_NE(cell, out.npos) << out;
    EXPECT_EQ(figures(checked.at(name)),
              figures(nlohmann::json::parse(out.substr(cell, out.find('\n', cell) - cell))))
        << name;
  }
}

// As long as a file may be.
std::string repeated(const std::string& begin, const std::string& part,
                     const std::string& end = "") {
  constexpr std::size_t kSize = 4'194'000;
  std::string text = begin;
  while (text.size() + part.size() + end.size() <= kSize) text += part;
  return text + end;
}

std::string numbered(std::size_t count,
                     const std::function<std::string(const std::string&)>& part) {
  std::string text;
  for (std::size_t i = 1; i <= count; ++i) text += part(std::to_string(i));
  return text;
}

// The exit code with so much memory to write to, within two seconds of processor time.
int code_within(const char* program, const Arguments& arguments, rlim_t bytes = 64 << 20) {
  ChildProcess process(program, arguments, 0, [bytes] {
    const rlimit memory{bytes, bytes}, time{2, 2};
    setrlimit(RLIMIT_DATA, &memory);
    setrlimit(RLIMIT_CPU, &time);
  });
  return process.exit_code(4 * kPatience).value_or(-1);
}

// Files of the greatest length, made to be large in memory. The limit is for what a program writes to.
TEST(Check, StaysWithin64MegabytesWhateverTheFile) {
  if (!kCanRunOutOfMemory) GTEST_SKIP() << "a sanitizer takes more memory itself";
  const TempDir dir;
  const std::string envoy = "virtual_hosts:\n- routes:\n";
  for (
      const std::string& text :
      {repeated("resilience4j.retry.instances.a.maxAttempts=3\n", "a=\n"),
       repeated("", "resilience4j.retry.instances.a.maxAttempts=3\n"), repeated("", "- "),
       repeated("", "["), repeated("{\"methodConfig\":[", "0,", "0]}"),
       repeated("a: &a 1\nb: [", "*a ,", "]"), repeated("", "---\n"),
       repeated("[default]\nmax_attempts=3\n", "[a]\n"),
       repeated("A=1\nAWS_MAX_ATTEMPTS=3\n", "A=\n"),
       repeated("upstream b{server a;}server{location / {proxy_pass http://b;\n}", "a;", "}"),
       repeated("backend b\n retries 3\n server a 1\n", "a\n"),
       repeated(envoy + "  - route: {cluster: c, retry_policy: {num_retries: 1, retry_on: '", "x,",
                "'}}\n"),
       repeated(
           envoy,
           "  - route: {cluster: c, retry_policy: {num_retries: 1, retry_on: 'a,b,c,d,e,f'}}\n")}) {
    const std::string path = written(dir, "hostile", text);
    EXPECT_THAT(code_within(RETRYSTORM_STUDIES, {"check", path}), AnyOf(0, 2, 3))
        << text.substr(0, 60);
  }
  EXPECT_THAT(code_within(RETRYSTORM_STUDIES, {"check", dir.file("hostile")}, 3 << 20),
              Not(AnyOf(0, 2, 3)));  // the limit counts
}

// What files can make of little: ranges, aliases, inheritance, policies that differ.
TEST(Check, IsDoneWithinTwoSecondsWhateverTheFile) {
  if (!kCanRunOutOfMemory) GTEST_SKIP() << "a sanitizer takes more of both";
  const TempDir dir;
  const std::string mode = "defaults\n mode http\n retry-on ", nines(1'000'000, '9');
  const std::string linkerd =
      "kind: Service\nmetadata: {name: a, annotations: "
      "{retry.linkerd.io/http: \"";
  for (const std::string& text :
       {'{' +
            numbered(200,
                     [](const std::string& n) {
                       return "\"R" + n + R"(":{"Retry":{"Delay":"00:00:00.)" + n +
                              R"(","MaxRetryAttempts":1000},"AttemptTimeout":{"Timeout":)"
                              R"("00:00:10"},"TotalRequestTimeout":{"Timeout":"23:00:00"}},)";
                     }) +
            "\"x\":1}",
        linkerd + numbered(9'999, [](const std::string&) { return "100-599,"; }) + "500\"}}\n",
        repeated("http { proxy_next_upstream " + nines + ";\n", "location /{proxy_pass http://a;}",
                 "}"),
        "http { proxy_next_upstream " + nines + ";\n" +
            numbered(40'000,
                     [](const std::string&) { return "location /{proxy_pass http://a;}"; }) +
            "}",
        mode + nines + '\n' +
            numbered(9'000, [](const std::string& n) { return "backend b" + n + "\n server a\n"; }),
        numbered(9'000,
                 [](const std::string& n) {
                   return "resilience4j.retry.configs.c" + n + ".base-config=c" +
                          std::to_string(std::stoi(n) + 1) + "\nresilience4j.retry.instances.i" +
                          n + ".base-config=c1\n";
                 }),
        "resilience4j.retry.configs.default.wait-duration=" + nines + '\n' +
            numbered(9'000,
                     [](const std::string& n) {
                       return "resilience4j.retry.instances.i" + n + ".max-attempts=3\n";
                     }),
        "virtual_hosts:\n- routes:\n" +
            numbered(200,
                     [](const std::string& n) {
                       return "  - route: {timeout: 9s, retry_policy: {retry_on: 5xx, "
                              "num_retries: 1000, per_try_timeout: 0.01s, "
                              "retry_back_off: {base_interval: 0." +
                              n + "s}}}\n";
                     }),
        numbered(200, [](const std::string& n) {
          return "[profile p" + n + "]\nmax_attempts=" + n + '\n';
        })}) {
    const std::string path = written(dir, "hostile", text);
    EXPECT_THAT(code_within(RETRYSTORM_STUDIES, {"check", path}), AnyOf(0, 2, 3))
        << text.substr(0, 60);
  }
}

TEST(Settings, AreReadWithinTwoSecondsOrRefused) {
  if (!kCanRunOutOfMemory) GTEST_SKIP() << "a sanitizer takes more of both";
  const TempDir dir;
  std::string dots, ones;
  for (int i = 0; i < 40'000; ++i) {
    dots += "a.";
    ones += "1,";
  }
  for (const std::string& text :
       {'[' + dots + "a]\nrate=1\n", dots + "a=1\n",
        numbered(8'000, [](const std::string& n) { return "n" + n + "=1\n"; }),
        numbered(110'000, [](const std::string& n) { return "n" + n + "=1\n"; }),
        numbered(9'000, [](const std::string&) { return "[[a]]\n"; }),
        numbered(4'000, [](const std::string& n) { return "[a" + n + ".b.c.d.e.f.g.h]\n"; }),
        "rate=" + ones + '\n', "rate=[" + ones + "]\n", repeated("", "rate=1\n")}) {
    const std::string path = written(dir, "hostile.ini", text);
    EXPECT_GE(code_within(RETRYSTORM_SIMULATE, {"--config", path}), 2) << text.substr(0, 60);
    code_within(RETRYSTORM_SIMULATE,
                {"--sweep=strategy=" + path, "--runs=2", "--seed=1", "--clients=2"});
    EXPECT_GE(code_within(RETRYSTORM_SIMULATE, {"--topology", path}), 2) << text.substr(0, 60);
  }
  const std::string many = written(
      dir, "many.ini", numbered(500, [](const std::string& n) { return "n" + n + "=1\n"; }));
  EXPECT_THAT(lines(done(RETRYSTORM_SIMULATE, {"--config", many}).err), SizeIs(1));
}

TEST(Metrics, AreReadWithinTwoSecondsOrRefused) {
  if (!kCanRunOutOfMemory) GTEST_SKIP() << "a sanitizer takes more of both";
  const TempDir dir;
  for (const std::string& text :
       {numbered(300'000, [](const std::string& n) { return "a" + n + "_sum 1\n"; }),
        numbered(160'000, [](const std::string& n) { return "a_bucket{le=\"" + n + "\"} 1\n"; }),
        repeated("", "a_bucket{l=\"x\",le=\"1\"} 1\n"), repeated("a{le=\"", "\\\"")}) {
    const std::string path = written(dir, "metrics", text);
    EXPECT_EQ(code_within(RETRYSTORM_STUDIES,
                          {"service", "--rate=9", "--used=50%", "--from-prometheus", path}),
              2)
        << text.substr(0, 60);
  }
}

// As bash makes it of `check <(helm template ...)`. What is no file is told at once.
TEST(ForeignFiles, AreReadFromAFifoAndNotFromDevices) {
  const TempDir dir;
  const std::string fifo = dir.file("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto fed = [&](const char* program, const Arguments& arguments, const std::string& text) {
    std::thread writer([&] { std::ofstream(fifo) << text; });
    const Ended ended = done(program, arguments);
    writer.join();
    return ended;
  };
  const std::string policy = std::string(200'000, '\n') + kA6;  // more than a pipe holds
  EXPECT_THAT(fed(RETRYSTORM_STUDIES, {"check", fifo}, policy).out, HasSubstr("line 200001"));
  EXPECT_THAT(fed(RETRYSTORM_SIMULATE, {"--config", fifo}, "strategey=fixed\n").err,
              StartsWith("--config: strategey was not expected"));
  for (const std::string& path :
       {dir.file(""), std::string("/dev/zero"), std::string("/proc/kmsg")}) {
    for (const auto& [program, arguments] : std::vector<std::pair<const char*, Arguments>>{
             {RETRYSTORM_STUDIES, {"check", path}},
             {RETRYSTORM_STUDIES, {"service", "--rate=9", "--from-prometheus", path}},
             {RETRYSTORM_SIMULATE, {"--config", path}},
             {RETRYSTORM_SIMULATE, {"--sweep=strategy=" + path, "--seed=1"}},
             {RETRYSTORM_SIMULATE, {"--topology", path}}}) {
      const Ended refused = done(program, arguments);
      EXPECT_EQ(refused.code, 2) << path << arguments[0];
      EXPECT_THAT(lines(refused.err), SizeIs(1)) << refused.err;
    }
  }
}

// What was there before is not held against a change.
TEST(Check, JudgesAChange) {
  const TempDir dir;
  const std::string few = written(dir, "few.properties", spring(1));
  const std::string storm = written(dir, "storm.properties", spring(1000));
  const std::string storm_too = written(dir, "storm2.properties", spring(999));
  const auto checked = [](const std::string& path, const std::string& before, int runs) {
    const Arguments service = kCurve + Arguments{"--runs=" + std::to_string(runs)};
    return done(RETRYSTORM_STUDIES, Arguments{"check", path, "--json=-", "--baseline=" + before} +
                                        (runs > 0 ? service : Arguments{}));
  };
  const Ended worse = checked(storm, few, 628);
  EXPECT_EQ(worse.code, 3) << worse.err;
  EXPECT_EQ(cells(worse.out, "expectation").at("frozen 60 s")["finding"], "broken");
  // Both are down in the same runs: the change makes nothing worse.
  const Ended same = checked(storm_too, storm, 299);
  EXPECT_EQ(cells(same.out, "expectation").at("frozen 60 s")["finding"], "holds");
  EXPECT_EQ(same.code, 0) << same.out;
  const Ended unchanged = checked(storm, storm, 299);
  EXPECT_EQ(unchanged.code, 0);

  // Of two warnings one is new.
  const std::string gap = "resilience4j.retry.instances.a.exponentialMaxWaitDuration=1s\n";
  const std::string bad = written(dir, "bad.properties", spring(3, gap));
  EXPECT_EQ(done(RETRYSTORM_STUDIES, {"check", bad}).code, 3);
  const Ended fine = checked(bad, bad, 0);
  EXPECT_EQ(fine.code, 0) << fine.out;
  EXPECT_EQ(checked(bad, few, 0).code, 3);
  const auto log = nlohmann::json::parse(
      done(RETRYSTORM_STUDIES, {"check", bad, "--baseline=" + few, "--format=sarif"}).out);
  EXPECT_EQ(log["runs"][0]["results"][0]["baselineState"], "new");
}

// A quarter of 40 requests a second comes, and five attempts of each are more than it can do.
constexpr const char* kFive = R"({"methodConfig": [{"name": [{"service": "a.B"}],
  "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "1s",
  "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE", "DEADLINE_EXCEEDED"]}}]})";

const Arguments kSmallService{"--service=workers", "--workers=4", "--arrivals=open", "--rate=10",
                              "--connections=new"};

// Of all threads.
Duration processor_time(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec);
}

TEST(Check, EndsWithWhatIsKnownByThen) {
  const TempDir dir;
  const std::string a6 = written(dir, "x", kA6);
  const Arguments endless =
      Arguments{"check", a6, "--runs=100000", "--json=" + dir.file("json")} + kSmallService;
  // Of these runs a thousand take a second.
  ChildProcess check(RETRYSTORM_STUDIES, endless);
  ASSERT_TRUE(eventually([&] { return processor_time(check.pid()) >= 1s * kSlowness; }));
  check.signal(SIGINT);
  EXPECT_EQ(check.exit_code(10s * kSlowness), 1);
  const auto known = cells(read_file(dir.file("json")));
  EXPECT_GT(known.at("frozen 60 s")["runs"], 0);

  Arguments limited = endless;
  limited.push_back("--max-time=2s");
  EXPECT_EQ(done(RETRYSTORM_STUDIES, limited).code, 4);
}

TEST(Recommend, PrintsAFileThatPassesTheCheck) {
  const TempDir dir;
  const std::string five = written(dir, "five.json", kFive);
  const auto recommended = [&](const std::string& more) {
    return done(RETRYSTORM_STUDIES,
                Arguments{"recommend", "--start=" + five, "--quick", "--candidates=10",
                          "--expect=down<10%", "--expect=success>40%", more} +
                    kSmallService);
  };
  const std::string json = dir.file("tried.json");
  const Ended found = recommended("--json=" + json);
  ASSERT_EQ(found.code, 0) << found.out << found.err;
  // With any number of threads.
  EXPECT_EQ(recommended("--threads=1").out, found.out);
  std::size_t candidates = 0, certified = 0;
  std::ifstream lines(json);
  for (std::string line; std::getline(lines, line);) {
    const auto object = nlohmann::json::parse(line);
    candidates += object["type"] == "candidate" ? 1 : 0;
    certified += object["type"] == "setting" && object["certified"] ? 1 : 0;
  }
  EXPECT_GE(candidates, 1u);
  EXPECT_GE(certified, 1u);

  const std::string file = written(dir, "found.json", found.out.substr(found.out.find("\n{\n")));
  passed(RETRYSTORM_STUDIES,
         Arguments{"check", file, "--runs=29", "--expect=down<10%"} + kSmallService);
}

// The service that it prints has the percentiles that it was given, or those of a page of metrics.
TEST(Service, HasWhatIsKnownOfIt) {
  const TempDir dir;
  const Ended made = passed(RETRYSTORM_STUDIES,
                            {"service", "--rate=400/s", "--p50=80ms", "--p99=300ms", "--used=50%"});
  const std::string ini = written(dir, "service.ini", made.out);
  const auto summary =
      summary_of(RETRYSTORM_SIMULATE, {"--config=" + ini, "--outage-for=0s", "--seed=1"});
  EXPECT_NEAR(summary["request_time_ms"]["p50"].get<double>(), 80, 4);
  EXPECT_NEAR(summary["request_time_ms"]["p99"].get<double>(), 300, 15);
  const Ended measured =
      done(RETRYSTORM_STUDIES, {"service", "--rate=400", "--used=50%",
                                "--from-prometheus=" + written(dir, "metrics",
                                                               "s_bucket{le=\"0.08\"} 50\n"
                                                               "s_bucket{le=\"0.3\"} 99\n"
                                                               "s_bucket{le=\"+Inf\"} 100\n"
                                                               "s_sum 10\ns_count 100\n")});
  EXPECT_EQ(settings_in(measured.out)["service-time"], "lognormal:100ms:0.617");
  EXPECT_EQ(settings_in(measured.out)["workers"], "80");
}

}  // namespace
}  // namespace retrystorm::test
