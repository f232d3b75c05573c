// Threads that run tasks, each at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "common/http/http_attempt.h"

namespace retrystorm {

// As many threads as there are tasks at a time. A thread keeps the object that sends attempts, and waits for
// the next task. All members are safe from any thread.
class TaskThreads {
 public:
  using Task = std::function<void(HttpAttempt&)>;

  // `request` must outlive this object.
  explicit TaskThreads(const HttpRequest& request) : request_(request) {}
  ~TaskThreads() { stop(); }

  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;

  // Returns false if the system has no more threads.
  bool start(Task task);

  // Waits until all tasks have ended. No others may be started.
  void stop();

 private:
  void run();

  const HttpRequest& request_;
  std::mutex mutex_;
  std::condition_variable given_;
  std::deque<Task> tasks_;  // that no thread has taken
  std::size_t idle_ = 0;    // threads that wait for one
  std::vector<std::thread> threads_;
  bool stopping_ = false;
};

}  // namespace retrystorm
