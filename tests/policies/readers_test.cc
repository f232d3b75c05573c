// Policies of other programs as options: files of each kind, what they become, and what is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "policies/import.h"
#include "simulator/scenario_options.h"

namespace retrystorm::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

using NamedTexts = std::vector<std::pair<const std::string, std::string>>;

// The one policy of a file.
Policy only(const std::string& text, ReadAs as = ReadAs::kByContent) {
  PolicyFile file = read_policies(text, as);
  EXPECT_EQ(file.policies.size(), 1u);
  return file.policies.empty() ? Policy() : file.policies.front();
}

// "rule line text" of each note.
std::string said(const std::vector<Note>& notes) {
  std::string text;
  for (const Note& each : notes) {
    text += each.rule + ' ' + std::to_string(each.line) + ' ' + each.text + '\n';
  }
  return text;
}

std::string refusal_of_file(const std::string& text) {
  try {
    read_policies(text);
  } catch (const BadFile& error) {
    return error.what();
  }
  return "";
}

std::size_t line_of(const Policy& policy, std::string_view option) {
  const Setting* setting = policy.find(option);
  return setting == nullptr ? 999 : setting->line;
}

// ---- gRPC ----

constexpr const char* kGrpc = R"({
  "methodConfig": [{
    "name": [{"service": "shop.Orders", "method": "Place"}, {"service": "shop.Carts"}],
    "timeout": "2.5s",
    "retryPolicy": {
      "maxAttempts": 4,
      "initialBackoff": "0.1s",
      "maxBackoff": "1s",
      "backoffMultiplier": 1.5,
      "retryableStatusCodes": ["UNAVAILABLE", 10, "internal"]
    }
  }],
  "retryThrottling": {"maxTokens": 20, "tokenRatio": 0.25}
})";

TEST(GrpcConfig, BecomesOptionsWithTheirLines) {
  const PolicyFile file = read_policies(kGrpc);
  EXPECT_EQ(file.kind, "gRPC service config as a gRPC channel reads it");
  ASSERT_THAT(file.policies, SizeIs(1));
  const Policy& policy = file.policies.front();
  EXPECT_THAT(policy.names, ElementsAre("shop.Orders/Place", "shop.Carts"));
  EXPECT_THAT(options_of(policy),
              IsSupersetOf(NamedTexts{{"max-attempts", "4"},
                                      {"growth", "exponential"},
                                      {"backoff-base", "100ms"},
                                      {"backoff-factor", "1.5"},
                                      {"backoff-cap", "1s"},
                                      {"jitter", "proportional:0.2"},
                                      {"deadline", "2.5s"},
                                      {"deadline-check", "at-end"},
                                      {"timeout", "2.5s"},
                                      {"retry-on", "UNAVAILABLE+ABORTED+INTERNAL"},
                                      {"retry-budget", "grpc"},
                                      {"budget-tokens", "20"},
                                      {"budget-deposit", "0.25"}}));
  EXPECT_EQ(line_of(policy, "max-attempts"), 6u);
  EXPECT_EQ(line_of(policy, "deadline"), 4u);
  EXPECT_EQ(line_of(policy, "budget-tokens"), 13u);
  EXPECT_EQ(line_of(policy, "jitter"), 0u);
  EXPECT_FALSE(policy.refused);
}

std::string grpc_with(std::string_view policy, std::string_view more = "") {
  return R"({"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "9s", "retryPolicy": {)" +
         std::string(policy) + "}}]" + std::string(more) + "}";
}

constexpr std::string_view kBackoff =
    R"("initialBackoff": "1s", "maxBackoff": "9s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"])";

TEST(GrpcConfig, CountsAtMostFiveAttempts) {
  const Policy policy = only(grpc_with("\"maxAttempts\": 50.0, " + std::string(kBackoff)));
  EXPECT_EQ(policy.find("max-attempts")->value, "5");
  EXPECT_THAT(said(policy.notes), HasSubstr("hard-limit 1 maxAttempts: 50.0 counts as 5"));
}

