// The ready-made scenario files.
#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

bool is_for_the_server(const std::string& path) {
  return path.find("-server.ini") != std::string::npos;
}

// The client has no service.
bool is_for_simulate(const std::string& path) {
  return read_file(path).find("\n#   simulate --config") != std::string::npos;
}

std::vector<std::string> scenarios() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(RETRYSTORM_SCENARIOS)) {
    paths.push_back(entry.path());
  }
  return paths;
}

TEST(Scenarios, OfTheClientAreUnderstood) {
  EXPECT_GE(scenarios().size(), 6);
  // Some files contain an outage, which needs a process to freeze. Printing settings runs nothing.
  const ChildProcess anybody("/bin/sleep", {"60"});
  for (const std::string& path : scenarios()) {
    if (is_for_the_server(path) || is_for_simulate(path)) continue;
    Arguments arguments{"--config", path, "--print-settings"};
    if (read_file(path).find("\noutage-at") != std::string::npos) {
      arguments.push_back("--server-pid=" + std::to_string(anybody.pid()));
    }
    const Ended client = succeeded(RETRYSTORM_CLIENT, arguments);
    EXPECT_THAT(client.out, testing::HasSubstr("clients = ")) << path;
  }
}

TEST(Scenarios, OfIncidentsAreUnderstood) {
  int incidents = 0;
  for (const std::string& path : scenarios()) {
    if (!is_for_simulate(path)) continue;
    ++incidents;
    succeeded(RETRYSTORM_SIMULATE, {"--config", path, "--seed=1"});
  }
  EXPECT_GE(incidents, 3);
}

TEST(Scenarios, OfTheServerAreUnderstood) {
  for (const std::string& path : scenarios()) {
    if (is_for_the_server(path)) const ServerUnderTest server({"--config", path});
  }
}

TEST(Topologies, AreUnderstood) {
  for (const auto& entry :
       std::filesystem::directory_iterator(RETRYSTORM_SCENARIOS "/../topologies")) {
    succeeded(RETRYSTORM_SIMULATE, {"--topology", entry.path(), "--outage-for=0s", "--seed=1"});
  }
}

// What people read: tests/golden/words.txt has commands and what they say, and is the only place among the tests that
// knows sentences. After a change of words, this writes the file anew; look at the difference:
//   RETRYSTORM_WRITE_WORDS=1 build/bin/system_tests --gtest_filter=Words.*

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
