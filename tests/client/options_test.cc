#include "client/options.h"

#include <CLI/CLI.hpp>

#include "common/cli/program.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using Arguments = std::vector<std::string>;

// As the only options of a client.
void check_alone(const Arguments& arguments) {
  CLI::App app;
  ClientOptions options;
  set_up_app(app);
  add_client_options(app, options);
  parse_words(app, arguments);
  check(options);
}

class ClientOptionsTest : public testing::Test {
 protected:
  ClientOptionsTest() { add_client_options(app_, options_); }

  ClientOptions& given(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app_.parse(arguments);
    return options_;
  }

  // With what was given before.
  void refuses(const std::vector<std::string>& arguments, const std::string& why) {
    given(arguments);
    test::expect_refusals<ClientOptions>([](const ClientOptions& options) { check(options); },
                                         {{options_, why}});
  }

  CLI::App app_;
  ClientOptions options_;
};

TEST_F(ClientOptionsTest, SearchesOneServiceWithRunsThatEnd) {
  check_alone({"--most=rate", "--expect=request-p99<1s"});
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--most=rate"},
           {"--most=rate", "--least=rate", "--expect=request-p99<1s"},
           {"--most=rate", "--expect=request-p99<1s", "--dashboard"},
           {"--most=calls", "--expect=request-p99<1s", "--tasks=5"},
           {"--most=rate", "--expect=request-p99<1s", "--url=http://127.0.0.1:1",
            "--url=http://127.0.0.1:2"},
           {"--i-may-load=127.0.0.1:8070"},
           {"--even-public"}}) {
    SCOPED_TRACE(testing::PrintToString(wrong));
    EXPECT_THROW(check_alone(wrong), std::invalid_argument);
  }
}

// Else it would run until Ctrl-C, in a CI for ever.
TEST_F(ClientOptionsTest, JudgesOnlyARunThatEnds) {
  refuses({"--expect=recovered"}, "--duration");
  refuses(
      {"--expect=down<1", "--server-pid=42", "--outage-at=6s", "--outage-for=5s", "--duration=22s"},
      "--duration=26s");
}

// An outage from 6 s to 11 s, and three windows of 5 s after it.
TEST_F(ClientOptionsTest, WarnsOfARunTooShortForAVerdict) {
  const auto warnings = [&](const char* duration) {
    const ClientOptions& options =
        given({"--server-pid=42", "--outage-at=6s", "--outage-for=5s", std::string(duration)});
    return look_ahead(options, options.workload).warnings;
  };
  EXPECT_TRUE(says(warnings("--duration=10s"), "ends-in-outage"));
  EXPECT_TRUE(says(warnings("--duration=25s"), "ends-after-outage"));
  EXPECT_FALSE(says(warnings("--duration=26s"), "ends-after-outage"));
}

TEST_F(ClientOptionsTest, AnOutageNeedsAProcessAndBothItsTimes) {
  refuses({"--outage-at=1s", "--outage-for=1s"}, "--server-pid");
  given({"--server-pid=42", "--dashboard"});  // a page may freeze it at any time
  EXPECT_NO_THROW(check(options_));
  test::expect_refusals<Arguments>(
      check_alone,
      {{{"--server-pid=42", "--outage-at=1s"}, "--outage-for"},
       {{"--server-pid=42", "--outage-for=1s"}, "--outage-at"},
       {{"--server-pid=42"}, "--outage-at"},
       {{"--server-pid=42", "--outage-at=10s", "--outage-for=1s", "--duration=10s"}, "--outage-at"},
       {{"--dashboard-port=1"}, "--dashboard"},
       {{"--server-status=http://127.0.0.1/"}, "--dashboard"}});
}

