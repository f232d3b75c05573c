// What people read: tests/golden/words.txt has commands and what they say, and is the only place among the tests that
// knows sentences. After a change of words, this writes the file anew; look at the difference:
//   RETRYSTORM_WRITE_WORDS=1 build/bin/system_tests --gtest_filter=Words.*
#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

constexpr const char* kGolden = RETRYSTORM_DOCS "/../tests/golden";

// "$ command", what it prints, what it says on standard error behind "2> ", and its exit code if that is not 0.
std::string said(const std::string& command) {
  const std::string programs = std::filesystem::path(RETRYSTORM_SIMULATE).parent_path();
  ChildProcess process(
      "/bin/sh",
      {"-c", "cd \"$0\" && PATH=\"$1:$PATH\" LC_ALL=C.UTF-8 && " + command, kGolden, programs});
  const int code = process.exit_code(4 * kPatience).value_or(-1);
  std::string text = "$ " + command + '\n';
  for (const std::string& line : lines(process.err())) text += "2> " + line + '\n';
  text += process.out();
  if (code != 0) text += "exit code " + std::to_string(code) + '\n';
  return text + '\n';
}

TEST(Words, AreThoseOfTheGoldenFile) {
  const std::string path = std::string(kGolden) + "/words.txt";
  const std::string golden = read_file(path);
  std::string now;
  for (const std::string& line : lines(golden)) {
    if (line.starts_with("$ ")) now += said(line.substr(2));
  }
  if (std::getenv("RETRYSTORM_WRITE_WORDS") != nullptr) std::ofstream(path) << now;
  EXPECT_EQ(now, golden) << "RETRYSTORM_WRITE_WORDS=1 writes " << path;
}

}  // namespace
}  // namespace retrystorm::test
