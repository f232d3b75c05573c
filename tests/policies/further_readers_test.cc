// Policies of further programs as options: .NET, Gateway API, Linkerd, NGINX, HAProxy. Files of each,
// what they become by the programs' own rules, and what is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "policies/import.h"
#include "policies/values.h"
#include "simulator/scenario_options.h"

namespace retrystorm::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

using NamedTexts = std::vector<std::pair<const std::string, std::string>>;

// What a file says: the options of its first policy, and "rule line text" of all notes.
struct Row {
  const char* what;
  std::string text;
  NamedTexts options;
  std::vector<std::string> notes;
  bool refused = false;
  ReadAs as = ReadAs::kByContent;
};

std::string said(const PolicyFile& file) {
  std::string text;
  for (const Note& each : file.notes) {
    text += each.rule + ' ' + std::to_string(each.line) + ' ' + each.text + '\n';
  }
  for (const Policy& policy : file.policies) {
    for (const Note& each : policy.notes) {
      text += each.rule + ' ' + std::to_string(each.line) + ' ' + each.text + '\n';
    }
  }
  return text;
}

void expect_rows(std::string_view kind, const std::vector<Row>& rows) {
  for (const Row& each : rows) {
    SCOPED_TRACE(each.what);
    const PolicyFile file = read_policies(each.text, each.as);
    EXPECT_THAT(file.kind, HasSubstr(std::string(kind)));
    ASSERT_FALSE(file.policies.empty());
    EXPECT_EQ(file.policies.front().refused, each.refused);
    EXPECT_THAT(options_of(file.policies.front()), IsSupersetOf(each.options));
    for (const std::string& note : each.notes) EXPECT_THAT(said(file), HasSubstr(note));
  }
}

// ---- .NET ----

std::string handler(const std::string& parts) {
  return "// settings\n{\"Logging\": {\"Url\": \"http://a\"},\n\"Clients\": {\"Orders\": {\n" +
         parts + "}}, }";
}

TEST(DotNet, IsTheStandardHandler) {
  expect_rows(
      ".NET",
      {{"defaults, and names in any case",
        handler(
            "\"retry\": {\"maxretryattempts\": \"3\"}, \"AttemptTimeout\": {\"Timeout\": \"0:0:10\"}"),
        {{"max-retries", "3"},
         {"timeout", "10s"},
         {"deadline", "30s"},
         {"jitter", "polly"},
         {"backoff-base", "2s"},
         {"concurrency-limit", "fixed:1000"}},
        {}},
       {"times, and a breaker",
        handler(R"("Retry": {"MaxRetryAttempts": 2, "Delay": "00:00:00.1", "MaxDelay": "00:01:00"},
          "TotalRequestTimeout": {"Timeout": "00:00:05"}, "AttemptTimeout": {"Timeout": "00:00:01"},
          "CircuitBreaker": {"FailureRatio": 0.25, "MinimumThroughput": 20,
            "SamplingDuration": "00:00:10", "BreakDuration": "0.00:00:07"},
          "RateLimiter": {"DefaultRateLimiterOptions": {"PermitLimit": 50}})"),
        {{"max-retries", "2"},
         {"backoff-base", "100ms"},
         {"backoff-cap", "1m"},
         {"jitter", "polly"},
         {"deadline", "5s"},
         {"deadline-check", "at-end"},
         {"timeout", "1s"},
         {"breaker", "polly"},
         {"breaker-failure-share", "0.25"},
         {"breaker-min-calls", "20"},
         {"breaker-time", "10s"},
         {"breaker-open-for", "7s"},
         {"concurrency-limit", "fixed:50"},
         {"retry-after", "replace"}},
        {}},
       {"linear waits grow by the first: (n + 1) x Delay, a quarter more or less",
        handler(R"("Retry": {"BackoffType": "Linear", "Delay": "00:00:01"})"),
        {{"growth", "linear"},
         {"backoff-base", "1s"},
         {"backoff-step", "1s"},
         {"jitter", "proportional:0.25"}},
        {"Retry alone in its section"}},
       {"the number of DelayBackoffType stands for its name",
        handler(R"("Retry": {"BackoffType": 1, "MaxRetryAttempts": 2})"),
        {{"growth", "linear"}},
        {"Retry alone in its section"}},
       {"a name that nobody reads",
        handler(R"("Retry": {"Backoff": "Linear", "UseJitter": false, "MaxRetryAttempts": 3})"),
        {{"growth", "exponential"}, {"max-retries", "3"}},
        {"no-effect 4 Backoff is no property of the retry options: .NET skips it without a word (the "
         "field is BackoffType)"}},
       {"0 does not mean off",
        handler(R"("Retry": {"MaxRetryAttempts": 0})"),
        {},
        {"refused 4"},
        true},
       {"a second has no more than 59",
        handler(R"("Retry": {"MaxRetryAttempts": 1, "Delay": "00:00:00:100"})"),
        {},
        {"minutes and seconds to 59"},
        true},
       {"an attempt longer than all",
        handler(
            R"("TotalRequestTimeout": {"Timeout": "00:00:05"}, "Retry": {"MaxRetryAttempts": 1})"),
        {},
        {"AttemptTimeout (10s) is above TotalRequestTimeout (5s): the start fails"},
        true},
       {"a window below two attempts",
        handler(R"("AttemptTimeout": {"Timeout": "00:00:20"})"),
        {},
        {"SamplingDuration (30s) is below twice AttemptTimeout (20s)"},
        true},
       {"retries alone",
        handler(R"("BackoffType": "Constant", "UseJitter": false, "MaxRetryAttempts": 4)"),
        {{"growth", "constant"}, {"backoff-base", "2s"}, {"max-retries", "4"}},
        {"read as HttpRetryStrategyOptions"}}});
}