TEST_F(ClientOptionsTest, AnOutageByCommandNeedsCommandsAndNoProcess) {
  refuses({"--outage=command", "--outage-at=1s", "--outage-for=1s"}, "give --outage-begin");
  refuses({"--outage-end=true"}, "give --outage-begin");
  given({"--outage-begin=docker pause api", "--outage-end=docker unpause api"});
  EXPECT_NO_THROW(check(options_));
  EXPECT_EQ(options_.outage_commands.begin, "docker pause api");
  EXPECT_EQ(options_.outage_commands.end, "docker unpause api");
  refuses({"--outage=drop", "--admin-token-file=f"},
          "--outage-begin has no effect without --outage=command");
}

TEST_F(ClientOptionsTest, RequestsCanBeAnything) {
  const RequestOptions& request = given({"--url=https://h/", "--method=POST", "--header=A: b, c",
                                         "--header=D:", "--body=@f", "--cacert=ca.pem"})
                                      .request;
  EXPECT_NO_THROW(check(options_));
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.headers, (std::vector<std::string>{"A: b, c", "D:"}));
  EXPECT_EQ(request.body, "@f");
  EXPECT_EQ(request.cacert, "ca.pem");
  refuses({"--insecure"}, "give one");
  options_.request.cacert.clear();
  refuses({"--url=http://h/"}, "--insecure has no effect");
}

TEST_F(ClientOptionsTest, ThreadsAreForOpenArrivalsOnly) {
  EXPECT_EQ(given({"--arrivals=open", "--rate=50", "--max-threads=10"}).max_threads, 10);
  EXPECT_NO_THROW(check(options_));
  EXPECT_EQ(options_.workload.rate, 50);
  refuses({"--arrivals=closed", "--rate=100"}, "--max-threads has no effect without --arrivals");
  given({"--max-threads=5000", "--rate=100"});
  EXPECT_NO_THROW(check(options_));
}

TEST_F(ClientOptionsTest, TheServersStatusIsOnThePortAboveIts) {
  ClientOptions options;
  const auto status = [&](const std::string& url) {
    return server_status_url(options, resolve_url(url));
  };
  EXPECT_EQ(status("http://127.0.0.1:8070/api"), "http://127.0.0.1:8071/status");
  EXPECT_EQ(status("http://[::1]:90/"), "http://127.0.0.1:91/status");
  EXPECT_EQ(status("http://127.0.0.1:65535/"), "http://127.0.0.1:65535/status");
  // That of another host is not asked.
  options.urls = {"http://127.0.0.1:8070/", "http://127.0.0.1:8071/"};
  EXPECT_EQ(status(options.urls[0]), "");
  EXPECT_EQ(status(options.urls[1]), "http://127.0.0.1:8072/status");
  // Another machine is asked only if --server-status names it.
  EXPECT_EQ(status("http://192.0.2.1:8070/api"), "");
  EXPECT_EQ(status("http://[2001:db8::1]:8070/api"), "");
  options.server_statuses = {"http://127.0.0.1:1/x"};
  EXPECT_EQ(status("http://127.0.0.1:8070/api"), "http://127.0.0.1:1/x");
  EXPECT_EQ(status("http://192.0.2.1:8070/api"), "http://127.0.0.1:1/x");
}

TEST_F(ClientOptionsTest, TheAdminPortIsTheOneAbove) {
  ClientOptions options;
  const auto admin = [&](const std::string& url) {
    return server_admin_url(options, resolve_url(url));
  };
  EXPECT_EQ(admin("http://127.0.0.1:8070/api"), "http://127.0.0.1:8071");
  EXPECT_EQ(admin("http://[::1]:8070/api"), "http://127.0.0.1:8071");
  EXPECT_EQ(admin("http://[2001:db8::1]:8070/api"), "http://[2001:db8::1]:8071");
}