// gRPC asks only that it is greater than zero.
TEST(GrpcConfig, MayHaveWaitsThatBecomeShorter) {
  const Policy policy = only(grpc_with(
      R"("maxAttempts": 3, "initialBackoff": "1s", "maxBackoff": "9s", "backoffMultiplier": 0.5,
         "retryableStatusCodes": ["UNAVAILABLE"])"));
  EXPECT_EQ(policy.find("backoff-factor")->value, "0.5");
  EXPECT_THAT(said(policy.notes), Not(HasSubstr("backoff-factor")));
}

// Each makes a channel refuse the whole file (grpc-go service_config.go, ServiceConfigUtil.java).
TEST(GrpcConfig, IsRefusedAsAChannelRefusesIt) {
  const std::string backoff(kBackoff);
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {grpc_with(kBackoff), "maxAttempts is missing"},
           {grpc_with("\"maxAttempts\": 1, " + backoff), "at least 2"},
           {grpc_with("\"maxAttempts\": \"many\", " + backoff), "at least 2"},
           {grpc_with("\"max_attempts\": 3, " + backoff), "maxAttempts is missing"},
           {grpc_with(R"("maxAttempts": 3, "maxBackoff": "9s", "backoffMultiplier": 2,
                         "retryableStatusCodes": ["UNAVAILABLE"])"),
            "initialBackoff is missing"},
           {grpc_with(R"("maxAttempts": 3, "initialBackoff": "1s", "maxBackoff": "9s",
                         "backoffMultiplier": 2, "retryableStatusCodes": [])"),
            "missing or empty"},
           {grpc_with("\"maxAttempts\": 3, " + backoff, R"(, "retryThrottling": {"maxTokens": 9})"),
            "tokenRatio is missing"}}) {
    const PolicyFile file = read_policies(text);
    ASSERT_THAT(file.policies, SizeIs(1)) << text;
    EXPECT_TRUE(file.policies.front().refused) << text;
    EXPECT_THAT(said(file.notes), HasSubstr("refused")) << text;
    EXPECT_THAT(said(file.notes), HasSubstr(why)) << text;
  }
  for (const char* wait : {"100ms", "1", "0s", "-1s", "1.0123456789s", "s"}) {
    const std::string text = grpc_with(
        R"("maxAttempts": 3, "maxBackoff": "9s", "backoffMultiplier": 2,
           "retryableStatusCodes": ["UNAVAILABLE"], "initialBackoff": ")" +
        std::string(wait) + '"');
    EXPECT_TRUE(read_policies(text).policies.front().refused) << wait;
  }
}

TEST(GrpcConfig, NamesFieldsThatNobodyReads) {
  const PolicyFile file = read_policies(
      grpc_with("\"maxAttempts\": 3, " + std::string(kBackoff), R"(, "loadBalacingConfig": [])"));
  EXPECT_THAT(said(file.notes), HasSubstr("no-effect 1 loadBalacingConfig is no field of a service "
                                          "config: it is skipped without a word (the field is "
                                          "loadBalancingConfig)"));
  EXPECT_THAT(said(read_policies(grpc_with("\"max_attempts\": 3, " + std::string(kBackoff))).notes),
              HasSubstr("(the field is maxAttempts)"));
}

// grpc-go's encoding/json takes any case, grpc-java's ServiceConfigUtil only its own.
TEST(GrpcConfig, HasNamesOfAnyCaseInGo) {
  const PolicyFile file = read_policies(grpc_with(
      R"("MaxAttempts": 3, "InitialBackoff": "1s", "maxBackoff": "9s", "BackoffMultiplier": 2,
         "RetryableStatusCodes": ["UNAVAILABLE"])"));
  ASSERT_THAT(file.policies, SizeIs(1));
  EXPECT_FALSE(file.policies.front().refused) << said(file.notes);
  EXPECT_THAT(options_of(file.policies.front()),
              IsSupersetOf(NamedTexts{{"max-attempts", "3"}, {"backoff-base", "1s"}}));
  EXPECT_THAT(said(file.notes),
              HasSubstr("maxAttempts and 3 more names with letters of another case"));
}

// One token less than half of 2 is not above half: gRPC retries while tokens > maxTokens / 2.
TEST(GrpcConfig, SaysWhenItsThrottlingForbidsAllRetries) {
  const auto with = [](const std::string& tokens) {
    return said(only(grpc_with("\"maxAttempts\": 3, " + std::string(kBackoff),
                               R"(, "retryThrottling": {"maxTokens": )" + tokens +
                                   R"(, "tokenRatio": 0.1})"))
                    .notes);
  };
  EXPECT_THAT(with("0.01"), HasSubstr("no-effect 1 maxTokens: 0.01"));
  EXPECT_THAT(with("2"), HasSubstr("nothing is ever retried"));
  EXPECT_THAT(with("3"), Not(HasSubstr("nothing is ever retried")));
}

TEST(GrpcConfig, OfGoogleIsReadAsItsGeneratorsDo) {
  const std::string text = R"({"methodConfig": [{"name": [{"service": "google.example.v1.A"}],
    "timeout": "60s", "retryPolicy": {)" +
                           std::string(kBackoff) + "}}]}";
  const PolicyFile gapic = read_policies(text);
  EXPECT_FALSE(gapic.policies.front().refused);
  EXPECT_THAT(options_of(gapic.policies.front()),
              IsSupersetOf(NamedTexts{{"jitter", "full"}, {"deadline", "1m"}}));
  EXPECT_THAT(said(gapic.notes), HasSubstr("a gRPC channel would refuse the whole file"));
  EXPECT_TRUE(read_policies(text, ReadAs::kGrpcChannel).policies.front().refused);
  EXPECT_THAT(options_of(only(kGrpc, ReadAs::kGapic)),
              IsSupersetOf(NamedTexts{{"jitter", "full"}, {"max-attempts", "none"}}));
}

// grpc/proposal A6: a delay that is not given is 0, of more than 5 attempts 5 count, and a code that is not
// listed is fatal.
TEST(GrpcConfig, HedgesAsItsPolicySays) {
  const auto hedging = [](const std::string& policy) {
    return R"({"methodConfig": [{"name": [{}], "timeout": "2s", "hedgingPolicy": {)" + policy +
           R"(}}], "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}})";
  };
  EXPECT_THAT(
      options_of(only(hedging(
          R"("maxAttempts": 3, "hedgingDelay": "0.1s", "nonFatalStatusCodes": ["UNAVAILABLE"])"))),
      IsSupersetOf(NamedTexts{{"hedge", "100ms"},
                              {"hedge-max", "2"},
                              {"max-retries", "0"},
                              {"retry-on", "UNAVAILABLE"},
                              {"retry-budget", "grpc"},
                              {"deadline", "2s"}}));
  const Policy plain = only(hedging(R"("maxAttempts": 9)"));
  EXPECT_THAT(options_of(plain),
              IsSupersetOf(NamedTexts{{"hedge", "0s"}, {"hedge-max", "4"}, {"retry-on", "none"}}));
  EXPECT_THAT(said(plain.notes), HasSubstr("counts as 5"));
  EXPECT_THAT(said(read_policies(hedging(R"("hedgingDelay": "1s")")).notes),
              HasSubstr("maxAttempts is missing in this hedgingPolicy"));
}

