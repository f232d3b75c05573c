// What arithmetic says of a policy.
#include "policies/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "policies/import.h"

namespace retrystorm::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string istio(const std::string& route, const std::string& gateway = "mesh") {
  return "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: s}\nspec:\n"
         "  hosts: [a]\n  gateways: [" +
         gateway + "]\n  http:\n  - route: [{destination: {host: a}}]\n" + route;
}

// "level rule line text" of each finding of the file's only policy.
std::string found(const std::string& text) {
  const PolicyFile file = read_policies(text);
  std::string all;
  for (const Note& each : findings_of(file.policies.front())) {
    all += std::string(each.level == Note::Level::kWarning ? "warning " : "") + each.rule + ' ' +
           std::to_string(each.line) + ' ' + each.text + '\n';
  }
  return all;
}

// Attempt k begins after k-1 timeouts: 2 x 3s = 6s are more than 5s.
TEST(Findings, CountTheAttemptsThatCanBegin) {
  const auto with = [](const std::string& timeout, const std::string& per_try) {
    return found(istio("    timeout: " + timeout +
                       "\n    retries: {attempts: 2, retryOn: 5xx, "
                       "perTryTimeout: " +
                       per_try + "}\n"));
  };
  EXPECT_THAT(with("5s", "3s"), HasSubstr("warning never-begins 10 attempt 3 of 3 never begins"));
  EXPECT_THAT(with("5s", "3s"), HasSubstr("attempt 2 is cut after 2s"));
  // Exactly filled: with the least waits (full jitter: none) the third would begin at the end.
  EXPECT_THAT(with("6s", "3s"), HasSubstr("never-begins"));
  // 3 x 1s leave no room for waits of up to 25ms and 50ms.
  EXPECT_THAT(with("3s", "1s"), Not(HasSubstr("never-begins")));
  EXPECT_THAT(with("3s", "1s"),
              HasSubstr("cut-short 10 where attempts time out, the last of 3 is cut"));
  EXPECT_THAT(with("3s", "1s"), HasSubstr("or with 975ms for each"));
  EXPECT_THAT(with("3.1s", "1s"), Not(HasSubstr("cut-short")));
}

TEST(Findings, NameCapsWaitsAndLimits) {
  std::string grpc =
      R"({"methodConfig": [{"name": [{}], "timeout": "9s", "retryPolicy": {"maxAttempts": 4,
        "initialBackoff": "0.1s", "maxBackoff": "MAX", "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE", "INTERNAL", "NOT_FOUND"]}}]})";
  const auto with = [&grpc](const std::string& most) {
    std::string text = grpc;
    return found(text.replace(text.find("MAX"), 3, most));
  };
  // 100, 200, 400 ms.
  EXPECT_THAT(with("1s"),
              HasSubstr("cap-not-reached 2 no wait reaches the cap of 1s: the last is 400ms"));
  EXPECT_THAT(with("0.4s"), Not(HasSubstr("cap-not-reached")));
  EXPECT_THAT(with("0.01s"), HasSubstr("warning cap-below-base 2"));
  EXPECT_THAT(with("1s"), HasSubstr("gets 4 times the requests; where more than 25 %"));
  // Timeouts are not retried here, but they are by Resilience4j.
  EXPECT_THAT(with("1s"), HasSubstr("hold itself if these errors cost the service its work\n"));
  EXPECT_THAT(found("resilience4j.retry.instances.a.maxAttempts=3\n"), HasSubstr("hold itself\n"));
  EXPECT_THAT(with("1s"), HasSubstr("warning permanent 3 404"));
  EXPECT_THAT(with("1s"), HasSubstr("repeats-work 3 500"));
  EXPECT_THAT(with("1s"),
              HasSubstr("no-attempt-timeout 1 an attempt that hangs takes all of the 9s"));
  EXPECT_THAT(with("1s"), Not(HasSubstr("no-jitter")));
  EXPECT_THAT(found("resilience4j.retry.instances.a.maxAttempts=3\n"),
              HasSubstr("warning no-jitter 1"));
  EXPECT_THAT(found("resilience4j.retry.instances.a.waitDuration=0\n"),
              HasSubstr("warning no-wait 1"));
  EXPECT_EQ(found("resilience4j.retry.instances.a.maxAttempts=1\n").find("no-"), std::string::npos);
  // p = 0.1 (1 - p): p = 0.1 / 1.1.
  grpc.replace(grpc.rfind('}'), 1,
               R"(, "retryThrottling": {"maxTokens": 100, "tokenRatio": 0.1}})");
  EXPECT_THAT(with("1s"),
              HasSubstr("while more than 9.1 % of the attempts fail, the retries stop"));
}

// 3 tries x 20 s; 3 x 5 s with at most 25 + 50 ms between; a limit ends it.
TEST(Findings, SayHowLongAllAttemptsTake) {
  const std::string nginx =
      "upstream b { server a:1; server b:1; server c:1; }\nlocation / { proxy_pass http://b; "
      "proxy_read_timeout 20; ";
  EXPECT_THAT(found(nginx + "}\n"), HasSubstr("long-tries 2 nothing limits the time of all "
                                              "attempts: 3 x 20s and the waits are up to 1m"));
  EXPECT_THAT(found(nginx + "proxy_next_upstream_timeout 30s; }\n"), Not(HasSubstr("long-tries")));
  const auto mesh = [](const std::string& timeout) {
    return found(istio("    timeout: " + timeout +
                       "\n    retries: {attempts: 2, retryOn: 5xx, perTryTimeout: 5s}\n"));
  };
  EXPECT_THAT(mesh("0s"), HasSubstr("3 x 5s and the waits are up to 15.1s"));
  EXPECT_THAT(mesh("20s"), Not(HasSubstr("long-tries")));
  // What the program's code may limit.
  EXPECT_THAT(found("resilience4j:\n  retry: {instances: {a: {maxAttempts: 3}}}\n"
                    "  timelimiter: {instances: {a: {timeoutDuration: 1s}}}\n"),
              Not(HasSubstr("long-tries")));
}

