// Commands as an outage: they run in order, failures are reported, and the outage always ends.
#include "client/outage/outage_command.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

class OutageCommandTest : public testing::Test {
 protected:
  OutageCommandTest() { std::signal(SIGPIPE, SIG_IGN); }

  // A command that appends a word to the common file.
  std::string writes(const std::string& word) const { return "echo " + word + " >>" + path_; }
  std::string file(const std::string& name) const { return dir_.file(name); }
  std::string written() const { return read_file(path_); }
  bool becomes(const std::string& text) const {
    return eventually([&] { return written() == text; });
  }

  // Runs `work` in a process that leads a separate process group and then waits to be killed.
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

  TempDir dir_;
  const std::string path_ = dir_.file("words");
};

TEST_F(OutageCommandTest, RunsItsCommandsAndTellsWhatFails) {
  const std::string begin = "the command of --outage-begin ", end = "the command of --outage-end ";
  const struct {
    std::string begin, end;
    std::vector<std::string> begun, ended;  // what it tells
    std::string written;
    bool begin_failed = false, end_failed = false;
  } rows[] = {{writes("begun"), writes("ended"), {}, {}, "begun\nended\n"},
              {writes("begun"), "", {}, {}, "begun\n"},
              {"exit 3",
               "kill -SEGV $$",
               {begin + "failed: exit code 3"},
               {end + "was ended by signal 11"},
               "",
               true,
               true},
              // What has begun may go on then.
              {"true",
               "exit 4",
               {},
               {end + "failed: exit code 4; the outage may go on, so end it by hand: exit 4"},
               "",
               false,
               true},
              {"/nonexistent/command 2>/dev/null",
               writes("ended"),
               {begin + "failed: exit code 127"},
               {},
               "ended\n",
               true}};
  for (const auto& row : rows) {
    std::filesystem::remove(path_);
    OutageCommand outage({.begin = row.begin, .end = row.end});
    EXPECT_EQ(written(), "");
    outage.begin(TimePoint::max());
    EXPECT_EQ(outage.take_news(kPatience), row.begun);
    outage.end();
    EXPECT_EQ(outage.take_news(kPatience), row.ended);
    EXPECT_FALSE(outage.under_way());
    EXPECT_EQ(written(), row.written);
    EXPECT_EQ(outage.failures(), row.begun.size() + row.ended.size());
    EXPECT_EQ(outage.begin_failed(), row.begin_failed);
    EXPECT_EQ(outage.end_failed(), row.end_failed);
    EXPECT_FALSE(outage.in_doubt());
  }
}

TEST_F(OutageCommandTest, RunsOneOutageAfterTheOther) {
  OutageCommand outage({.begin = writes("begun"), .end = writes("ended")});
  for (int i = 0; i < 3; ++i) {
    outage.begin(TimePoint::max());
    EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
    outage.end();
  }
  EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
  EXPECT_EQ(written(), "begun\nended\nbegun\nended\nbegun\nended\n");
}

// Terminates the command and all processes that it has started, or kills one that will not go.
TEST_F(OutageCommandTest, TerminatesABeginThatDoesNotEnd) {
  for (const std::string trap : {"", "trap '' TERM; "}) {
    std::filesystem::remove(path_);
    OutageCommand outage({.begin = trap + writes("begun") + "; sleep 1000; " + writes("too late"),
                          .end = writes("ended")});
    const TimePoint start = Clock::now();
    outage.begin(TimePoint::max());
    EXPECT_TRUE(becomes("begun\n"));
    EXPECT_THAT(outage.take_news(), IsEmpty());
    EXPECT_TRUE(outage.under_way());
    outage.end();
    EXPECT_TRUE(becomes("begun\nended\n"));
    EXPECT_THAT(outage.take_news(kPatience),
                ElementsAre("the command of --outage-begin had not ended at the end of the outage, "
                            "and was terminated"));
    EXPECT_EQ(outage.failures(), 1);
    EXPECT_LT(Clock::now() - start, 60s);
  }
}

TEST_F(OutageCommandTest, EndsWhenTheObjectGoesWhatHasBegunAndNotEnded) {
  { const OutageCommand outage({.begin = writes("begun"), .end = writes("ended")}); }
  EXPECT_EQ(written(), "");
  for (const bool told : {false, true}) {
    std::filesystem::remove(path_);
    {
      OutageCommand outage({.begin = writes("begun"), .end = writes("ended")});
      outage.begin(TimePoint::max());
      EXPECT_TRUE(becomes("begun\n"));
      if (told) outage.end();
    }
    EXPECT_EQ(written(), "begun\nended\n");
  }
}