// ---- Envoy ----

constexpr const char* kEnvoy = R"(static_resources:
  listeners:
  - name: in
    filter_chains:
    - filters:
      - typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          route_config:
            virtual_hosts:
            - name: shop
              retry_policy: {retry_on: reset, num_retries: 7}
              routes:
              - match: {prefix: /orders}
                route:
                  cluster: orders
                  timeout: 3s
                  retry_policy:
                    retry_on: 5xx,retriable-status-codes
                    retriable_status_codes: [429]
                    num_retries: 2
                    per_try_timeout: 0.5s
                    retry_back_off: {base_interval: 0.1s, max_interval: 2s}
              - match: {prefix: /}
                route: {cluster: rest, timeout: 0s}
  clusters:
  - name: orders
    circuit_breakers:
      thresholds:
      - {priority: HIGH, max_retries: 99}
      - max_requests: 50
        retry_budget: {budget_percent: {value: 10}, min_retry_concurrency: 5}
  - name: rest
    circuit_breakers: {thresholds: [{max_retries: 8}]}
)";

TEST(EnvoyConfig, BecomesOptionsOfEachRoute) {
  const PolicyFile file = read_policies(kEnvoy);
  ASSERT_THAT(file.policies, SizeIs(2));
  const Policy& orders = file.policies[0];
  EXPECT_THAT(orders.names, ElementsAre("shop /orders"));
  EXPECT_THAT(options_of(orders), IsSupersetOf(NamedTexts{{"max-retries", "2"},
                                                          {"deadline", "3s"},
                                                          {"deadline-check", "at-end"},
                                                          {"timeout", "500ms"},
                                                          {"retry-on", "5xx+transport+429+timeout"},
                                                          {"growth", "exponential"},
                                                          {"backoff-base", "100ms"},
                                                          {"backoff-cap", "2s"},
                                                          {"jitter", "full"},
                                                          {"retry-budget", "envoy"},
                                                          {"budget-share", "0.1"},
                                                          {"budget-min-concurrency", "5"},
                                                          {"concurrency-limit", "fixed:50"}}));
  EXPECT_EQ(line_of(orders, "backoff-base"), 22u);
  // The virtual host's policy, as a whole; no timeout at all; its cluster's number of retries.
  const Policy& rest = file.policies[1];
  EXPECT_THAT(options_of(rest), IsSupersetOf(NamedTexts{{"max-retries", "7"},
                                                        {"backoff-base", "25ms"},
                                                        {"backoff-cap", "250ms"},
                                                        {"retry-on", "transport"},
                                                        {"budget-min-concurrency", "8"}}));
  EXPECT_EQ(rest.find("timeout"), nullptr);
  EXPECT_THAT(said(rest.notes), HasSubstr("no-deadline"));
}

std::string envoy_with(std::string_view policy, std::string_view route = "cluster: c") {
  return "virtualHosts:\n- routes:\n  - name: r\n    route:\n      " + std::string(route) +
         "\n      retryPolicy: " + std::string(policy) + "\n";
}

TEST(EnvoyConfig, HasItsDefaults) {
  EXPECT_THAT(
      options_of(only(envoy_with("{retryOn: 5xx}"))),
      IsSupersetOf(NamedTexts{{"max-retries", "1"},
                              {"deadline", "15s"},
                              {"timeout", "15s"},
                              {"retry-on", "5xx+transport"},  // no timeout of a try: not retried
                              {"retry-budget", "envoy"},
                              {"budget-min-concurrency", "3"}}));
}

