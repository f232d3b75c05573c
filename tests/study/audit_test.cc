// Does a default that nobody gave decide an answer, and does the answer name it?
//
// Services as other people have them. Each default is set to what real systems have in its place. Where that moves the
// share of the runs that stay down by half or more, standard output must name the option, and few others.

#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "study/evaluator.h"
#include "study/named_options.h"
#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

constexpr std::size_t kRuns = 20;

struct RealValues {
  const char* option;
  std::vector<std::string> values;  // "{workers}": the value of that option
  const char* source;
  const char* asked_as = "";  // the option whose question this is, too
};

// What real systems have where nobody has chosen.
const std::vector<RealValues>& real_values() {
  static const std::vector<RealValues> kValues{
      {"backlog",
       {"100", "128", "511", "4096"},
       "Tomcat's acceptCount; net.core.somaxconn before Linux 5.4; nginx (ngx_connection.h) and Node.js "
       "(server.listen); net.core.somaxconn since Linux 5.4, which Go's net takes"},
      {"accepts", {"when-free"}, "php-fpm, gunicorn's sync workers, Apache's prefork"},
      // As many as there are workers are the same. To ask for one is to ask for both.
      {"max-connections",
       {"1000", "8192"},
       "gunicorn's --worker-connections; Tomcat's maxConnections",
       "accepts"},
      {"abandoned",
       {"skip"},
       "Go's net/http cancels the request's context, gRPC the call's, when a client has gone"},
      {"connections",
       {"keep-alive", "multiplexed"},
       "Go's net/http, Java's HttpClient, Node's fetch; gRPC, HTTP/2"},
      {"pool-size",
       {"{workers}", "50", "100"},
       "AWS's SDK for Java (50); Apache's PoolingHttpClientConnectionManager is set to as many as the service takes"},
      {"pool-max-idle",
       {"2", "10"},
       "Go's DefaultMaxIdleConnsPerHost; botocore's MAX_POOL_CONNECTIONS"},
      {"pool-idle", {"4s", "90s"}, "undici's keepAliveTimeout; Go's DefaultTransport"},
      {"pool-order", {"fifo"}, "Node.js's http.Agent before 15.6"},
      {"pool-wait", {"250ms"}, "HikariCP's least connectionTimeout"},
      {"pool-wait-counts",
       {"no"},
       "AWS's SDK for Java, Apache's HttpClient (connectionRequestTimeout)"},
      {"streams", {"128", "250"}, "nginx's http2_max_concurrent_streams; Go's http2"},
      {"reset-limit", {"200:6.7"}, "Netty since CVE-2023-44487: 200 in 30 s"},
      {"retry-lost", {"no"}, "Node's fetch and urllib3 leave a lost request to their caller"},
      {"server-idle", {"5s", "75s"}, "Node's keepAliveTimeout, Apache; nginx's keepalive_timeout"},
      {"processes",
       {"1", "20", "100", "{clients}"},
       "one program; pods; functions of a cloud; a browser or a device each"},
      {"syn-linear-timeouts",
       {"0"},
       "Linux before 6.5: Debian 12 (6.1), Ubuntu 22.04 (5.15), RHEL 9 (5.14)"},
      {"timeout",
       {"1s", "10s", "60s", "none"},
       "Hystrix; OkHttp and .NET's standard handler; Ruby's Net::HTTP; Go's http.Client, Python's requests"},
      {"service-time",
       {"exponential:{service-time}"},
       "no service takes the same time for each request"},
      // Both say whether its queue has an end.
      {"queue-length",
       {"100", "1000"},
       "Passenger's max_request_queue_size; IIS's queueLength",
       "accepts"},
      {"growth", {"exponential"}, "AWS's and Google's clients"},
      {"jitter", {"full"}, "AWS's SDKs, gRPC"},
      {"backoff-cap", {"10x{backoff-base}"}, "Envoy's ten times the base"},
      {"retry-on",
       {"408+429+5xx-501+transport"},
       "gRPC's UNAVAILABLE, Linkerd's 5xx: what timed out is not retried"},
      {"deadline", {"30s"}, "the total timeout of .NET's standard handler"},
      {"outage", {"slow:10", "drop"}, "a lock or a full disk; a crash"},
      {"outage-at", {"5m"}, "a service is up for longer than half a minute before its outage"},
  };
  return kValues;
}