TEST(DotNet, OfNoOptionsIsTheNamedStrategy) {
  const PolicyFile file = read_policies(handler(R"("Retry": {"MaxRetryAttempts": 3})"));
  EXPECT_THAT(settings_text(file, file.policies.at(0), "f"), HasSubstr("strategy = polly\n"));
}

// Its middlewares in TOML, in labels of containers and in objects of Kubernetes.
TEST(Traefik, IsRefusedWithWhatIsRead) {
  for (const char* text :
       {"[http.middlewares.m.retry]\nattempts = 3\ninitialInterval = \"200ms\"\n",
        "services:\n  a:\n    labels:\n    - traefik.http.middlewares.m.retry.attempts=3\n",
        "apiVersion: traefik.io/v1alpha1\nkind: Middleware\nspec:\n  retry: {attempts: 3}\n"}) {
    EXPECT_THAT([text] { read_policies(text); },
                ::testing::ThrowsMessage<BadFile>(
                    HasSubstr("this looks like Traefik's: that is not read here; what is read is a "
                              "gRPC service config")));
  }
}

TEST(DotNet, RefusesNamesOfItsOwn) {
  for (const char* text :
       {R"({"ConnectionStrings": {"Db": "Password=secret"}, "Policies": {"RetryCount": 3}})",
        R"({"AllowedHosts": "*", "Retries": {"MaxRetryAttempts": 5, "DelayInSeconds": 9}})"}) {
    try {
      read_policies(text);
      ADD_FAILURE() << text;
    } catch (const BadFile& error) {
      EXPECT_THAT(error.what(), HasSubstr("names of its own"));
      EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
    }
  }
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

// ---- Gateway API ----

std::string route(const std::string& rule) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\nspec:\n"
         "  parentRefs: [{name: g}]\n  rules:\n  - backendRefs: [{name: s, port: 80}]\n" +
         rule;
}

std::string traffic(const std::string& target, const std::string& spec) {
  return "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\n"
         "metadata: {name: p}\nspec:\n  targetRef: {kind: " +
         target + "}\n" + spec;
}