TEST(EnvoyConfig, KeepsALateTryBesideItsRetry) {
  const std::string_view route =
      "cluster: c\n      hedgePolicy: {hedgeOnPerTryTimeout: true, initialRequests: 2}";
  const Policy policy = only(envoy_with("{retryOn: 5xx, perTryTimeout: 1s}", route));
  EXPECT_THAT(options_of(policy),
              IsSupersetOf(NamedTexts{{"hedge-on", "timeout"}, {"timeout", "1s"}}));
  EXPECT_THAT(said(policy.notes), HasSubstr("initial_requests: Envoy does not implement it"));
  const Policy without = only(envoy_with("{retryOn: 5xx}", route));
  EXPECT_EQ(without.find("hedge-on"), nullptr);
  EXPECT_THAT(said(without.notes), HasSubstr("no timeout of a try is retried"));
}

TEST(EnvoyConfig, SaysWhatHasNoEffect) {
  for (const auto& [policy, what] : std::vector<std::pair<std::string, std::string>>{
           {"{numRetries: 3}", "no-effect 6 a retry policy without retry_on"},
           {"{retryOn: 5xx, retriableStatusCodes: [429]}", "retriable_status_codes without"},
           {"{retryOn: '5xx,canceled'}", "canceled is no condition"},
           {"{retryOn: 'retriable-headers'}", "retriable-headers without a list"},
           {"{retryOn: 5xx, retry_budget: {budget_percent: 20}}",
            "retry_budget is no field of Envoy's retry policy"},
           {"{retryOn: 5xx, perTryTimeout: 15s}", "per_try_timeout (15s) is not below timeout"},
           {"{retryOn: 5xx, retryBackOff: {maxInterval: 1s}}", "base_interval is missing"}}) {
    EXPECT_THAT(said(only(envoy_with(policy)).notes), HasSubstr(what)) << policy;
  }
  EXPECT_EQ(only(envoy_with("{numRetries: 3}")).find("max-retries")->value, "0");
}

TEST(EnvoyConfig, OfClustersAloneHasLimitsButNoRetries) {
  const Policy policy = only(
      "- name: c\n  circuitBreakers:\n    thresholds:\n    - retryBudget: {budgetPercent: {value: 0.2}}\n");
  EXPECT_FALSE(policy.has_retries);
  EXPECT_THAT(options_of(policy), IsSupersetOf(NamedTexts{{"budget-share", "0.002"}}));
  EXPECT_THAT(said(policy.notes), HasSubstr("was 20 meant?"));
  // YAML's hexadecimal numbers: no limit.
  EXPECT_THAT(options_of(only("- name: c\n  circuitBreakers:\n    thresholds:\n    - retryBudget: "
                              "{budgetPercent: {value: 100}, minRetryConcurrency: 0xff}\n")),
              IsSupersetOf(NamedTexts{{"budget-min-concurrency", "255"}}));
}

// ---- Istio ----

std::string virtual_service(std::string_view route, std::string_view more = "") {
  return "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: shop}\n"
         "spec:\n  hosts: [orders]\n" +
         std::string(more) + "  http:\n  - route: [{destination: {host: orders}}]\n" +
         std::string(route);
}

TEST(IstioConfig, BecomesOptions) {
  const std::string rule =
      "---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: o}\n"
      "spec:\n  host: orders.default.svc.cluster.local\n  trafficPolicy:\n    connectionPool:\n"
      "      http: {maxRetries: 4, http2MaxRequests: 70}\n";
  const Policy policy = only(virtual_service("    timeout: 4s\n    retries:\n      attempts: 3\n"
                                             "      perTryTimeout: 1s\n      backoff: 50ms\n"
                                             "      retryOn: gateway-error,429\n") +
                             rule);
  EXPECT_THAT(policy.names, ElementsAre("shop route 1"));
  EXPECT_EQ(policy.layer, "mesh");
  EXPECT_THAT(options_of(policy),
              IsSupersetOf(NamedTexts{{"max-retries", "3"},
                                      {"deadline", "4s"},
                                      {"timeout", "1s"},
                                      {"backoff-base", "50ms"},
                                      {"backoff-cap", "500ms"},
                                      {"jitter", "full"},
                                      {"retry-on", "502+503+504+transport+429+timeout"},
                                      {"retry-budget", "envoy"},
                                      {"budget-min-concurrency", "4"},
                                      {"concurrency-limit", "fixed:70"}}));
  EXPECT_EQ(line_of(policy, "max-retries"), 10u);
}