TEST_F(ClientOptionsTest, EachUrlIsAHost) {
  const ClientOptions& options =
      given({"--url=http://a/", "--url=http://b/", "--balance=two", "--outage-replicas=1",
             "--server-pid=12", "--outage-at=1s", "--outage-for=1s"});
  EXPECT_NO_THROW(check(options));
  EXPECT_EQ(options.urls, (std::vector<std::string>{"http://a/", "http://b/"}));
  EXPECT_EQ(options.request.url, "http://a/");
  EXPECT_EQ(options.hosts.replicas, 2);
  EXPECT_EQ(options.hosts.hit(), 1);
  const Arguments outage{"--url=http://a/", "--url=http://b/", "--outage-at=1s", "--outage-for=1s"};
  const auto with = [&outage](Arguments more) {
    more.insert(more.begin(), outage.begin(), outage.end());
    return more;
  };
  test::expect_refusals<Arguments>(
      check_alone,
      {{with({"--server-pid=12"}), "--server-pid: 1 given, and needed for the first 2 of 2 hosts"},
       {with({"--server-pid=12", "--server-pid=34"}), ""},
       {{"--server-pid=12", "--server-pid=34", "--outage-at=1s", "--outage-for=1s",
         "--url=http://a/", "--url=http://b/"},
        ""},
       {with({"--server-pid=1", "--server-pid=2", "--server-pid=3"}), "--server-pid: 3 given"},
       {with({"--server-pid=12", "--outage-replicas=3"}), "--outage-replicas=3"},
       {with({"--outage=drop", "--admin-token-file=a"}), "--admin-token-file"},
       {with({"--outage=drop", "--outage-replicas=1", "--admin-token-file=a"}), ""},
       // An action is for all of them.
       {with({"--outage=drop", "--outage-replicas=1", "--at=1s restart", "--admin-token-file=a"}),
        "--admin-token-file"},
       {with({"--outage=drop", "--admin-token-file=a", "--admin-token-file=b", "--server-admin=c"}),
        "--server-admin"},
       {with({"--outage=reconnect"}), "--outage=reconnect"},
       {with({"--server-pid=12", "--server-pid=34", "--panic=50%"}), "panic"},
       {{"--server-pid=12", "--server-pid=34", "--outage-at=1s", "--outage-for=1s"},
        "more than one process: 12 34"},
       {{"--balance=two"}, "balance has no effect without a second URL"},
       {{"--outage-replicas=1"}, "outage-replicas has no effect without a second URL"}});
}

TEST_F(ClientOptionsTest, RefusesOptionsThatHaveNoEffect) {
  const std::vector<std::pair<Arguments, std::string>> rows{
      {{"--backoff-factor=3"}, "backoff-factor"},
      {{"--factor=3", "--strategy=linear"}, "backoff-factor"},
      {{"--linear-step=3s"}, "backoff-step"},
      {{"--linear-step=3s", "--exponential-backoff"}, "backoff-step"},
      {{"--backoff-table=1+2"}, "backoff-table"},
      {{"--grow-from=jittered"}, "grow-from"},
      {{"--backoff-from=think-time"}, "backoff-from"},
      {{"--growth=exponential", "--factor=3", "--jitter=decorrelated"}, "backoff-factor"},
      {{"--strategy=exponential", "--jitter=polly", "--throttled-base=1s"}, "throttled-base"},
      {{"--throttled-base=1s", "--growth=none"}, "throttled-base"},
      {{"--jitter-first=no"}, "jitter-first"},
      {{"--cap-applies=after-jitter", "--backoff-cap=5s"}, "cap-applies"},
      {{"--cap-applies=after-jitter", "--jitter=full"}, "cap-applies"},
      {{"--retry-after-max=5s"}, "retry-after-max"},
      {{"--initial-interval=1s"}, "initial-interval"},
      {{"--down-threshold=5", "--strategy=responsive", "--pacer=no"}, "down-threshold"},
      {{"--strategy=responsive", "--randomization=0", "--max-randomization=1s"},
       "max-randomization"},
      {{"--clients-per-process=5"}, "clients-per-process"},
      {{"--processes=5"}, "processes"},
      {{"--retry-budget=grpc", "--arrivals=open", "--clients-per-process=5"},
       "clients-per-process"},
      {{"--when-refused=back-off"}, "when-refused"},
      {{"--strategy=aws-standard", "--retry-budget=none", "--budget-cost=3"}, "budget-cost"},
      {{"--arrivals=job", "--at=5s load 2"}, "at '5s load 2'"},
      {{"--duration=5s", "--at=5s load 2"}, "at '5s load 2'"},
      {{"--duration=5s", "--at=1s load 2", "--at=6s load 1"}, "at '6s load 1'"},
      {{"--duration=5s", "--capacity=0s 1; 30s 0.5"}, "capacity '0s 1; 30s 0.5'"},
  };
  test::expect_refusals<Arguments>(check_alone, rows);
}

