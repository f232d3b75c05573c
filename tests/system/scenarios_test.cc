// The ready-made scenario files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/child_process.h"

namespace retrystorm::test {
namespace {

bool is_for_the_server(const std::string& path) {
  return path.find("-server.ini") != std::string::npos;
}

std::vector<std::string> scenarios() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(RETRYSTORM_SCENARIOS)) {
    paths.push_back(entry.path());
  }
  return paths;
}

TEST(Scenarios, AreThere) {
  EXPECT_GE(scenarios().size(), 6);
}

TEST(Scenarios, OfTheClientAreUnderstood) {
  // Some make an outage, which needs a process to freeze; with a schedule to print nothing runs.
  const ChildProcess anybody("/bin/sleep", {"60"});
  for (const std::string& path : scenarios()) {
    if (is_for_the_server(path)) continue;
    Arguments arguments{"--config", path, "--print-schedule", "1"};
    if (read_file(path).find("\noutage-at") != std::string::npos) {
      arguments.push_back("--server-pid=" + std::to_string(anybody.pid()));
    }
    ClientUnderTest client(arguments);
    EXPECT_EQ(client.exit_code(), 0) << path << ": " << client.err();
    // Where waits are random there are more columns.
    EXPECT_THAT(client.out(), testing::MatchesRegex("attempt,delay_seconds(,p5,p50,p95)?\n1,.*\n"))
        << path;
  }
}

TEST(Scenarios, OfTheServerAreUnderstood) {
  for (const std::string& path : scenarios()) {
    if (is_for_the_server(path)) const ServerUnderTest server({"--config", path});
  }
}

}  // namespace
}  // namespace retrystorm::test