TEST(IstioConfig, RetriesByDefaultAndOnlyThen) {
  const Policy standard = only(virtual_service(""));
  EXPECT_THAT(options_of(standard),
              IsSupersetOf(NamedTexts{{"max-retries", "2"}, {"retry-on", "transport"}}));
  EXPECT_EQ(line_of(standard, "max-retries"), 0u);
  EXPECT_EQ(only(virtual_service("    retries: {attempts: 0}\n")).find("max-retries")->value, "0");
  EXPECT_TRUE(only(virtual_service("    retries: {attempts: 2147483648}\n")).refused);  // an int32
  const PolicyFile nowhere = read_policies(
      "apiVersion: networking.istio.io/v1\nkind: VirtualService\nspec:\n  http:\n"
      "  - retries: {attempts: 3}\n");
  EXPECT_TRUE(nowhere.policies.at(0).refused);
  // A block without attempts has 0 of them.
  const Policy without = only(virtual_service("    retries: {perTryTimeout: 2s}\n"));
  EXPECT_EQ(without.find("max-retries")->value, "0");
  EXPECT_THAT(said(without.notes), HasSubstr("no-effect 8 retries without attempts"));
}

TEST(IstioConfig, NotesItsTraps) {
  const std::string rule =
      "---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: o}\n"
      "spec:\n  host: orders\n  trafficPolicy:\n";
  const std::string route = virtual_service("    retries: {attempts: 1, retryOn: '5xx, reset'}\n");
  EXPECT_THAT(said(only(route).notes), HasSubstr("retryOn with blanks"));
  EXPECT_THAT(said(only(route + rule + "    connectionPool: {http: {maxRetries: 0}}\n").notes),
              HasSubstr("maxRetries: 0 does not mean none"));
  EXPECT_THAT(said(only(route + rule + "    retryBudget: {minRetryConcurrency: 5}\n").notes),
              HasSubstr("versions of Istio before the fix"));
  EXPECT_THAT(said(only(route + rule + "    retryBudget: {percent: 20}\n").notes),
              HasSubstr("ignored by Istio unless a connectionPool"));
  EXPECT_THAT(
      said(only(virtual_service("    retries: {attempts: 2, retryRemoteStatuses: '500'}\n")).notes),
      HasSubstr("retryRemoteStatuses is no field of retries"));
  EXPECT_THAT(said(only(virtual_service("    fault: {abort: {httpStatus: 500}}\n")).notes),
              HasSubstr("while a fault is injected"));
  EXPECT_EQ(only(virtual_service("", "  gateways: [edge]\n")).layer, "gateway");
}

// ---- resilience4j ----

TEST(Resilience4j, IsTheSameInYamlAndInProperties) {
  const Policy yaml = only(
      "resilience4j.retry:\n  instances:\n    backend:\n      max-attempts: 4\n"
      "      waitDuration: 200\n      enableExponentialBackoff: true\n"
      "      exponentialBackoffMultiplier: 3\n      exponential_max_wait_duration: PT2S\n"
      "      enableRandomizedWait: true\n      randomizedWaitFactor: 0.4\n");
  const Policy properties = only(
      "spring.datasource.password=hunter2\n"
      "resilience4j.retry.instances.backend.maxAttempts=4\n"
      "resilience4j.retry.instances.backend.wait-duration : 200ms\n"
      "resilience4j.retry.instances.backend.enableExponentialBackoff=\\\n  true\n"
      "resilience4j.retry.instances.backend.exponentialBackoffMultiplier = 3\n"
      "resilience4j.retry.instances.backend.exponentialMaxWaitDuration=2s\n"
      "#resilience4j.retry.instances.backend.maxAttempts=9\n"
      "resilience4j.retry.instances.backend.enableRandomizedWait=true\n"
      "resilience4j.retry.instances.backend.randomizedWaitFactor=0.4\n");
  EXPECT_THAT(options_of(yaml), IsSupersetOf(NamedTexts{{"max-attempts", "4"},
                                                        {"growth", "exponential"},
                                                        {"backoff-base", "200ms"},
                                                        {"backoff-factor", "3"},
                                                        {"backoff-cap", "2s"},
                                                        {"cap-applies", "after-jitter"},
                                                        {"jitter", "proportional:0.4"}}));
  EXPECT_EQ(options_of(yaml), options_of(properties));
  EXPECT_EQ(line_of(yaml, "max-attempts"), 4u);
  EXPECT_EQ(line_of(properties, "growth"), 4u);
}