TEST(GatewayApi, RoutesBecomeOptions) {
  const std::string retry =
      "    retry: {attempts: 3, codes: [500, 503], backoff: 1m30s}\n"
      "    timeouts: {request: 10s, backendRequest: 2s}\n";
  expect_rows(
      "Gateway API",
      {{"codes beside failed connections",
        route(retry),
        {{"max-retries", "3"},
         {"backoff-base", "1m30s"},
         {"deadline", "10s"},
         {"timeout", "2s"},
         {"retry-on", "transport+500+503"},
         {"retry-budget", "none"}},
        {"assumed 8 waits, attempts that are not given"}},
       {"no attempts: Istio has 2, and no timeout",
        route("    retry: {codes: [502]}\n"),
        {{"max-retries", "2"}, {"retry-on", "transport+502"}, {"deadline", "none"}},
        {"no-deadline"},
        false,
        ReadAs::kIstio},
       {"no codes: Envoy Gateway retries 503, within 15 s",
        route("    retry: {attempts: 1}\n"),
        {{"retry-on", "transport+503"}, {"deadline", "15s"}, {"budget-min-concurrency", "1024"}},
        {},
        false,
        ReadAs::kEnvoyGateway},
       {"fractions are refused",
        route("    retry: {attempts: 1, backoff: 0.5s}\n"),
        {},
        {"refused 8 backoff"},
        true},
       {"an unknown field",
        route("    retry: {attempts: 1, backOff: 1s}\n"),
        {{"backoff-base", "25ms"}},
        {"no-effect 8 backOff is no field of retry: the API server drops it (the field is backoff)"}}});
}

TEST(EnvoyGateway, PoliciesAreForRoutesAndGateways) {
  const std::string retry =
      "  retry:\n    numRetries: 5\n    retryOn: {triggers: [5xx, retriable-status-codes], "
      "httpStatusCodes: [429]}\n"
      "    perRetry: {timeout: 250ms, backOff: {baseInterval: 100ms, maxInterval: 10s}}\n";
  const NamedTexts expected{{"max-retries", "5"},      {"timeout", "250ms"},
                            {"backoff-base", "100ms"}, {"backoff-cap", "10s"},
                            {"deadline", "15s"},       {"retry-on", "5xx+transport+429+timeout"}};
  expect_rows(
      "Envoy Gateway",
      {{"of a route", route("") + traffic("HTTPRoute, name: r", retry), expected, {}},
       {"of its gateway", route("") + traffic("Gateway, name: g", retry), expected, {}},
       {"for nothing in the file",
        route("") + traffic("Gateway, name: other", retry),
        expected,
        {"the routes that it is for are not in the file"}},
       {"a route's own retry is first",
        route("    retry: {attempts: 1}\n") + traffic("HTTPRoute, name: r", retry),
        {{"max-retries", "1"}},
        {"retry of the BackendTrafficPolicy has no effect"}},
       {"a budget is a fraction",
        route("") + traffic("HTTPRoute, name: r",
                            retry + "  circuitBreaker:\n    maxParallelRetries: 9\n"
                                    "    maxParallelRequests: 4294967295\n"
                                    "    retryBudget: {percent: {numerator: 1, denominator: 8}, "
                                    "minRetryConcurrency: 2}\n"),
        {{"retry-budget", "envoy"}, {"budget-share", "0.125"}, {"budget-min-concurrency", "2"}},
        {"maxParallelRetries: 9 has no effect beside the retryBudget"}},
       {"a field that the API server drops",
        traffic("Gateway, name: g", "  retry: {perRetry: {backoff: {baseInterval: 1s}}}\n"),
        {{"backoff-base", "25ms"}, {"max-retries", "2"}},
        {"no-effect 7 backoff is no field of perRetry: the API server drops it (the field is "
         "backOff)"}}});
}

// A share of the requests, and some retries a second, which are counted over a time.
TEST(GatewayApi, HasABudgetOverTime) {
  expect_rows(
      "Gateway API",
      {{"3 in 2 s",
        "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackendTrafficPolicy\n"
        "metadata: {name: b}\nspec:\n  retryConstraint:\n"
        "    budget: {percent: 30, interval: 5s}\n    minRetryRate: {count: 3, interval: 2s}\n",
        {{"retry-budget", "finagle"},
         {"budget-deposit", "0.3"},
         {"budget-ttl", "5s"},
         {"budget-minimum-rate", "1.5"}},
        {}}});
}

