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

TEST(Scenarios, AreThere) {
  EXPECT_GE(scenarios().size(), 6);
}

TEST(Scenarios, OfTheClientAreUnderstood) {
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

}  // namespace
}  // namespace retrystorm::test
