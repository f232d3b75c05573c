// `retrystorm compare`: days of services of which the truth is known.
#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

class Compare : public testing::Test {
 protected:
  // A day of the service with these settings.
  void lives(const Arguments& service, const Arguments& clients = {}) {
    succeeded(RETRYSTORM_SIMULATE,
              service +
                  Arguments{"--rate=50", "--timeout=1s", "--max-attempts=3", "--outage-at=20s",
                            "--outage-for=10s", "--observe=60s", "--seed=11",
                            "--json=" + dir_.file("day.jsonl")} +
                  clients);
  }
  // Compares it with a service of these settings.
  nlohmann::json compared(const std::string& service, int code) {
    std::ofstream(dir_.file("service.ini")) << service;
    const Ended end =
        ended(RETRYSTORM_STUDIES, {"compare", dir_.file("service.ini"), dir_.file("day.jsonl"),
                                   "--json=" + dir_.file("compared.json")});
    EXPECT_EQ(end.code, code) << end.out << end.err;
    return nlohmann::json::parse(read_file(dir_.file("compared.json")));
  }

  TempDir dir_;
};

const Arguments kService{"--workers=6", "--service-time=exponential:60ms"};
const std::string kItsSettings =
    "service = workers\nworkers = 6\nservice-time = exponential:60ms\n";

TEST_F(Compare, SaysThatTheTruthHolds) {
  lives(kService);
  const auto json = compared(kItsSettings, 0);
  EXPECT_EQ(json["answer"]["id"], "compare-holds");
  const auto verdict = json["findings"].at(0);
  EXPECT_EQ(verdict["id"], "compare-verdict");
  EXPECT_EQ(verdict["runs"], 40);
  EXPECT_GE(verdict["same"], 38) << verdict;
  // 18 without the first one, and those at which the outage begins or ends.
  EXPECT_EQ(json["windows"].size(), 13u);
  // The clients' own settings are those of the day, whatever the service's file says of them.
  EXPECT_EQ(compared(kItsSettings + "timeout = 9s\nrate = 1\n", 0)["answer"]["id"],
            "compare-holds");
}

TEST_F(Compare, NamesTheOneSettingThatIsWrong) {
  const auto explained = [this](const std::string& wrong) {
    const auto json = compared(wrong, 3);
    EXPECT_EQ(json["answer"]["id"], "compare-off");
    return json["findings"].at(1);  // after the verdict
  };
  lives(kService);
  // 60 ms is 1.5 times 40 ms.
  EXPECT_EQ(
      explained("service = workers\nworkers = 6\nservice-time = exponential:40ms\n")["option"],
      "--service-time=exponential:60ms");
  // One run does not tell 5 workers from 6.
  const std::string workers =
      explained("service = workers\nworkers = 12\nservice-time = exponential:60ms\n")["option"];
  ASSERT_THAT(workers, StartsWith("--workers="));
  EXPECT_NEAR(std::stod(workers.substr(10)), 6, 1);
  lives(kService + Arguments{"--abandoned=skip"});
  EXPECT_EQ(explained(kItsSettings)["option"], "--abandoned=skip");
}

// What is said of the model then would be said of a day that was not.
TEST_F(Compare, SaysNothingOfAnOutageThatWasNotFelt) {
  lives(kService, {"--outage=slow:1.01"});
  std::string day = read_file(dir_.file("day.jsonl"));
  const std::string causes = "\"causes\":[";
  day.insert(day.find(causes) + causes.size(), "{\"id\":\"unfelt-signals\"},");
  std::ofstream(dir_.file("day.jsonl")) << day;
  const auto json =
      compared("service = workers\nworkers = 2\nservice-time = exponential:60ms\n", 4);
  EXPECT_EQ(json["answer"]["id"], "compare-unfelt");
  EXPECT_EQ(json["findings"].size(), 0u) << json;
}

TEST_F(Compare, TellsTooLittleFromWrong) {
  lives(kService, {"--outage-at=10s", "--observe=15s"});
  EXPECT_EQ(compared(kItsSettings, 4)["answer"]["id"], "compare-few");
  for (const char* day : {"", "hello\n", "{\"type\":\"interval\",\"t\":5}\n",
                          "{\"type\":\"start\",\"program\":\"server\"}\n",
                          "{\"type\":\"start\",\"program\":\"client\"}\n"}) {
    std::ofstream(dir_.file("bad.jsonl")) << day;
    EXPECT_EQ(
        ended(RETRYSTORM_STUDIES, {"compare", dir_.file("service.ini"), dir_.file("bad.jsonl")})
            .code,
        2)
        << day;
  }
}

}  // namespace
}  // namespace retrystorm::test
