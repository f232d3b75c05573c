#include "common/output/json_lines.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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
