// Commands as an outage: run in order, told when they fail, and ended whatever happens.
#include "client/outage_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

#include "tests/support/child_process.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OutageCommandTest : public testing::Test {
 protected:
  OutageCommandTest() { std::signal(SIGPIPE, SIG_IGN); }

  // A command that leaves a word in the file that all have in common.
  std::string writes(const std::string& word) const { return "echo " + word + " >>" + path_; }
  std::string written() const { return read_file(path_); }
  bool becomes(const std::string& text) const {
    return eventually([&] { return written() == text; });
  }

  // Runs `work` in a process that leads a group of its own, and then waits to be killed.
  static pid_t run_apart(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child != 0) return child;
    setpgid(0, 0);
    work();
    while (true) pause();
  }
  static void kill_group(pid_t leader) {
    kill(-leader, SIGKILL);
    waitpid(leader, nullptr, 0);
  }

 private:
  TempDir dir_;
  const std::string path_ = dir_.file("words");
};

TEST_F(OutageCommandTest, RunsTheBeginAndTheEnd) {
  OutageCommand outage({.begin = writes("begun"), .end = writes("ended")});
  EXPECT_EQ(written(), "");
  outage.begin();
  EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
  EXPECT_EQ(written(), "begun\n");
  EXPECT_EQ(outage.under_way(), 0);
  outage.end();
  EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
  EXPECT_EQ(written(), "begun\nended\n");
  EXPECT_EQ(outage.failures(), 0);
}

TEST_F(OutageCommandTest, RunsOneOutageAfterTheOther) {
  OutageCommand outage({.begin = writes("begun"), .end = writes("ended")});
  for (int i = 0; i < 3; ++i) {
    outage.begin();
    EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
    outage.end();
  }
  EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
  EXPECT_EQ(written(), "begun\nended\nbegun\nended\nbegun\nended\n");
}

TEST_F(OutageCommandTest, NeedsNoEnd) {
  OutageCommand outage({.begin = writes("begun"), .end = ""});
  outage.begin();
  EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
  outage.end();
  EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
  EXPECT_EQ(outage.under_way(), 0);
  EXPECT_EQ(written(), "begun\n");
}

TEST_F(OutageCommandTest, TellsWhatFails) {
  OutageCommand outage({.begin = "exit 3", .end = "kill -SEGV $$"});
  outage.begin();
  EXPECT_THAT(outage.take_news(kPatience),
              ElementsAre("the command of --outage-begin failed: exit code 3"));
  outage.end();
  EXPECT_THAT(outage.take_news(kPatience),
              ElementsAre("the command of --outage-end was ended by signal 11"));
  EXPECT_EQ(outage.failures(), 2);
}

TEST_F(OutageCommandTest, EndsAlsoWhatDidNotBegin) {
  OutageCommand outage({.begin = "/nonexistent/command 2>/dev/null", .end = writes("ended")});
  outage.begin();
  EXPECT_THAT(outage.take_news(kPatience),
              ElementsAre("the command of --outage-begin failed: exit code 127"));
  outage.end();
  EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
  EXPECT_EQ(written(), "ended\n");
}

// It, and all that it has started.
TEST_F(OutageCommandTest, TerminatesABeginThatDoesNotEnd) {
  OutageCommand outage(
      {.begin = writes("begun") + "; sleep 1000; " + writes("too late"), .end = writes("ended")});
  const TimePoint start = Clock::now();
  outage.begin();
  EXPECT_TRUE(becomes("begun\n"));
  EXPECT_THAT(outage.take_news(), IsEmpty());
  EXPECT_EQ(outage.under_way(), 1);
  outage.end();
  EXPECT_TRUE(becomes("begun\nended\n"));
  EXPECT_THAT(outage.take_news(kPatience),
              ElementsAre("the command of --outage-begin had not ended when the outage was to end, "
                          "and was terminated"));
  EXPECT_EQ(outage.failures(), 1);
  EXPECT_LT(Clock::now() - start, 60s);
}

TEST_F(OutageCommandTest, KillsABeginThatWillNotGo) {
  OutageCommand outage(
      {.begin = "trap '' TERM; " + writes("begun") + "; sleep 1000; " + writes("too late"),
       .end = writes("ended")});
  outage.begin();
  EXPECT_TRUE(becomes("begun\n"));
  outage.end();
  EXPECT_TRUE(becomes("begun\nended\n"));
}

TEST_F(OutageCommandTest, EndsWhenTheObjectGoes) {
  {
    OutageCommand outage({.begin = writes("begun"), .end = writes("ended")});
    outage.begin();
    EXPECT_TRUE(becomes("begun\n"));
  }
  EXPECT_EQ(written(), "begun\nended\n");
}

TEST_F(OutageCommandTest, EndsNothingThatHasNotBegunOrHasEnded) {
  { const OutageCommand outage({.begin = writes("begun"), .end = writes("ended")}); }
  EXPECT_EQ(written(), "");
  {
    OutageCommand outage({.begin = writes("begun"), .end = writes("ended")});
    outage.begin();
    outage.end();
  }
  // The end may have come before the first word was written.
  EXPECT_THAT(written(), testing::AnyOf("begun\nended\n", "ended\n"));
}

TEST_F(OutageCommandTest, EndsEvenWhenTheWholeGroupIsKilled) {
  const pid_t leader = run_apart([&] {
    static OutageCommand outage({.begin = writes("begun"), .end = "sleep 0.1; " + writes("ended")});
    outage.begin();
  });
  EXPECT_TRUE(becomes("begun\n"));
  kill_group(leader);
  EXPECT_TRUE(becomes("begun\nended\n"));
}

// The command is not of that group: it is let go on, or terminated, and then comes the end.
TEST_F(OutageCommandTest, EndsEvenWhenTheGroupIsKilledAsItBegins) {
  const pid_t leader = run_apart([&] {
    static OutageCommand outage(
        {.begin = writes("begun") + "; sleep 1000", .end = writes("ended")});
    outage.begin();
  });
  EXPECT_TRUE(becomes("begun\n"));
  kill_group(leader);
  EXPECT_TRUE(becomes("begun\nended\n"));
}

// What is told on their standard output is not among the clients' lines.
TEST_F(OutageCommandTest, ReadsNothingAndWritesToStandardError) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  {
    OutageCommand outage({.begin = "cat; echo said", .end = ""});
    outage.begin();
    outage.take_news(kPatience);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "said\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace retrystorm::test
