#include "model/run/workload.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Job, WorkersComeOneAfterTheOtherAndTakeTheNextTask) {
  Job job({.tasks = 3, .calls = 2, .workers_start = 5s}, 10);
  EXPECT_EQ(job.next_start(), 0s);
  EXPECT_EQ(job.start(), 0u);
  EXPECT_EQ(job.next_start(), 5s);
  EXPECT_EQ(job.start(), 1u);
  EXPECT_EQ(job.next_start(), 10s);
  EXPECT_EQ(job.present(), 2u);

  EXPECT_TRUE(job.next_call(0));  // the task's second call
  EXPECT_TRUE(job.next_call(0));  // and the third task's first
  EXPECT_EQ(job.next_start(), std::nullopt);
  EXPECT_TRUE(job.next_call(1));
  EXPECT_FALSE(job.next_call(1));  // no task is left
  EXPECT_EQ(job.present(), 1u);
  EXPECT_FALSE(job.all_done());
  EXPECT_EQ(job.result(7s).makespan, std::nullopt);
  EXPECT_EQ(job.result(7s).done, 4u);

  EXPECT_TRUE(job.next_call(0));
  EXPECT_FALSE(job.next_call(0));
  EXPECT_TRUE(job.all_done());
  EXPECT_EQ(job.result(9s).makespan, 9s);
  EXPECT_EQ(job.result(9s).done, 6u);
}

TEST(Job, HasAMaximumOfWorkers) {
  Job job({.tasks = 100, .calls = 1, .workers_start = 0s}, 2);
  job.start();
  EXPECT_EQ(job.next_start(), 0s);
  job.start();
  EXPECT_EQ(job.next_start(), std::nullopt);
  for (int i = 0; i < 98; ++i) EXPECT_TRUE(job.next_call(0));
  EXPECT_FALSE(job.next_call(0));
  EXPECT_FALSE(job.next_call(1));
  EXPECT_TRUE(job.all_done());
}

// The first worker has done the whole job before the second would start.
TEST(Job, StartsNoWorkerWhenNoTaskIsLeft) {
  Job job({.tasks = 1, .calls = 1, .workers_start = 5s}, 10);
  job.start();
  EXPECT_EQ(job.next_start(), std::nullopt);
  EXPECT_FALSE(job.next_call(0));
  EXPECT_TRUE(job.all_done());
}

}  // namespace
}  // namespace retrystorm