// The second time as it begins: the command is not in that group. It finishes or is terminated, and then the end command
// runs.
TEST_F(OutageCommandTest, EndsEvenWhenTheWholeGroupIsKilled) {
  for (const auto& row : {std::pair("", "sleep 0.1; "), std::pair("; sleep 1000", "")}) {
    std::filesystem::remove(path_);
    const pid_t leader = run_apart([&] {
      static OutageCommand outage(
          {.begin = writes("begun") + row.first, .end = row.second + writes("ended")});
      outage.begin(TimePoint::max());
    });
    EXPECT_TRUE(becomes("begun\n"));
    kill_group(leader);
    EXPECT_TRUE(becomes("begun\nended\n"));
  }
}

TEST_F(OutageCommandTest, EndsInTimeAlthoughNobodyTellsItTo) {
  OutageCommand outage({.begin = writes("begun"), .end = writes("ended")});
  outage.begin(saturating_add(Clock::now(), 300ms));
  EXPECT_TRUE(becomes("begun\nended\n"));
  outage.end();
  EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
  EXPECT_FALSE(outage.under_way());
  EXPECT_EQ(written(), "begun\nended\n");
  EXPECT_FALSE(outage.in_doubt());
}

// The first command kills the process that runs the commands. Its replacement is not killed.
TEST_F(OutageCommandTest, EndsEvenWhenTheProcessThatRunsThemIsKilled) {
  OutageCommand outage({.begin = writes("begun") + "; kill -9 $PPID", .end = writes("ended")});
  outage.begin(TimePoint::max());
  EXPECT_THAT(outage.take_news(kPatience),
              ElementsAre("the process that runs the outage's commands was killed: a new one runs "
                          "--outage-end"));
  EXPECT_EQ(written(), "begun\n");
  outage.end();
  EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
  EXPECT_EQ(written(), "begun\nended\n");
  EXPECT_EQ(outage.failures(), 1);
  EXPECT_TRUE(outage.in_doubt());
}

// The killed process is not noticed until the outage must end.
TEST_F(OutageCommandTest, EndsEvenWhenNobodySawTheProcessKilled) {
  OutageCommand outage(
      {.begin = "echo $PPID >" + file("runner") + "; " + writes("begun"), .end = writes("ended")});
  outage.begin(TimePoint::max());
  EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
  const pid_t runner = std::stoi(read_file(file("runner")));
  kill(runner, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(runner), &ended, WEXITED | WNOWAIT), 0);
  outage.end();
  EXPECT_THAT(outage.take_news(kPatience), ElementsAre(testing::HasSubstr("was killed")));
  EXPECT_EQ(written(), "begun\nended\n");
  EXPECT_EQ(outage.failures(), 0);
}

TEST_F(OutageCommandTest, GivesUpAnEndThatKillsWhoRunsIt) {
  OutageCommand outage({.begin = writes("begun"), .end = writes("ended") + "; kill -9 $PPID"});
  outage.begin(TimePoint::max());
  outage.end();
  EXPECT_THAT(outage.take_news(kPatience), Contains(testing::HasSubstr("again and again")));
  EXPECT_FALSE(outage.under_way());
  EXPECT_TRUE(outage.in_doubt());
}

// The command is stopped, so SIGTERM alone does not end it.
TEST_F(OutageCommandTest, TerminatesAnEndThatDoesNotEnd) {
  OutageCommand outage(
      {.begin = "",
       .end = "trap '' TERM; echo $$ >" + file("shell") + "; while :; do kill -STOP $$; done",
       .end_limit = 300ms});
  outage.begin(TimePoint::max());
  EXPECT_THAT(outage.take_news(kPatience), IsEmpty());
  outage.end();
  EXPECT_THAT(
      outage.take_news(kPatience),
      ElementsAre(testing::StartsWith("the command of --outage-end had not ended after 300ms, "
                                      "and was terminated; the outage may go on")));
  const pid_t shell = std::stoi(read_file(file("shell")));
  EXPECT_EQ(kill(shell, 0), -1);
  EXPECT_EQ(outage.failures(), 1);
  EXPECT_TRUE(outage.in_doubt());
}

TEST_F(OutageCommandTest, TerminatesAnEndThatDoesNotEndAlsoWhenNobodyIsLeft) {
  const pid_t leader = run_apart([&] {
    static OutageCommand outage({.begin = writes("begun"),
                                 .end = "echo $$ $PPID >" + file("both") + "; sleep 1000",
                                 .end_limit = 300ms});
    outage.begin(TimePoint::max());
  });
  EXPECT_TRUE(becomes("begun\n"));
  kill_group(leader);
  EXPECT_TRUE(eventually([&] { return !read_file(file("both")).empty(); }));
  std::istringstream both(read_file(file("both")));
  pid_t shell = 0, runner = 0;
  both >> shell >> runner;
  EXPECT_TRUE(eventually([&] { return kill(shell, 0) != 0 && kill(runner, 0) != 0; }));
}

// The commands' standard output does not mix with the clients' lines.
TEST_F(OutageCommandTest, ReadsNothingAndWritesToStandardError) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  {
    OutageCommand outage({.begin = "cat; echo said", .end = ""});
    outage.begin(TimePoint::max());
    outage.take_news(kPatience);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "said\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace retrystorm::test
