// What ends a program, what does not, and how fast.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "common/os/process.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// nohup starts a program with SIGHUP ignored, a shell without job control one in the background
// with SIGINT ignored.
TEST(Signals, ThatAreIgnoredFromTheStartStaySo) {
  ChildProcess server(RETRYSTORM_SERVER, {"--port", "0", "--admin-port", "0"}, 0, [] {
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
  });
  ASSERT_TRUE(server.says("listening on"));
  server.signal(SIGHUP);
  server.signal(SIGINT);
  // Had they been taken, the end would be told before the answer to the one below.
  EXPECT_EQ(server.exit_code(300ms), std::nullopt);
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(), 0);
}

TEST(Signals, ThatComeTogetherAreOneWish) {
  const ServerUnderTest server({"--base-delay", "1ms"});
  ClientUnderTest client({"--url", server.url(), "--clients", "10", "--lambda", "10ms"});
  ASSERT_TRUE(client.says("seed"));
  EXPECT_EQ(client.exit_code(200ms), std::nullopt);
  // As timeout(1) does.
  client.signal(SIGTERM);
  client.signal(SIGCONT);
  client.signal(SIGTERM);
  client.signal(SIGINT);
  EXPECT_EQ(client.exit_code(), 0) << client.err();
  EXPECT_THAT(client.out(), HasSubstr("verdict:   "));
}

// A program whose end hangs.
TEST(Signals, TheSecondOneEndsAtOnce) {
  std::array<int, 2> told{};
  ASSERT_EQ(pipe(told.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    EndSignals signals;
    [[maybe_unused]] auto size = write(told[1], "r", 1);
    signals.wait();
    size = write(told[1], "e", 1);
    while (true) pause();
  }
  char word = 0;
  ASSERT_EQ(read(told[0], &word, 1), 1);
  kill(child, SIGTERM);
  ASSERT_EQ(read(told[0], &word, 1), 1);
  EXPECT_EQ(word, 'e');
  int status = 0;
  EXPECT_TRUE(eventually([&] {
    kill(child, SIGINT);
    return waitpid(child, &status, WNOHANG) == child;
  }));
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  kill(child, SIGKILL);
  close(told[0]);
  close(told[1]);
}

}  // namespace
}  // namespace retrystorm::test
