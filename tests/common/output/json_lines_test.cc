#include "common/output/json_lines.h"

#include "common/output/json_text.h"
#include "tests/support/child_process.h"
#include "tests/support/fifo.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::read_file;
using test::TempDir;

class JsonLinesOfAFifo : public testing::Test {
 protected:
  // SIGPIPE is ignored, as in the programs: a thread may still be blocked in a write after its
  // test.
  JsonLinesOfAFifo() { std::signal(SIGPIPE, SIG_IGN); }

  const test::Fifo fifo_;
};

TEST(Rounded, KeepsThreeDecimals) {
  EXPECT_EQ(rounded(1.23449), 1.234);
  EXPECT_EQ(rounded(1.2346), 1.235);
  EXPECT_EQ(rounded(-0.0004), 0);
  EXPECT_EQ(rounded(98), 98);
}

TEST(JsonLines, WritesEachObjectAtOnceAsALineInItsOrder) {
  const TempDir dir;
  JsonLines json(dir.file("run.jsonl"));
  const auto holds = [&](const std::string& text) {
    return test::eventually([&] { return read_file(dir.file("run.jsonl")) == text; });
  };
  json.write({{"type", "start"}, {"seed", 7}});
  EXPECT_TRUE(holds("{\"type\":\"start\",\"seed\":7}\n"));
  json.write({{"type", "interval"}, {"a", 0.5}});
  EXPECT_TRUE(holds("{\"type\":\"start\",\"seed\":7}\n{\"type\":\"interval\",\"a\":0.5}\n"));
}

TEST(JsonLines, OverwritesTheFile) {
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
  EXPECT_EQ(
      test::refusal_of<std::runtime_error>([&] { JsonLines(dir.file("no/such/folder.jsonl")); }),
      "cannot write to " + dir.file("no/such/folder.jsonl") + ": No such file or directory");
  EXPECT_THROW(JsonLines("/"), std::runtime_error);
}

TEST(JsonLines, ReportsAFullDiskOnceAndContinues) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  JsonLines json("/dev/full");
  testing::internal::CaptureStderr();
  json.write({{"type", "start"}});
  json.write({{"type", "interval"}});
  EXPECT_FALSE(json.finish());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "writing to /dev/full failed: No space left on device: it ends here\n");
}

TEST_F(JsonLinesOfAFifo, ReportsThatTheReaderIsGone) {
  JsonLines json(OutputFile(fifo_.path()), OutputQueue::WhenFull::kDrop);
  fifo_.close_reader();
  testing::internal::CaptureStderr();
  json.write({{"type", "start"}});
  EXPECT_FALSE(json.finish());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "writing to " + fifo_.path() + " failed: Broken pipe: it ends here\n");
}

// 20 MB are written to a pipe that holds one page. The writer is not blocked, and no line is cut.
TEST_F(JsonLinesOfAFifo, DropsWholeLinesForAReaderThatHasStopped) {
  constexpr int kLines = 20'000;
  JsonLines json(OutputFile(fifo_.path()), OutputQueue::WhenFull::kDrop);
  testing::internal::CaptureStderr();
  for (int i = 0; i < kLines; ++i) json.write({{"text", std::string(1000, 'x')}});
  EXPECT_TRUE(json.finish());  // dropped lines are no failure
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string read = fifo_.read_what_is_there();
  ASSERT_FALSE(read.empty());
  EXPECT_EQ(read.back(), '\n');
  const std::size_t lost = kLines - test::lines(read).size();
  EXPECT_EQ(said, fifo_.path() + " was blocked: " + std::to_string(lost) + " lines are lost\n");
}

TEST_F(JsonLinesOfAFifo, WaitsForAReaderUntilWaitingIsTurnedOff) {
  JsonLines json(OutputFile(fifo_.path()), OutputQueue::WhenFull::kWait);
  const std::jthread reader([&] {
    // More than the queue can hold, so the writer must have waited.
    std::size_t read = 0;
    while (read < (2 << 20)) read += fifo_.read_what_is_there().size();
    json.stop_waiting();
  });
  testing::internal::CaptureStderr();
  for (int i = 0; i < 5'000; ++i) json.write({{"text", std::string(1000, 'x')}});
  EXPECT_TRUE(json.finish());
  EXPECT_NE(testing::internal::GetCapturedStderr().find(" was blocked: "), std::string::npos);
}

TEST(JsonLines, KeepsEveryLineOnADisk) {
  constexpr int kLines = 20'000;
  const TempDir dir;
  JsonLines json(OutputFile(dir.file("run.jsonl")), OutputQueue::WhenFull::kDrop);
  for (int i = 0; i < kLines; ++i) json.write({{"text", std::string(1000, 'x')}});
  EXPECT_TRUE(json.finish());
  EXPECT_EQ(test::lines(read_file(dir.file("run.jsonl"))).size(), kLines);
}

TEST(OutputFile, BelongsToOneWriterAtATime) {
  const TempDir dir;
  const std::string path = dir.file("run.jsonl");
  {
    JsonLines first(path);
    first.write({{"first", 1}});
    EXPECT_THAT(
        [&] { OutputFile second(path); },
        testing::ThrowsMessage<std::runtime_error>(
            "cannot write to " + path + ": it is being written already, perhaps by another run"));
  }
  EXPECT_EQ(read_file(path), "{\"first\":1}\n");
  EXPECT_NO_THROW(OutputFile{path});
}

TEST(OutputFile, KeepsAnExistingFileUntilTheFirstWrite) {
  const TempDir dir;
  JsonLines(dir.file("run.jsonl")).write({{"old", 1}});
  const OutputFile file(dir.file("run.jsonl"));
  EXPECT_EQ(read_file(dir.file("run.jsonl")), "{\"old\":1}\n");
}

TEST(OutputFile, MayBeADeviceThatOthersWriteTo) {
  const OutputFile one("/dev/null");
  EXPECT_NO_THROW(OutputFile("/dev/null"));
}

// A command line may contain any bytes, and the start line repeats it.
TEST(JsonLines, ReplacesBytesThatAreNotUtf8) {
  const TempDir dir;
  JsonLines json(dir.file("run.jsonl"));
  json.write({{"command", "client --json a\xff"}});
  json.finish();
  const auto written = test::read_json_lines(dir.file("run.jsonl"));
  ASSERT_EQ(written.size(), 1);
  EXPECT_EQ(written[0]["command"].get<std::string>().find("client --json a"), 0u);
}

}  // namespace
}  // namespace retrystorm