// Where timeouts are not retried, an attempt with a timeout of its own does not take all the time.
TEST(Findings, TellATimeoutOfATryFromThatOfAll) {
  const auto with = [](const std::string& timeout, const std::string& rest) {
    return found(istio("    timeout: " + timeout +
                       "\n    retries: {attempts: 3, retryOn: connect-failure" + rest + "}\n"));
  };
  EXPECT_THAT(with("10s", ""), HasSubstr("no-attempt-timeout"));
  EXPECT_THAT(with("10s", ", perTryTimeout: 5s"), Not(HasSubstr("no-attempt-timeout")));
  EXPECT_THAT(with("10s", ", perTryTimeout: 5s"),
              HasSubstr("cut-short 10 4 x 5s are more than the 10s"));
  EXPECT_THAT(with("30s", ", perTryTimeout: 5s"), Not(HasSubstr("cut-short")));
}

TEST(Findings, DoubtTimeLimitsOfMilliseconds) {
  const auto with = [](const std::string& timeout) {
    return found(
        "apiVersion: linkerd.io/v1alpha2\nkind: ServiceProfile\nspec:\n  routes:\n"
        "  - name: GET /feed\n    isRetryable: true\n    timeout: " +
        timeout + "\n");
  };
  EXPECT_THAT(with("4ms"), HasSubstr("warning short-timeout 7 hardly an answer comes within 4ms"));
  EXPECT_THAT(with("4s"), Not(HasSubstr("short-timeout")));
}

TEST(Findings, NameAnswersThatAreWell) {
  EXPECT_THAT(found(istio("    retries: {attempts: 2, retryOn: '5xx,204'}\n")),
              HasSubstr("warning retries-success 9 204 says that all is well"));
  EXPECT_THAT(found(istio("    retries: {attempts: 2, retryOn: '5xx,304'}\n")),
              Not(HasSubstr("retries-success")));
}

// Istio's page "Protocol selection": the name of a port before its dash, over which appProtocol stands.
TEST(Findings, NameWordsThatDoNotSeeGrpc) {
  const auto with = [](const std::string& words, const std::string& port) {
    return found(istio("    retries: {attempts: 2, retryOn: '" + words + "'}\n") +
                 (port.empty() ? ""
                               : "---\napiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n"
                                 "  ports: [" +
                                     port + "]\n"));
  };
  EXPECT_THAT(with("5xx,reset", "{name: grpc-api}"),
              HasSubstr("warning grpc-unseen 9 its service"));
  EXPECT_THAT(with("5xx", "{name: api, appProtocol: grpc}"), HasSubstr("warning grpc-unseen"));
  EXPECT_THAT(with("5xx", "{name: grpc, appProtocol: http}"), Not(HasSubstr("grpc-unseen")));
  EXPECT_THAT(with("5xx,unavailable", "{name: grpc}"), Not(HasSubstr("grpc-unseen")));
  EXPECT_THAT(with("connect-failure", "{name: grpc}"), Not(HasSubstr("grpc-unseen")));
  EXPECT_THAT(with("5xx", ""), HasSubstr("\ngrpc-unseen 9 if a service is gRPC's"));
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
  EXPECT_THAT(findings[0].note.text, HasSubstr("before 2 services"));
  EXPECT_THAT(findings[0].note.text, HasSubstr("4 x 4 = 16"));
}

TEST(Findings, MultiplyTheLayersBeforeOneHost) {
  const PolicyFile edge = read_policies(istio("    retries: {attempts: 2}\n", "edge"));
  const PolicyFile mesh = read_policies(istio("    retries: {attempts: 3}\n"));
  const auto findings =
      layer_findings({{"edge.yaml", &edge.policies[0]}, {"mesh.yaml", &mesh.policies[0]}});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].note.text, HasSubstr("a.default.svc.cluster.local"));
  EXPECT_THAT(findings[0].note.text,
              HasSubstr("3 (gateway, edge.yaml:8) x 4 (mesh, mesh.yaml:8) = 12 attempts"));
  EXPECT_THAT(layer_findings({{"a", &mesh.policies[0]}, {"b", &mesh.policies[0]}}), SizeIs(0));
}

TEST(Findings, HaveARuleEach) {
  for (const std::string& text :
       {istio("    retries: {attempts: 2}\n"), istio("    timeout: 1s\n    retries: {}\n"),
        istio("    timeout: 1ms\n    retries: {attempts: 2, retryOn: '5xx,200'}\n"),
        istio("    retries: {attempts: 2, retryOn: 5xx, perTryTimeout: 1s}\n"),
        std::string("backend b\n  mode http\n  server s a:1\n  server t b:1\n"),
        std::string("resilience4j.retry.instances.a.maxRetryAttempts=3\n")}) {
    for (const Note& each : findings_of(read_policies(text).policies.front())) {
      EXPECT_TRUE(std::any_of(kFindingRules.begin(), kFindingRules.end(),
                              [&each](const auto& rule) { return rule.name == each.rule; }))
          << each.rule;
    }
  }
}

}  // namespace
}  // namespace retrystorm::test