// ---- Linkerd ----

std::string profile(const std::string& spec) {
  return "apiVersion: linkerd.io/v1alpha2\nkind: ServiceProfile\nmetadata: {name: a.b.svc.cluster.local}\n"
         "spec:\n" +
         spec;
}

std::string annotated(const std::string& annotations) {
  return "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n" + annotations;
}

TEST(Linkerd, BecomesOptions) {
  const std::string routes = "  routes:\n  - {name: r, isRetryable: true}\n";
  expect_rows(
      "Linkerd",
      {{"the default budget",
        profile(routes),
        {{"growth", "none"},
         {"retry-on", "5xx"},
         {"retry-budget", "tower"},
         {"budget-deposit", "0.2"},
         {"budget-minimum-rate", "10"},
         {"budget-ttl", "10s"},
         {"deadline", "10s"}},
        {}},
       {"a budget of its own",
        profile(routes + "  retryBudget: {retryRatio: 0.001, minRetriesPerSecond: 7, ttl: 30s}\n"),
        {{"budget-deposit", "0.001"}, {"budget-minimum-rate", "7"}, {"budget-ttl", "30s"}},
        {"percent 7 retryRatio: 0.001 is a share, 0.1 % of the requests: the 7 retries a second"}},
       {"a method that is none",
        profile("  routes:\n  - {name: r, isRetryable: true, condition: {method: GET /r/}}\n"),
        {},
        {"no-effect 6 method: GET /r/ is no method"}},
       {"a part of a budget",
        profile(routes + "  retryBudget: {retryRatio: 0.5}\n"),
        {},
        {"ttl is missing: a retryBudget has all of its fields"}},
       {"failures of its own",
        profile("  routes:\n  - name: r\n    isRetryable: true\n    responseClasses:\n"
                "    - {condition: {status: {min: 502, max: 503}}, isFailure: true}\n"),
        {{"retry-on", "502+503"}},
        {}},
       {"no retries",
        profile("  routes:\n  - {name: r, retries: 3, timeout: 5s}\n"),
        {{"max-retries", "0"}, {"deadline", "5s"}},
        {"no-effect 6 retries is no field of a route: the API server drops it, and without isRetryable "
         "nothing is retried"}},
       {"annotations",
        annotated("    retry.linkerd.io/http: 5xx,429\n    retry.linkerd.io/limit: \"2\"\n"
                  "    retry.linkerd.io/timeout: 300ms\n    timeout.linkerd.io/request: 2s\n"),
        {{"max-retries", "2"},
         {"timeout", "300ms"},
         {"deadline", "2s"},
         {"retry-on", "429+5xx+timeout"},
         {"retry-budget", "none"}},
        {"64 KiB", "a ServiceProfile of the same service"}},
       {"gRPC's statuses",
        annotated("    retry.linkerd.io/grpc: resource-exhausted\n"),
        {{"max-retries", "1"}, {"retry-on", "429"}},
        {}},
       {"nothing to retry",
        annotated("    retry.linkerd.io/limit: \"2\"\n"),
        {{"max-retries", "0"}},
        {"no-effect 6 without retry.linkerd.io/http or /grpc nothing is retried"}},
       {"an annotation that there is not",
        annotated("    retry.linkerd.io/http: 5xx\n    retry.linkerd.io/codes: 429\n"),
        {{"retry-on", "5xx"}},
        {"no-effect 7 retry.linkerd.io/codes is no annotation of Linkerd"}},
       {"fractions are refused",
        annotated("    retry.linkerd.io/http: 5xx\n    retry.linkerd.io/timeout: 0.5s\n"),
        {},
        {"refused 7"},
        true}});
}