// Settings of which nobody has a default to be wrong about, and why.
const std::map<std::string, std::string>& others() {
  static const std::map<std::string, std::string> kOthers{
      {"the question itself",
       "outage-for observe time-limit scale capacity-within clients arrivals rate lambda "
       "strategy max-retries backoff-base backoff-factor backoff-step service workers "
       "tasks calls workers-start splay runs threads cell relief-after relief-for "
       "report-interval server-report-interval trace color"},
      {"only of a growth, hint, curve or connection that is given",
       "backoff-table cap-applies grow-from backoff-from jitter-first first-at-once "
       "throttled-base retry-after retry-after-max deadline-check base-delay limit "
       "curve-factor k throttle-status shed-status hint hint-for hint-to error-status "
       "error-after rate-burst rejection-cost when-refused waiting retry-at "
       "deadline-propagation"},
      {"off unless somebody turned it on, who knows",
       "pacer initial-interval max-interval up-multiplier down-multiplier down-threshold "
       "randomization max-randomization retry-budget breaker throttle concurrency-limit "
       "client-rate queue-order queue-drop rate-limit shed-above error-share autoscale "
       "retry-switch switch-after replicas picker pick-per connection-age balance retry-host eject panic "
       "outage-replicas subset probe probe-does host-start host-warm-up replicas-target "
       "replicas-every replicas-down-after hosts-like"}};
  return kOthers;
}

constexpr const char* kParts[] = {"hedge",  "budget-", "breaker-",   "throttle-",
                                  "limit-", "rate-",   "reconnect-", "autoscale-"};

bool is_other(const std::string& option) {
  for (const auto& [why, listed] : others()) {
    const auto names = split(listed, ' ');
    if (std::find(names.begin(), names.end(), option) != names.end()) return true;
  }
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&option](const char* part) { return option.starts_with(part); });
}

bool is_real(const std::string& option) {
  return std::any_of(real_values().begin(), real_values().end(),
                     [&option](const RealValues& each) { return each.option == option; });
}

std::string out_of(const std::vector<std::string>& arguments) {
  ChildProcess simulate(RETRYSTORM_SIMULATE, arguments);
  EXPECT_EQ(simulate.exit_code(std::chrono::minutes(5)), 0) << simulate.err();
  return simulate.out();
}

TEST(Audit, HasValuesForEachDefault) {
  std::istringstream settings(out_of({"--print-settings"}));
  const std::regex setting("# ([a-z0-9-]+) = .*");
  std::size_t count = 0;
  for (std::string line; std::getline(settings, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, setting)) continue;
    ++count;
    EXPECT_NE(is_real(match[1]), is_other(match[1])) << match[1];
  }
  EXPECT_GT(count, 100u);
}

struct Service {
  const char* name;
  const char* options;
};

// Fixed waits, waits that grow with jitter, and libraries; from a fifth to nine tenths of what the workers can do.
constexpr Service kServices[] = {
    {"EightWorkersFixed",
     "workers=8 service-time=100ms arrivals=open rate=48 max-attempts=3 backoff-base=200ms timeout=1s outage-for=10s"},
    {"SixteenWorkersJitterKept",
     "workers=16 service-time=lognormal:60ms:0.5 arrivals=open rate=190 max-attempts=4 growth=exponential jitter=full backoff-base=100ms timeout=1s outage-for=10s connections=keep-alive"},
    {"TwentyWorkersClosedKept",
     "workers=20 service-time=50ms clients=600 lambda=2s timeout=1s backoff-base=400ms outage-for=10s connections=keep-alive"},
    {"AboveASynRepeat",
     "workers=28 service-time=exponential:50ms arrivals=open rate=230 max-attempts=3 backoff-base=250ms timeout=2.1s outage-for=8s"},
    {"ThirtyTwoWorkersJitter",
     "workers=32 service-time=exponential:50ms arrivals=open rate=400 max-attempts=3 growth=exponential backoff-base=200ms jitter=full timeout=1s outage-for=10s"},
    {"Urllib3Kept",
     "workers=64 service-time=80ms arrivals=open rate=500 strategy=urllib3 max-attempts=4 timeout=1s outage-for=15s connections=keep-alive"},
    {"AwsNineTenths",
     "workers=100 service-time=lognormal:200ms:0.5 arrivals=open rate=450 strategy=aws-standard timeout=3s outage-for=20s"},
    {"TwoHundredWorkersAFifth",
     "workers=200 service-time=100ms arrivals=open rate=400 max-attempts=6 backoff-base=100ms outage-for=20s"},
    {"FiftyWorkersMultiplexed",
     "workers=50 service-time=exponential:30ms arrivals=open rate=700 max-attempts=3 growth=exponential jitter=full backoff-base=100ms timeout=500ms outage-for=10s connections=multiplexed"},
    {"EnvoyKept",
     "workers=12 service-time=250ms arrivals=open rate=30 strategy=envoy timeout=5s outage-for=30s connections=keep-alive"},
    {"FortyWorkersClosedGrowing",
     "workers=40 service-time=100ms clients=1200 lambda=4s max-attempts=5 growth=exponential backoff-base=200ms timeout=1s outage-for=15s"},
    {"SixtyFourWorkersGrowing",
     "workers=64 service-time=lognormal:80ms:0.5 arrivals=open rate=400 max-attempts=3 growth=exponential backoff-base=500ms timeout=1s outage-for=30s"},
};