// ConfigUtils.mergePropertiesIfAny and CommonRetryConfigurationProperties.
TEST(Resilience4j, InheritsAsItsSourceDoes) {
  const std::string base =
      "resilience4j:\n  retry:\n    configs:\n      default:\n        maxAttempts: 6\n"
      "        waitDuration: 10s\n        enableRandomizedWait: true\n"
      "        randomizedWaitFactor: 0.1\n    instances:\n      a:\n";
  // Without a waitDuration of its own it has the waits of its base, whatever else it says.
  const Policy idle = only(base + "        enableExponentialBackoff: true\n");
  EXPECT_THAT(options_of(idle), IsSupersetOf(NamedTexts{{"max-attempts", "6"},
                                                        {"growth", "constant"},
                                                        {"backoff-base", "10s"},
                                                        {"jitter", "proportional:0.1"}}));
  EXPECT_THAT(said(idle.notes),
              HasSubstr("no-effect 11 enableExponentialBackoff: true has no effect"));
  // With one, all but the factor of randomness comes from the base.
  const Policy own = only(base + "        waitDuration: 1s\n");
  EXPECT_THAT(options_of(own),
              IsSupersetOf(NamedTexts{{"backoff-base", "1s"}, {"jitter", "proportional:0.5"}}));
  EXPECT_THAT(said(own.notes), HasSubstr("no-effect 8 randomizedWaitFactor: 0.1"));
  // (configureExponentialBackoff...: without a multiplier there is no cap.)
  const Policy uncapped = only(
      "resilience4j.retry.instances.a:\n  waitDuration: 1s\n  enableExponentialBackoff: true\n"
      "  exponentialMaxWaitDuration: 9s\n");
  EXPECT_EQ(uncapped.find("backoff-cap"), nullptr);
  EXPECT_EQ(uncapped.find("backoff-factor")->value, "1.5");
  EXPECT_THAT(said(uncapped.notes), HasSubstr("no-effect 4 exponentialMaxWaitDuration: 9s"));
  // Other configurations begin with `default`.
  EXPECT_EQ(only("resilience4j.retry:\n  configs:\n    default: {maxAttempts: 6}\n"
                 "    x: {waitDuration: 2s}\n  instances: {a: {baseConfig: x}}\n")
                .find("max-attempts")
                ->value,
            "6");
  const Policy lost = only(base + "        baseConfig: other\n");
  EXPECT_TRUE(lost.refused);
}

TEST(Resilience4j, HasItsDefaultsAndItsVersions) {
  const Policy plain = only("resilience4j.retry.instances.a.max-attempts=3\n");
  EXPECT_THAT(options_of(plain),
              IsSupersetOf(NamedTexts{
                  {"max-attempts", "3"}, {"growth", "constant"}, {"backoff-base", "500ms"}}));
  const Policy old = only(
      "resilience4j.retry.instances.a.maxRetryAttempts=5\n"
      "resilience4j.retry.instances.a.waitDuration=1s\n");
  EXPECT_EQ(old.find("max-attempts")->value, "3");
  EXPECT_THAT(said(old.notes), HasSubstr("version 1 maxRetryAttempts: 5: removed"));
  // resilience4j's issue 1077: with 1.5 this means 3.
  EXPECT_THAT(said(plain.notes),
              HasSubstr("version 1 read as 2.x; before 1.7 the key was maxRetryAttempts"));
  EXPECT_TRUE(only("resilience4j.retry.instances.a.max-attempts=0\n").refused);
  EXPECT_EQ(
      only("resilience4j.retry.instances.a.max-attempts=${N:7}\n").find("max-attempts")->value,
      "7");
  EXPECT_TRUE(only("resilience4j.retry.instances.a.max-attempts=${N}\n").refused);
}

TEST(Resilience4j, JoinsWhatHasOneName) {
  const Policy policy = only(
      "resilience4j:\n  retry: {instances: {a: {maxAttempts: 2}}}\n"
      "  circuitbreaker:\n    instances:\n      a:\n        slidingWindowSize: 20\n"
      "        failureRateThreshold: 40\n        waitDurationInOpenState: 5s\n"
      "      b: {slidingWindowSize: 7}\n"
      "  timelimiter: {instances: {a: {timeoutDuration: 3s}}}\n");
  EXPECT_THAT(options_of(policy), IsSupersetOf(NamedTexts{{"max-attempts", "2"},
                                                          {"breaker", "resilience4j"},
                                                          {"breaker-calls", "20"},
                                                          {"breaker-min-calls", "20"},
                                                          {"breaker-failure-share", "0.4"},
                                                          {"breaker-open-for", "5s"},
                                                          {"when-refused", "back-off"},
                                                          {"timeout", "3s"}}));
}

TEST(Resilience4j, HasAPolicyForEachProfileThatDiffers) {
  const PolicyFile file = read_policies(
      "resilience4j.retry.instances.a.maxAttempts: 2\n---\n"
      "spring.config.activate.on-profile: prod\n"
      "resilience4j.retry.instances.a.maxAttempts: 5\n---\n"
      "spring.config.activate.on-profile: test\nserver.port: 1\n");
  ASSERT_THAT(file.policies, SizeIs(2));
  EXPECT_THAT(file.policies[0].names, ElementsAre("a", "a (profile test)"));
  EXPECT_THAT(file.policies[1].names, ElementsAre("a (profile prod)"));
  EXPECT_EQ(file.policies[1].find("max-attempts")->value, "5");
}

// ---- AWS ----