// Routes of the Gateway API with and without Linkerd's annotations.
TEST(Linkerd, StandsBesideTheGatewayApi) {
  const std::string plain =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: plain}\n"
      "spec: {rules: [{retry: {attempts: 3, codes: [503]}}]}\n";
  const std::string ours =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: ours, annotations: "
      "{retry.linkerd.io/http: 5xx, retry.linkerd.io/limit: '2'}}\nspec: {rules: [{}]}\n";
  for (const std::string& text : {plain + "---\n" + ours, ours + "---\n" + plain}) {
    const PolicyFile file = read_policies(text);
    EXPECT_EQ(file.kind, "Gateway API configuration, and Linkerd configuration");
    ASSERT_EQ(file.policies.size(), 2u);
    EXPECT_EQ(file.policies[0].find("max-retries")->value, "3");
    EXPECT_EQ(file.policies[1].find("max-retries")->value, "2");
  }
}

// ---- NGINX ----

std::string nginx(const std::string& directives, const std::string& pass = "http://b/x") {
  return "upstream b { server a:1; server a:2; server a:3 down; server a:4 backup; }\nserver {\n"
         "  proxy_read_timeout 10; # seconds\n  location /p {\n" +
         directives + "    proxy_pass " + pass + ";\n  }\n}\n";
}

TEST(Nginx, BecomesOptions) {
  expect_rows(
      "NGINX",
      {{"each server of the upstream once, at once",
        nginx(""),
        {{"max-attempts", "3"},
         {"growth", "none"},
         {"timeout", "10s"},
         {"retry-on", "transport+timeout"}},
        {"POST, LOCK and PATCH"}},
       {"tries and conditions",
        nginx("    proxy_next_upstream error http_502 http_429 non_idempotent;\n"
              "    proxy_next_upstream_tries 2;\n"),
        {{"max-attempts", "2"}, {"retry-on", "429+502+transport"}},
        {"repeats-work 5 non_idempotent"}},
       {"no limit in time for all tries", nginx(""), {{"deadline", "none"}}, {}},
       {"a timeout takes all the time",
        nginx("    proxy_next_upstream_timeout 10s;\n"),
        {{"retry-on", "transport"}},
        {"no-effect 5 a try that times out, after 10s, is never followed by another"}},
       {"off", nginx("    proxy_next_upstream off;\n"), {{"max-retries", "0"}}, {}},
       {"one server",
        nginx("", "http://127.0.0.1:80"),
        {{"max-attempts", "1"}},
        {"never tried twice"}},
       {"no condition",
        nginx("    proxy_next_upstream error http_400;\n"),
        {},
        {"refused 5 http_400 is no condition"},
        true},
       {"another module",
        "upstream b { server a:1; server a:2; }\nlocation / { grpc_read_timeout 1m; grpc_pass grpc://b; }\n",
        {{"max-attempts", "2"}, {"timeout", "1m"}},
        {}}});
  expect_rows(
      "Ingress",
      {{"the controller tries 3 times",
        "kind: Ingress\napiVersion: networking.k8s.io/v1\nmetadata:\n  name: i\n  annotations:\n"
        "    nginx.ingress.kubernetes.io/proxy-read-timeout: \"7\"\n",
        {{"max-attempts", "3"}, {"timeout", "7s"}},
        {}}});
}

TEST(Nginx, IsRefusedWithItsLine) {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"location / {\n proxy_pass http://b;\n", "not closed"},
           {"location / { proxy_pass http://b; }\n}\n", "line 2"},
           {"location / { proxy_pass http://b; add_header a \"b;\n }\n", "quotation mark"},
           {"location / { proxy_pass http://{{ b }}; }\n", "template"}}) {
    try {
      read_policies(text);
      ADD_FAILURE() << text;
    } catch (const BadFile& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  }
}

// ---- HAProxy ----

std::string haproxy(const std::string& backend, const std::string& defaults = "") {
  return "defaults\n  mode http\n  timeout connect 5s\n  timeout server 30000\n" + defaults +
         "backend b\n  server s 10.0.0.1:80\n" + backend;
}

