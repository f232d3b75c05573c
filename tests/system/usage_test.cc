// Bad input causes one line on standard error and a nonzero exit code, and starts nothing.
#include "tests/support/child_process.h"
#include "tests/support/refusal.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using Refusals = std::vector<std::pair<Arguments, std::string>>;

void expect_refused(const char* program, const Refusals& rows) {
  expect_refusals<Arguments>(
      [program](const Arguments& arguments) {
        const Ended process = ended(program, arguments);
        EXPECT_TRUE(process.code > 0 && process.code < 128) << "exit code " << process.code;
        EXPECT_EQ(lines(process.err).size(), 1) << process.err;
        EXPECT_EQ(process.out, "");
        return process.err;
      },
      rows);
}

// (tests/golden/words.txt has what each kind of bad input makes the programs say. These hang on the machine.)
TEST(Usage, RefusesWhatThisMachineDoesNotHave) {
  const Listener other;
  const std::string port = std::to_string(other.port());
  expect_refused(RETRYSTORM_CLIENT,
                 {{{"--quiet", "--metrics-port=" + port}, port},
                  {{"--quiet", "--dashboard", "--dashboard-port=" + port}, port}});
  expect_refused(RETRYSTORM_SERVER, {{{"--port=0", "--host=256.256.256.256"}, "256.256.256.256"},
                                     {{"--port=" + port}, port},
                                     {{"--port=0", "--admin-port=" + port}, "--admin-port"}});
  const std::string memory = "GB of memory";
  expect_refused(
      RETRYSTORM_SIMULATE,
      {{{"--scale=1000000"}, memory},
       {{"--clients=1", "--lambda=100h", "--observe=99000h", "--threads=1000", "--runs=1000"},
        memory},
       {{"--sweep=scale=1,100000", "--sweep=clients=1000000,1000"}, memory}});
}

TEST(ClientUsage, SendsNothingWhenItRefusesOrPrintsSettings) {
  const Listener listener;
  const Arguments client{"--url", listener.url(), "--lambda=0s", "--strategy=grpc"};
  expect_refused(
      RETRYSTORM_CLIENT,
      {{client + Arguments{"--outage-at=1s"}, "--outage-for"},
       {client + Arguments{"--print-settings", "--growth=none", "--factor=3"}, "--factor"}});
  const Ended printed = succeeded(RETRYSTORM_CLIENT, client + Arguments{"--print-settings"});
  EXPECT_EQ(settings_in(printed.out)["strategy"], "grpc");
  EXPECT_EQ(printed.err, "");
  EXPECT_FALSE(listener.accept(0s));
}

}  // namespace
}  // namespace retrystorm::test