TEST(AwsConfig, HasAPolicyForEachProfile) {
  const PolicyFile file = read_policies(
      "[default]\nregion = eu-north-1\nretry_mode = legacy\n\n"
      "# max_attempts = 99\n[profile batch]\nretry_mode = adaptive\n"
      "s3 =\n  max_attempts = 3\nmax_attempts = 20 ; many\n"
      "[sso-session x]\nmax_attempts = 9\n[profile quiet]\nregion = x\n");
  ASSERT_THAT(file.policies, SizeIs(2));
  EXPECT_THAT(options_of(file.policies[0]), IsSupersetOf(NamedTexts{{"strategy", "aws-legacy"}}));
  EXPECT_THAT(options_of(file.policies[1]),
              IsSupersetOf(NamedTexts{{"strategy", "aws-adaptive"}, {"max-attempts", "20"}}));
  EXPECT_THAT(file.policies[1].names, ElementsAre("profile batch"));
  EXPECT_EQ(line_of(file.policies[1], "max-attempts"), 10u);
}

// aws-cli topics/config-vars.rst: of the command line, in seconds, 0 for none.
TEST(AwsConfig, HasTheTimeoutOfTheCommandLine) {
  const Policy policy = only("[default]\nretry_mode = standard\ncli_read_timeout = 45\n");
  EXPECT_EQ(policy.find("timeout")->value, "45s");
  EXPECT_THAT(said(policy.notes), HasSubstr("assumed 3 cli_read_timeout is of the command line"));
  EXPECT_EQ(only("[default]\nretry_mode = standard\ncli_read_timeout = 0\n").find("timeout"),
            nullptr);
}

TEST(AwsConfig, AsksWhoReadsItWhereItHasNoMode) {
  const std::string text = "[default]\nmax_attempts = 1\n";
  EXPECT_EQ(only(text).find("strategy")->value, "aws-standard");
  EXPECT_EQ(only(text, ReadAs::kBotocore).find("strategy")->value, "aws-legacy");
  EXPECT_THAT(options_of(only("AWS_MAX_ATTEMPTS=4\nAWS_RETRY_MODE='standard'\n")),
              IsSupersetOf(NamedTexts{{"strategy", "aws-standard"}, {"max-attempts", "4"}}));
  EXPECT_TRUE(only("[default]\nretry_mode = eager\n").refused);
}

// configloader.py of botocore: two sections, of which the last one counts as a whole. The other SDKs take
// [profile default] (AWS SDKs and Tools Reference Guide, "Shared config and credentials files").
TEST(AwsConfig, HasOneDefaultOfTwoForms) {
  const std::string plain = "[default]\nretry_mode = standard\nmax_attempts = 1\n",
                    prefixed = "[profile default]\nmax_attempts = 2\n";
  const auto attempts = [](const std::string& text, ReadAs as) {
    const Policy policy = only(text, as);
    EXPECT_FALSE(policy.refused) << text;
    return policy.find("max-attempts")->value;
  };
  EXPECT_EQ(attempts(plain + prefixed, ReadAs::kBotocore), "2");
  EXPECT_EQ(attempts(prefixed + plain, ReadAs::kBotocore), "1");
  EXPECT_EQ(attempts(plain + prefixed, ReadAs::kAwsSdk), "2");
  EXPECT_EQ(attempts(prefixed + plain, ReadAs::kAwsSdk), "2");
  // Nothing is left of the section that does not count.
  EXPECT_EQ(only(plain + prefixed, ReadAs::kBotocore).find("strategy")->value, "aws-legacy");
  EXPECT_THAT(said(only(plain + prefixed).notes), HasSubstr("assumed 4 [NAME] and"));
  EXPECT_TRUE(only(plain + prefixed + plain, ReadAs::kBotocore).refused);
}

// ---- all ----

TEST(PolicyFiles, OfOtherKindsAreRefusedInOneLine) {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "no retry policy"},
           {"[]", "no retry policy"},
           {"hello", "no retry policy"},
           {"apiVersion: argoproj.io/v1alpha1\nretryPolicy: Always\n", "Argo's"},
           {"apiVersion: getambassador.io/v3\nspec: {retry_policy: {retry_on: 5xx}}\n",
            "Emissary's"},
           {"litellm_settings: {num_retries: 2}\n", "LiteLLM's"},
           {"services:\n  a:\n    healthcheck:\n      retries: 3\n", "a compose file"},
           {"#!/bin/sh\nexport AWS_MAX_ATTEMPTS=3\n", "a script"},
           {"export AWS_MAX_ATTEMPTS=${N:-3}\n", "a script"},
           {"retries:\n{{ if .Values.x }}\n  attempts: 3\n", "template"},
           {"// note\nresilience4j:\n  retry: {{x}}\n", "template"},
           {"a: b\n c: d\n", "line 2"},
           {"apiVersion: networking.istio.io/v1\nkind: VirtualService\nspec: {}\n",
            "there is no retry policy in it"},
           {"[default]\nregion = x\n", "there is no retry policy in it"}}) {
    const std::string message = refusal_of_file(text);
    EXPECT_THAT(message, HasSubstr(why)) << text;
    EXPECT_THAT(message, Not(HasSubstr("\n"))) << text;
  }
}

