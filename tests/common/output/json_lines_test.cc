#include "common/output/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "tests/support/temp_dir.h"

namespace retrystorm {
namespace {

using test::read_file;
using test::TempDir;
using ::testing::HasSubstr;

TEST(Rounded, KeepsThreeDecimals) {
  EXPECT_EQ(rounded(1.23449), 1.234);
  EXPECT_EQ(rounded(1.2346), 1.235);
  EXPECT_EQ(rounded(-0.0004), 0);
  EXPECT_EQ(rounded(98), 98);
}

TEST(JsonLines, WritesAnObjectALineAtOnceInItsOrder) {
  const TempDir dir;
  JsonLines json(dir.file("run.jsonl"));
  json.write({{"type", "start"}, {"seed", 7}});
  EXPECT_EQ(read_file(dir.file("run.jsonl")), "{\"type\":\"start\",\"seed\":7}\n");
  json.write({{"type", "interval"}, {"a", 0.5}});
  EXPECT_EQ(read_file(dir.file("run.jsonl")),
            "{\"type\":\"start\",\"seed\":7}\n{\"type\":\"interval\",\"a\":0.5}\n");
}

TEST(JsonLines, StartsTheFileAnew) {
  const TempDir dir;
  JsonLines(dir.file("run.jsonl")).write({{"old", 1}});
  JsonLines(dir.file("run.jsonl")).write({{"new", 1}});
  EXPECT_EQ(read_file(dir.file("run.jsonl")), "{\"new\":1}\n");
}

TEST(JsonLines, WritesNothingWithoutAPath) {
  JsonLines json("");
  EXPECT_NO_THROW(json.write({{"type", "start"}}));
}

TEST(JsonLines, RefusesAFileThatCannotBeWritten) {
  const TempDir dir;
  EXPECT_THAT([&] { JsonLines(dir.file("no/such/folder.jsonl")); },
              (testing::ThrowsMessage<std::runtime_error>(
                  testing::AllOf(HasSubstr("cannot write to " + dir.file("no/such/folder.jsonl")),
                                 HasSubstr("No such file")))));
  EXPECT_THROW(JsonLines("/"), std::runtime_error);
}

TEST(JsonLines, TellsOnceOfAFullDiskAndGoesOn) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  JsonLines json("/dev/full");
  testing::internal::CaptureStderr();
  json.write({{"type", "start"}});
  json.write({{"type", "interval"}});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "writing to /dev/full failed: it ends here\n");
}

// A command line may hold any bytes, and the start line repeats it.
TEST(JsonLines, WritesTextThatIsNotUtf8AsBestItCan) {
  const TempDir dir;
  JsonLines json(dir.file("run.jsonl"));
  json.write({{"command", "client --json a\xff"}});
  const auto written = test::read_json_lines(dir.file("run.jsonl"));
  ASSERT_EQ(written.size(), 1);
  EXPECT_THAT(written[0]["command"].get<std::string>(), HasSubstr("client --json a"));
}

}  // namespace
}  // namespace retrystorm
