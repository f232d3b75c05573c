// What readers of other programs' policies bound, and what no file of tests/policies/cases shows.
#include "policies/readers.h"

#include "common/output/json_text.h"
#include "policies/policy.h"
#include "policies/values.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

TEST(PolicyFiles, NameTheStrategyThatTheyAre) {
  // gRPC's example in its proposal A6, which is the named strategy.
  const std::string text = R"({"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4,
    "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"]}}],
    "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}})";
  const PolicyFile file = read_policies(text);
  EXPECT_NE(settings_text(file, file.policies.front(), "f").find("\nstrategy = grpc\n"),
            std::string::npos);
}

// A file may have thousands of policies, if they are the same.
TEST(Readers, BoundTheNumberOfPolicies) {
  const auto profiles = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text += "[profile p" + std::to_string(i) + "]\nretry_mode=legacy\n";
    }
    return text;
  };
  const PolicyFile many = read_policies(profiles(10'000));
  ASSERT_THAT(many.policies, SizeIs(1));
  EXPECT_THAT(many.policies[0].names, SizeIs(10'000));
  EXPECT_EQ(many.policies[0].names.back(), "profile p9999");
  EXPECT_THROW(read_policies(profiles(10'001)), BadFile);

  const auto instances = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 1; i <= count; ++i) {
      const std::string n = std::to_string(i);
      text += "resilience4j.retry.instances.a" + n + ".maxAttempts=" + n + "\n";
    }
    return text;
  };
  EXPECT_THAT(read_policies(instances(100)).policies, SizeIs(100));
  EXPECT_THROW(read_policies(instances(401)), BadFile);
  std::string documents = instances(1);
  for (int i = 0; i <= 100; ++i) {
    documents +=
        "#---\nspring.config.activate.on-profile=p" + std::to_string(i) + "\n" + instances(1);
  }
  EXPECT_THROW(read_policies(documents), BadFile);
}

TEST(Timespan, IsReadAsDotNetDoes) {
  for (const auto& [text, seconds] :
       std::vector<std::pair<const char*, double>>{{"00:00:02", 2},
                                                   {"1:30", 5400},
                                                   {"00:00:00.25", .25},
                                                   {"1.02:00:03", 93603},
                                                   {"1:02:00:03", 93603},
                                                   {"2", 172800}}) {
    EXPECT_DOUBLE_EQ(to_seconds(timespan(text)), seconds) << text;
  }
  for (const char* text : {"", "2s", "00:60:00", "24:00:00", "a:b", "1:2:3:4:5", "-00:00:01"}) {
    EXPECT_THROW(timespan(text), std::invalid_argument) << text;
  }
}

// Sections that inherit much: each had a copy of all of it, of which these took 6 GB.
TEST(HaProxy, CopiesOnlyWhatIsRead) {
  std::string text = "defaults\n  timeout server 2s\n";
  for (int i = 0; i < 50'000; ++i) text += "  timeout x" + std::to_string(i) + " 1s\n";
  for (int i = 0; i < 9'000; ++i) text += "backend b\n  server s a:1\n";
  const PolicyFile file = read_policies(text);
  ASSERT_EQ(file.policies.size(), 1u);
  EXPECT_EQ(file.policies[0].find("timeout")->value, "2s");
}

std::string istio(const std::string& route, const std::string& gateway = "mesh") {
  return "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: s}\nspec:\n"
         "  hosts: [a]\n  gateways: [" +
         gateway + "]\n  http:\n  - route: [{destination: {host: a}}]\n" + route;
}

TEST(Findings, MultiplyAlongCallsOfAMesh) {
  std::string text;
  for (const char* name : {"cart", "pay"}) {
    text +=
        std::string(
            "---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: ") +
        name +
        "}\nspec:\n  http:\n  - retries: {attempts: 3, retryOn: 5xx}\n"
        "    route: [{destination: {host: " +
        name + "}}]\n";
  }
  const PolicyFile file = read_policies(text);
  ASSERT_THAT(file.policies, SizeIs(1));
  const auto findings = layer_findings({{"a.yaml", &file.policies[0]}});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(statement_json(findings[0].note.says.at(0)).at("product"), 16);
}

TEST(Findings, MultiplyTheLayersBeforeOneHost) {
  const PolicyFile edge = read_policies(istio("    retries: {attempts: 2}\n", "edge"));
  const PolicyFile mesh = read_policies(istio("    retries: {attempts: 3}\n"));
  const auto findings =
      layer_findings({{"edge.yaml", &edge.policies[0]}, {"mesh.yaml", &mesh.policies[0]}});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(statement_json(findings[0].note.says.at(0)).at("product"), 12);
  EXPECT_THAT(layer_findings({{"a", &mesh.policies[0]}, {"b", &mesh.policies[0]}}), SizeIs(0));
}

}  // namespace
}  // namespace retrystorm::test