TEST(HaProxy, BecomesOptions) {
  expect_rows("HAProxy", {{"3 retries of failed connections, after a second",
                           haproxy(""),
                           {{"max-retries", "3"},
                            {"growth", "constant"},
                            {"backoff-base", "1s"},
                            {"timeout", "30s"},
                            {"retry-on", "transport"}},
                           {}},
                          {"what is inherited, and replaced",
                           haproxy("  retries 1\n  timeout connect 200\n  no option redispatch\n",
                                   "  retries 7\n  option redispatch\n"),
                           {{"max-retries", "1"}, {"backoff-base", "200ms"}},
                           {}},
                          {"conditions",
                           haproxy("  retry-on response-timeout 503 empty-response\n"),
                           {{"retry-on", "503+transport+timeout"}},
                           {"longer than a buffer"}},
                          {"in mode tcp they have no effect",
                           haproxy("  mode tcp\n  retry-on all-retryable-errors\n"),
                           {{"retry-on", "transport"}},
                           {"no-effect 8 retry-on has an effect in mode http only"}},
                          {"no such condition",
                           haproxy("  retry-on 400\n"),
                           {},
                           {"refused 7 400 is no condition"},
                           true},
                          {"no timeout",
                           "listen b\n  bind :80\n  server s 10.0.0.1:80\n",
                           {{"max-retries", "3"}},
                           {"no-deadline 1 timeout server is not given"}}});
  EXPECT_THAT(said(read_policies(haproxy("", "  option redispatch\n"))),
              HasSubstr("option redispatch"));
  EXPECT_THAT(said(read_policies(haproxy("  no option redispatch\n", "  option redispatch\n"))),
              Not(HasSubstr("option redispatch")));
}

