#include "client/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class ClientOptionsTest : public testing::Test {
 protected:
  ClientOptionsTest() { add_client_options(app_, options_); }

  ClientOptions& given(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app_.parse(arguments);
    return options_;
  }

  void refuses(const std::vector<std::string>& arguments, const std::string& why) {
    given(arguments);
    EXPECT_THAT([this] { check(options_); }, ThrowsMessage<std::runtime_error>(HasSubstr(why)));
  }

  CLI::App app_;
  ClientOptions options_;
};

TEST_F(ClientOptionsTest, DefaultsAreTheDesigns) {
  const ClientOptions& options = given({});
  EXPECT_EQ(options.url, "http://127.0.0.1:8070/api");
  EXPECT_EQ(options.duration, std::nullopt);
  EXPECT_EQ(options.report_interval, 5s);
  EXPECT_EQ(options.json, "");
  EXPECT_EQ(options.server_pid, 0);
  EXPECT_EQ(options.outage_at, std::nullopt);
  EXPECT_EQ(options.outage_for, std::nullopt);
  EXPECT_EQ(options.print_schedule, 0);
  EXPECT_NO_THROW(check(options));
  const auto json = options_json(app_);
  EXPECT_EQ(json["url"], "http://127.0.0.1:8070/api");
  EXPECT_EQ(json["report_interval"], "5s");
  EXPECT_EQ(json["clients"], 1000);
}

TEST_F(ClientOptionsTest, SetsEach) {
  const ClientOptions& options =
      given({"--url=http://h/", "--duration=1m", "--report-interval=1s", "--json=f",
             "--server-pid=42", "--outage-at=15s", "--outage-for=20s", "--print-schedule=3"});
  EXPECT_EQ(options.url, "http://h/");
  EXPECT_EQ(options.duration, 60s);
  EXPECT_EQ(options.report_interval, 1s);
  EXPECT_EQ(options.json, "f");
  EXPECT_EQ(options.server_pid, 42);
  EXPECT_EQ(options.outage_at, 15s);
  EXPECT_EQ(options.outage_for, 20s);
  EXPECT_EQ(options.print_schedule, 3);
  EXPECT_NO_THROW(check(options));
}

TEST_F(ClientOptionsTest, AnOutageNeedsAProcess) {
  refuses({"--outage-at=1s", "--outage-for=1s"}, "--server-pid");
}

TEST_F(ClientOptionsTest, AnOutageNeedsBothItsTimes) {
  refuses({"--server-pid=42", "--outage-at=1s"}, "--outage-for");
}

TEST_F(ClientOptionsTest, AnOutageNeedsItsBeginning) {
  refuses({"--server-pid=42", "--outage-for=1s"}, "--outage-at");
}

TEST_F(ClientOptionsTest, AProcessNeedsAnOutage) {
  refuses({"--server-pid=42"}, "--outage-at");
}

TEST_F(ClientOptionsTest, APageMayFreezeAProcessAtAnyTime) {
  EXPECT_NO_THROW(check(given({"--server-pid=42", "--dashboard"})));
}

TEST_F(ClientOptionsTest, ThePageHasItsPort) {
  const ClientOptions& options = given({"--dashboard", "--dashboard-port=9000"});
  EXPECT_TRUE(options.dashboard);
  EXPECT_EQ(options.dashboard_port, 9000);
}

TEST_F(ClientOptionsTest, TheServersStatusIsOnThePortAboveIts) {
  ClientOptions options;
  const auto status = [&](const std::string& url) {
    return server_status_url(options, resolve_url(url));
  };
  EXPECT_EQ(status("http://127.0.0.1:8070/api"), "http://127.0.0.1:8071/status");
  EXPECT_EQ(status("http://[::1]:90/"), "http://[::1]:91/status");
  EXPECT_EQ(status("http://127.0.0.1:65535/"), "http://127.0.0.1:65535/status");
  // Another machine is not asked what it has not been named for.
  EXPECT_EQ(status("http://192.0.2.1:8070/api"), "");
  EXPECT_EQ(status("http://[2001:db8::1]:8070/api"), "");
  options.server_status = "http://127.0.0.1:1/x";
  EXPECT_EQ(status("http://127.0.0.1:8070/api"), "http://127.0.0.1:1/x");
  EXPECT_EQ(status("http://192.0.2.1:8070/api"), "http://127.0.0.1:1/x");
}

TEST_F(ClientOptionsTest, AnOutageMustBeginWithinTheRun) {
  refuses({"--server-pid=42", "--outage-at=10s", "--outage-for=1s", "--duration=10s"},
          "--outage-at");
}

TEST_F(ClientOptionsTest, ASchedulesOutcomesNeedBothTheirBounds) {
  refuses({"--print-schedule=5", "--schedule-fails-until=1s"}, "--schedule-succeeds-above");
}

}  // namespace
}  // namespace retrystorm
