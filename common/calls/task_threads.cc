#include "common/calls/task_threads.h"

#include <system_error>
#include <utility>

namespace retrystorm {

bool TaskThreads::start(Task task) {
  const std::scoped_lock lock(mutex_);
  if (idle_ <= tasks_.size()) {
    try {
      threads_.emplace_back(&TaskThreads::run, this);
    } catch (const std::system_error&) {
      return false;
    }
    ++idle_;
  }
  tasks_.push_back(std::move(task));
  given_.notify_one();
  return true;
}

void TaskThreads::run() {
  HttpAttempt attempt(request_);
  std::unique_lock lock(mutex_);
  while (true) {
    given_.wait(lock, [this] { return !tasks_.empty() || stopping_; });
    if (tasks_.empty()) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    --idle_;
    lock.unlock();
    task(attempt);
    lock.lock();
    ++idle_;
  }
}

void TaskThreads::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  given_.notify_all();
  for (std::thread& each : threads_) each.join();
  threads_.clear();
}

}  // namespace retrystorm
