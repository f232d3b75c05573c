// `retrystorm measure` of a real server of which the truth is known.
#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// Two workers of 40 ms: the time within 5 %, and right whether they serve those who have hung up.
TEST(Measured, IsWhatTheServiceIs) {
  const int slow = kSlowness;
  for (const char* abandoned : {"serve", "skip"}) {
    const bool unfair = std::string(abandoned) == "serve";
    const ServerUnderTest server({"--service=workers", "--workers=2",
                                  unfair ? "--queue-order=unfair:0.1" : "--queue-order=fifo",
                                  "--service-time=fixed:" + std::to_string(40 * slow) + "ms",
                                  std::string("--abandoned=") + abandoned});
    const TempDir dir;
    const Ended measured = ended(
        RETRYSTORM_STUDIES,
        {"measure", server.url(), "--i-may-load=127.0.0.1:" + std::to_string(server.port()),
         "--timeout=" + std::to_string(slow) + "s", "--step=" + std::to_string(300 * slow) + "ms",
         "--write=" + dir.file("service.ini"), "--json=" + dir.file("found.json")},
        kPatience * 6);
    ASSERT_EQ(measured.code, 0) << measured.out << measured.err;
    const auto json = nlohmann::json::parse(read_file(dir.file("found.json")));
    EXPECT_EQ(json["answer"]["id"], "measure-workers");
    const auto settings = json["settings"];
    EXPECT_EQ(settings["workers"], "2") << json;
    EXPECT_EQ(settings["abandoned"], abandoned) << json;
    EXPECT_EQ(settings["accepts"], "all") << json;
    EXPECT_EQ(settings["backlog"], "256") << json;
    EXPECT_EQ(settings.contains("queue-order"), unfair) << json;
    if (unfair) {
      const std::string order = settings["queue-order"];
      EXPECT_NEAR(std::stod(order.substr(order.find(':') + 1)), 0.1, 0.05) << order;
    }
    const std::string law = settings["service-time"];
    const std::string time = law.substr(law.find(':') + 1);
    EXPECT_NEAR(std::stod(time), 40 * slow, 2 * slow) << law;
    // What it wrote is what `simulate` reads.
    EXPECT_EQ(ended(RETRYSTORM_SIMULATE, {"--config=" + dir.file("service.ini"), "--rate=30",
                                          "--outage-for=5s", "--observe=20s", "--quiet"})
                  .code,
              0);
    if (slow > 1) return;
  }
}

// Two workers, and a queue of three: none of five that come at once is turned away.
TEST(Measured, LimitOfTheConcurrencyIsWhatItIs) {
  const ServerUnderTest server(
      {"--service=workers", "--workers=2", "--queue-length=3", "--service-time=fixed:40ms"});
  const TempDir dir;
  const Ended measured = ended(
      RETRYSTORM_STUDIES,
      {"measure", server.url(), "--i-may-load=127.0.0.1:" + std::to_string(server.port()),
       "--step=300ms", "--write=" + dir.file("service.ini"), "--json=" + dir.file("found.json")},
      kPatience * 6);
  ASSERT_EQ(measured.code, 0) << measured.out << measured.err;
  const auto settings = nlohmann::json::parse(read_file(dir.file("found.json")))["settings"];
  EXPECT_EQ(settings["workers"], "2") << settings;
  EXPECT_EQ(settings["queue-length"], "3") << settings;
}

// Four workers of 20 ms do 200 a second; 80 ms in the queue are sixteen of them, which is rare up to four fifths of that,
// and the rule above it. Nothing is sent at more than twice a rate that was fine.
TEST(Measured, ClientFindsTheMostThatItDoes) {
  const int slow = kSlowness;
  const ServerUnderTest server({"--service=workers", "--workers=4",
                                "--service-time=fixed:" + std::to_string(20 * slow) + "ms"});
  const TempDir dir;
  const Arguments search{"--url=" + server.url(),
                         "--most=rate=" + std::to_string(20 / slow) + ":1000",
                         "--expect=request-p99<" + std::to_string(100 * slow) + "ms",
                         "--timeout=" + std::to_string(slow) + "s",
                         "--duration=" + std::to_string(slow) + "s",
                         "--max-attempts=1",
                         "--seed=1",
                         "--json=" + dir.file("search.jsonl")};
  EXPECT_EQ(ended(RETRYSTORM_CLIENT, search).code, 108);  // without the consent
  const Ended found = ended(
      RETRYSTORM_CLIENT,
      search + Arguments{"--i-may-load=127.0.0.1:" + std::to_string(server.port())}, kPatience * 3);
  ASSERT_EQ(found.code, 0) << found.out << found.err;
  const auto lines = read_json_lines(dir.file("search.jsonl"));
  double most = 0;
  for (const auto& line : lines) {
    if (line["type"] == "start") most = std::max(most, line["rate"].get<double>());
  }
  const auto limit = lines.back();
  ASSERT_EQ(limit["type"], "limit_value");
  const double value = std::stod(limit["value"].get<std::string>());
  EXPECT_GE(value, 120. / slow) << found.out;
  EXPECT_LE(value, 220. / slow) << found.out;
  EXPECT_LE(most, 2.1 * value) << found.out;
  EXPECT_GE(limit["values"], 5);
}

}  // namespace
}  // namespace retrystorm::test