// Such as an option of the strategy itself, a default value, and caps that several strategies share.
TEST_F(ClientOptionsTest, TakesOptionsThatHaveAnEffectOrAreTheDefault) {
  for (const Arguments& arguments : std::vector<Arguments>{
           {"--strategy=fixed", "--backoff-factor=2"},
           {"--strategy=exponential", "--growth=constant"},
           {"--strategy=exponential", "--jitter=polly"},
           {"--strategy=responsive", "--pacer=no"},
           {"--strategy=responsive", "--fixed-delay=25ms", "--max-delay=75s", "--jitter=0.1"},
           {"--strategy=none", "--min-delay=1s"},
           {"--strategy=resilience4j", "--breaker=none"},
           {"--strategy=truncated", "--jitter=none"},
           {"--strategy=hbase", "--growth=linear"},
           {"--growth=linear", "--linear-step=3s"},
           {"--pacer=yes", "--initial-interval=1s"},
           {"--retry-after=replace", "--retry-after-max=5s"},
           {"--retry-budget=grpc", "--processes=5"},
           {"--clients=3000", "--processes=30"},
           {"--strategy=exponential", "--jitter=full", "--grow-from=jittered"},
           {"--strategy=exponential", "--jitter=decorrelated"},
           {"--retry-budget=grpc", "--clients-per-process=5"}}) {
    EXPECT_NO_THROW(check_alone(arguments)) << arguments[0] << ' ' << arguments.back();
  }
}

// Each attempt needs a connection.
TEST(FitDescriptors, RefusesMoreClientsThanFit) {
  ClientOptions options;
  options.workload.clients = 1000;
  EXPECT_NO_THROW(fit_descriptors(options, 1024));
  EXPECT_THAT(
      [&] { fit_descriptors(options, 1023); },
      ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("--clients 1000 is too many"),
                                              HasSubstr("1023 files"), HasSubstr("leaves 999"))));
  EXPECT_THROW(fit_descriptors(options, 3), std::runtime_error);
}

TEST(FitDescriptors, CountsHedgesAndThePage) {
  ClientOptions options;
  options.workload.clients = 20;
  options.workload.retry.hedge.delay = std::chrono::milliseconds(10);
  options.workload.retry.hedge.most = 10;
  EXPECT_NO_THROW(fit_descriptors(options, 24 + 20 * 11));
  EXPECT_THAT([&] { fit_descriptors(options, 23 + 20 * 11); },
              ThrowsMessage<std::runtime_error>(HasSubstr("--hedge-max")));
  options.dashboard = true;
  EXPECT_THROW(fit_descriptors(options, 24 + 20 * 11), std::runtime_error);
}

TEST(FitDescriptors, TakesAsManyThreadsForOpenArrivalsAsFit) {
  ClientOptions options;
  options.workload.arrivals = Arrivals::kOpen;
  fit_descriptors(options, 1'000'000);
  EXPECT_EQ(options.max_threads, 5000);
  fit_descriptors(options, 1024);
  EXPECT_EQ(options.max_threads, 1000);
  EXPECT_THROW(fit_descriptors(options, 1023), std::runtime_error);
  options.max_threads = ClientOptions().max_threads;
  EXPECT_THROW(fit_descriptors(options, 24), std::runtime_error);
}

}  // namespace
}  // namespace retrystorm