NamedOptions options_of(const Service& service) {
  NamedOptions all{{"service", "workers"}};
  std::istringstream words(service.options);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    all[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return all;
}

// Also by its strategy.
bool is_given(const NamedOptions& given, const std::string& option) {
  if (option == "max-retries" && given.contains("max-attempts")) return true;
  const auto strategy = given.find("strategy");
  if (strategy != given.end()) {
    const std::string settings{find_strategy(strategy->second)->settings};
    if (settings.find("\n" + option + " = ") != settings.npos) return true;
  }
  const auto found = given.find(option);
  // Who gives a time for all requests has not given its spread.
  return found != given.end() &&
         (option != "service-time" || found->second.find(':') != std::string::npos);
}

// The share of the runs that stay down. Nothing if the options contradict one another or have no effect, or if the
// service is not well before its outage.
std::optional<double> down_with(const NamedOptions& options, const std::string& changed) {
  try {
    const ScenarioOptions scenario = scenario_of(options);
    if (unused_options(scenario).contains(changed)) return std::nullopt;
    const Evaluator evaluator(std::max(1u, std::thread::hardware_concurrency()));
    const CellResult result =
        summarize(evaluator.run(make_scenario(scenario, 1), seeds_from(1, kRuns)));
    constexpr double kWell = 0.9;
    if (result.decided() == 0 || result.phases[0].success.value_or(1) < kWell) return std::nullopt;
    return static_cast<double>(result.down_runs()) / static_cast<double>(result.decided());
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

std::optional<std::string> filled(std::string value, const NamedOptions& given) {
  const std::size_t begin = value.find('{'), end = value.find('}');
  if (begin == value.npos) return value;
  const auto found = given.find(value.substr(begin + 1, end - begin - 1));
  if (found == given.end()) return std::nullopt;
  if (value.starts_with("10x")) return format_duration(10 * parse_duration(found->second));
  return value.replace(begin, end - begin + 1, found->second);
}

// The options that the text names as what its answer hangs on, with the values that it names.
std::map<std::string, std::set<std::string>> named_in(const std::string& text) {
  std::map<std::string, std::set<std::string>> names;
  const std::regex label("(^|\n)([a-z0-9-]+): "), option("--([a-z0-9-]+)=([^ ,;)]*)");
  for (std::sregex_iterator at(text.begin(), text.end(), label), end; at != end; ++at)
    names[(*at)[2]];
  for (std::sregex_iterator at(text.begin(), text.end(), option), end; at != end; ++at) {
    names[(*at)[1]].insert((*at)[2]);
  }
  return names;
}

void PrintTo(const Service& service, std::ostream* out) {
  *out << service.options;
}

class Audit : public testing::TestWithParam<Service> {};

TEST_P(Audit, NamesWhatDecides) {
  const NamedOptions given = options_of(GetParam());
  const auto asked = down_with(given, "");
  ASSERT_TRUE(asked);
  std::vector<std::string> arguments{"--runs=" + std::to_string(kRuns), "--seed=1"};
  for (const auto& [name, value] : given) arguments.push_back("--" + name + '=' + value);
  const std::string text = out_of(arguments);
  const auto named = named_in(text);
  // What helps is no answer to what decides, but it names that.
  const std::size_t advice = std::min(text.find("\ntry: "), text.size());
  std::set<std::string> only_to_try;
  for (const auto& [name, values] : named) {
    if (!named_in(text.substr(0, advice)).contains(name)) only_to_try.insert(name);
  }

  std::string idle;
  std::size_t names = 0, idles = 0;
  for (const RealValues& each : real_values()) {
    const std::string option = each.option;
    if (is_given(given, option)) continue;
    std::set<std::string> values(each.values.begin(), each.values.end());
    auto found = named.find(option);
    if (found == named.end()) found = named.find(each.asked_as);
    if (found != named.end() && found->first == option)
      values.insert(found->second.begin(), found->second.end());
    double most = 0;
    std::string with;
    for (const std::string& value : values) {
      const auto other = filled(value, given);
      if (!other) continue;
      NamedOptions options = given;
      options[option] = *other;
      const double moves = std::abs(down_with(options, option).value_or(*asked) - *asked);
      if (moves > most) with = *other;
      most = std::max(most, moves);
    }
    constexpr double kDecides = 0.5, kIdle = 0.1;
    if (most >= kDecides) {
      EXPECT_TRUE(found != named.end())
          << "--" << option << '=' << with << " moves the share that is down by " << most;
    }
    if (found == named.end() || found->first != option || only_to_try.contains(option)) continue;
    ++names;
    if (most < kIdle) ++idles, idle += ' ' + option;
  }
  EXPECT_LE(names, 6u);
  EXPECT_LE(idles, 3u) << idle;
  if (HasFailure()) ADD_FAILURE() << text;
}

INSTANTIATE_TEST_SUITE_P(Of, Audit, testing::ValuesIn(kServices),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace retrystorm::test
