// Which signals end a program, which do not, and how fast it ends.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/process.h"
#include "tests/support/child_process.h"
#include "tests/support/fifo.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// nohup starts a program with SIGHUP ignored. A shell without job control starts a background
// program with SIGINT ignored.
TEST(Signals, ThatAreIgnoredFromTheStartStaySo) {
  ChildProcess server(RETRYSTORM_SERVER, {"--port", "0", "--admin-port", "0"}, 0, [] {
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
  });
  ASSERT_TRUE(server.says("listening on"));
  server.signal(SIGHUP);
  server.signal(SIGINT);
  // If they were not ignored, the program would end before the signal below.
  EXPECT_EQ(server.exit_code(300ms), std::nullopt);
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(), 0);
}

TEST(Signals, ThatComeTogetherAreOneWish) {
  const ServerUnderTest server({"--base-delay", "1ms"});
  ClientUnderTest client({"--url", server.url(), "--clients", "10", "--lambda", "10ms"});
  ASSERT_TRUE(client.says(" clients: "));
  EXPECT_EQ(client.exit_code(200ms), std::nullopt);
  // The signals that timeout(1) sends.
  client.signal(SIGTERM);
  client.signal(SIGCONT);
  client.signal(SIGTERM);
  client.signal(SIGINT);
  EXPECT_EQ(client.exit_code(), 0) << client.err();
}

// A table's file is a pipe whose reader has stopped.
TEST(Signals, EndASweepWhoseTableNobodyReads) {
  const Fifo fifo;
  ChildProcess simulate(RETRYSTORM_SIMULATE,
                        {"--sweep", "timeout=1s:3000s:1s", "--runs", "1", "--clients", "1", "--csv",
                         fifo.path(), "--threads", "1"});
  ASSERT_TRUE(fifo.full());
  simulate.signal(SIGTERM);
  EXPECT_TRUE(simulate.exit_code(2s * kEndSlowness)) << simulate.err();
  EXPECT_THAT(simulate.err(), HasSubstr("was blocked"));
}

// The program hangs at its end.
TEST(Signals, TheSecondOneEndsAtOnce) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    EndSignals signals;
    [[maybe_unused]] auto size = write(pipe_ends[1], "r", 1);
    signals.wait();
    size = write(pipe_ends[1], "e", 1);
    while (true) pause();
  }
  char word = 0;
  ASSERT_EQ(read(pipe_ends[0], &word, 1), 1);
  kill(child, SIGTERM);
  ASSERT_EQ(read(pipe_ends[0], &word, 1), 1);
  EXPECT_EQ(word, 'e');
  int status = 0;
  EXPECT_TRUE(eventually([&] {
    kill(child, SIGINT);
    return waitpid(child, &status, WNOHANG) == child;
  }));
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  kill(child, SIGKILL);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

}  // namespace
}  // namespace retrystorm::test
