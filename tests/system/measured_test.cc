// `retrystorm measure` of a real server of which the truth is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"

namespace retrystorm::test {
namespace {

// Two workers of 40 ms: the time within 5 %, and right whether they serve those who have hung up.
TEST(Measured, IsWhatTheServiceIs) {
  const int slow = kSlowness;
  for (const char* abandoned : {"serve", "skip"}) {
    const ServerUnderTest server({"--service=workers", "--workers=2",
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

}  // namespace
}  // namespace retrystorm::test