// HAProxy's configuration.txt, "option redispatch": without it only the same server is asked again.
TEST(HaProxy, AsksTheSameServerAgainWithoutRedispatch) {
  const std::string two = "  server t 10.0.0.2:80\n";
  EXPECT_THAT(said(read_policies(haproxy(two))), HasSubstr("same-server 5 "));
  for (const std::string& text :
       {haproxy(two, "  option redispatch\n"), haproxy(""), haproxy(two + "  retries 0\n")}) {
    EXPECT_THAT(said(read_policies(text)), Not(HasSubstr("same-server")));
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

// ---- Spring Cloud Gateway ----

std::string spring(const std::string& filters, const std::string& route = "") {
  return "spring:\n  cloud:\n    gateway:\n      httpclient: {response-timeout: 2s}\n"
         "      default-filters:\n" +
         filters + route;
}

// Defaults: its reference, "Retry GatewayFilter Factory" (3, 5XX, GET, IOException and its own TimeoutException, no
// backoff), BackoffConfig (5 ms, x 2).
TEST(SpringGateway, RetryBecomesOptions) {
  const std::string route =
      "      routes:\n      - id: shop\n        uri: http://shop\n        filters:\n        - ";
  expect_rows(
      "Spring Cloud Gateway",
      {{"defaults",
        spring("      - TokenRelay\n      - Retry\n"),
        {{"max-retries", "3"},
         {"growth", "none"},
         {"timeout", "2s"},
         {"retry-on", "5xx+transport+timeout"},
         {"retry-budget", "none"}},
        {"methods: GET: others are not retried"}},
       {"all arguments, relaxed names",
        spring("      - name: Retry\n        args:\n          retries: 4\n"
               "          methods: [GET, POST]\n          statuses: NOT_FOUND, BAD_GATEWAY\n"
               "          series: []\n          exceptions: java.io.IOException\n"
               "          backoff: {firstBackoff: 30ms, maxBackOff: 700, factor: 3}\n"),
        {{"max-retries", "4"},
         {"growth", "exponential"},
         {"backoff-base", "30ms"},
         {"backoff-cap", "700ms"},
         {"backoff-factor", "3"},
         {"retry-on", "404+502+transport"}},
        {"methods: GET, POST: others"}},
       {"in short, of a route",
        spring("      - SaveSession\n",
               route + "Retry=2,SERVICE_UNAVAILABLE,PUT,10ms,50ms,2,false\n"),
        {{"max-retries", "2"}, {"backoff-base", "10ms"}, {"backoff-cap", "50ms"}},
        {"methods: PUT: others"}},
       {"a method that is none, an answer that is well",
        spring("      - {name: Retry, args: {methods: GET /shop, series: SUCCESSFUL}}\n"),
        {{"retry-on", "2xx+transport+timeout"}},
        {"no-effect 6 methods: GET /shop is no method"}},
       {"none",
        spring("      - {name: Retry, args: {retries: 0}}\n"),
        {},
        {"refused 6 retries"},
        true}});
  const PolicyFile named = read_policies(spring("      - A\n", route + "Retry\n"));
  EXPECT_EQ(named.policies[0].names[0], "shop");
}

// NettyRoutingFilter throws org.springframework.cloud.gateway.support.TimeoutException, which is not a
// java.util.concurrent.TimeoutException.
TEST(SpringGateway, RetriesItsOwnTimeoutOnly) {
  const auto with = [](const std::string& exceptions) {
    return read_policies(
        spring("      - {name: Retry, args: {exceptions: '" + exceptions + "'}}\n"));
  };
  const PolicyFile other = with("java.io.IOException, java.util.concurrent.TimeoutException");
  EXPECT_EQ(other.policies[0].find("retry-on")->value, "5xx+transport");
  EXPECT_THAT(said(other), HasSubstr("no-effect 6 java.util.concurrent.TimeoutException is not"));
  const PolicyFile own = with("org.springframework.cloud.gateway.support.TimeoutException");
  EXPECT_EQ(own.policies[0].find("retry-on")->value, "5xx+timeout");
}

// The breakers of resilience4j in the same file are no retries.
TEST(SpringGateway, StandsBesideResilience4j) {
  const std::string breakers =
      "resilience4j:\n  circuitbreaker: {configs: {default: {slidingWindowSize: 9}}}\n";
  const PolicyFile file = read_policies(spring("      - Retry\n") + breakers);
  ASSERT_EQ(file.policies.size(), 1u);
  EXPECT_EQ(file.policies[0].find("max-retries")->value, "3");
  EXPECT_THAT(file.kind, HasSubstr("and resilience4j"));
  const PolicyFile both =
      read_policies(spring("      - Retry\n") + "resilience4j.retry.instances.a.maxAttempts: 7\n");
  EXPECT_EQ(both.policies.size(), 2u);
}

// ---- kgateway ----

constexpr const char* kRouteOption =
    "apiVersion: gateway.solo.io/v1\nkind: RouteOption\nmetadata: {name: o}\nspec:\n  options:\n"
    "    retries: {retryOn: 'connect-failure', numRetries: 4, perTryTimeout: '3s'}\n"
    "    timeout: 8s\n";

// Envoy's words and defaults.
TEST(KGateway, RouteOptionsAreEnvoys) {
  const NamedTexts expected{{"max-retries", "4"},     {"timeout", "3s"},
                            {"deadline", "8s"},       {"retry-on", "transport"},
                            {"backoff-base", "25ms"}, {"backoff-cap", "250ms"}};
  expect_rows("kgateway",
              {{"alone", kRouteOption, expected, {}},
               {"beside its route",
                route("    filters: [{type: ExtensionRef, extensionRef: {kind: "
                      "RouteOption, name: o}}]\n") +
                    "---\n" + kRouteOption,
                expected,
                {}},
               {"one retry within 15 s",
                "apiVersion: gateway.solo.io/v1\nkind: RouteOption\nspec:\n  options: {retries: "
                "{retryOn: 5xx}}\n",
                {{"max-retries", "1"}, {"deadline", "15s"}},
                {}}});
  EXPECT_EQ(read_policies(kRouteOption).policies[0].names[0], "RouteOption o");
}

// Its retries are of the fetch of keys.
TEST(EnvoyGateway, NamesSideCalls) {
  const std::string policy =
      "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: p}\nspec:\n"
      "  jwt: {providers: [{name: a, remoteJWKS: {backendSettings: {retry: {numRetries: 3}}}}]}\n";
  const PolicyFile file = read_policies(policy);
  EXPECT_TRUE(file.policies.empty());
  EXPECT_THAT(said(file), HasSubstr("not-modelled 5 the retry of a SecurityPolicy's side call"));
}

}  // namespace
}  // namespace retrystorm::test