// What is printed is a settings file: read again, it gives the same options, and none is refused.
TEST(PolicyFiles, BecomeSettingsThatCanBeRun) {
  for (const std::string& text :
       {std::string(kGrpc), std::string(kEnvoy), envoy_with("{numRetries: 3}"),
        virtual_service("    retries: {attempts: 0, perTryTimeout: 1s}\n"), virtual_service(""),
        grpc_with("\"maxAttempts\": 3, " + std::string(kBackoff)),
        std::string("resilience4j.retry.instances.a.maxAttempts=1\n"),
        std::string("[default]\nmax_attempts = 1\n")}) {
    const PolicyFile file = read_policies(text);
    for (const Policy& policy : file.policies) {
      const std::string settings = settings_text(file, policy, "some\n\x1b[1mfile");
      EXPECT_THAT(settings, Not(HasSubstr("\x1b")));
      ScenarioOptions printed;
      OptionList list;
      declare_options(list, printed);
      EXPECT_NO_THROW(list.apply(settings)) << settings;
      UnusedOptions unused;
      find_unused(unused, printed);
      EXPECT_THAT(unused, SizeIs(0)) << settings;
      EXPECT_NO_THROW(check(printed.workload.retry)) << settings;
    }
  }
}

TEST(PolicyFiles, NameTheStrategyThatTheyAre) {
  // gRPC's example in its proposal A6, which is the named strategy.
  const std::string text = R"({"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4,
    "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"]}}],
    "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}})";
  const PolicyFile file = read_policies(text);
  EXPECT_THAT(settings_text(file, file.policies.front(), "f"), HasSubstr("\nstrategy = grpc\n"));
  const PolicyFile plain = read_policies("resilience4j.retry.instances.a.maxAttempts=3\n");
  EXPECT_THAT(settings_text(plain, plain.policies.front(), "f"),
              HasSubstr("\nstrategy = resilience4j-retry\n"));
}

TEST(PolicyFiles, NeverShowWhatIsNotOfAPolicy) {
  const std::string secret = "hunter2";
  const std::string text = "spring:\n  datasource:\n    password: " + secret +
                           "\nresilience4j.retry.instances.a.maxAttempts: 3\n";
  const PolicyFile file = read_policies(text);
  EXPECT_THAT(settings_text(file, file.policies.front(), "f"), Not(HasSubstr(secret)));
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
  EXPECT_THAT(refusal_of_file(profiles(10'001)), HasSubstr("more than 10000 policies"));

  const auto instances = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 1; i <= count; ++i) {
      const std::string n = std::to_string(i);
      text += "resilience4j.retry.instances.a" + n + ".maxAttempts=" + n + "\n";
    }
    return text;
  };
  EXPECT_THAT(read_policies(instances(100)).policies, SizeIs(100));
  EXPECT_THAT(refusal_of_file(instances(401)), HasSubstr("more than 400 different policies"));
  std::string documents = instances(1);
  for (int i = 0; i <= 100; ++i) {
    documents +=
        "#---\nspring.config.activate.on-profile=p" + std::to_string(i) + "\n" + instances(1);
  }
  EXPECT_THAT(refusal_of_file(documents), HasSubstr("more than 100 profiles"));
}

// Python's configparser, with which botocore reads, refuses a section that is there twice.
TEST(Aws, ReadsAProfileThatIsThereTwiceAsOne) {
  const std::string twice =
      "[default]\nretry_mode=legacy\n[profile b]\nretry_mode=standard\n[default]\n"
      "max_attempts=7\nretry_mode=adaptive\n";
  const PolicyFile file = read_policies(twice);
  ASSERT_THAT(file.policies, SizeIs(2));
  EXPECT_THAT(options_of(file.policies[0]),
              IsSupersetOf(NamedTexts{{"strategy", "aws-adaptive"}, {"max-attempts", "7"}}));
  EXPECT_THAT(said(file.notes), HasSubstr("assumed 5 profile default is there twice"));
  const PolicyFile botocore = read_policies(twice, ReadAs::kBotocore);
  EXPECT_TRUE(botocore.policies[0].refused);
  EXPECT_TRUE(botocore.policies[1].refused);
  EXPECT_THAT(said(botocore.notes), HasSubstr("refused 5 profile default is there twice"));
}

TEST(Printable, KeepsTextsAndNoControlCharacters) {
  EXPECT_EQ(printable("gr\xC3\xB6\xC3\x9F"
                      "e.yaml"),
            "gr\xC3\xB6\xC3\x9F"
            "e.yaml");
  EXPECT_EQ(printable("\x1B[2J\n\x7F"), "?[2J??");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J"),
            "?2J");  // CSI of Unicode
  EXPECT_EQ(printable("\xF0\x9F\x98\x80\xC2"), "\xF0\x9F\x98\x80\xC2");
}

}  // namespace
}  // namespace retrystorm::test
