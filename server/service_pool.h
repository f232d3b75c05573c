// The real engine of the service queue: a timer for its front, and threads that answer.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/cli/options.h"
#include "common/output/report.h"
#include "model/base/duration.h"
#include "model/service/admission.h"
#include "model/service/service_queue.h"

namespace retrystorm {

// Parks accepted connections in the service queue at no cost but their memory: a thread wakes when
// the front is done, and a few others answer what is done. All members are safe from any thread.
class ServicePool {
 public:
  // Reads the request of one connection, answers it and closes the connection.
  using Job = std::function<void()>;

  // options.max_connections must be set.
  explicit ServicePool(const ServiceOptions& options);
  ~ServicePool();

  ServicePool(const ServicePool&) = delete;
  ServicePool& operator=(const ServicePool&) = delete;

  // Takes in a connection; blocks while as many are there as may be. The kernel's accept queue
  // fills meanwhile, as with any server that is out of descriptors.
  void accept(Job job);

  // Everything parked runs at once, and `accept` blocks no more.
  void stop();

  // After `stop`: waits until every job has run.
  void join();

  // For the job that runs on this thread: was it let in, and if not, when to come again?
  static Admission current_admission();
  static Duration current_retry_after();

  // What happened since the last call, and how things stand.
  ServerInterval take_interval();

  // What happened since the start, and how things stand.
  ServerInterval totals() const;

 private:
  struct Connection {
    Job job;
    Admission admission = Admission::kServe;
    Duration retry_after{0};
  };

  void release_due();  // moves what is done to `ready_`; with the lock held
  void watch_front();  // the timer thread
  void answer();       // a worker thread
  void grow();         // with the lock held
  std::size_t connections() const { return queue_.concurrency() + turned_away_; }

  const std::size_t max_connections_;

  mutable std::mutex mutex_;
  std::condition_variable front_changed_, work_, room_;
  ServiceQueue<Job> queue_;
  AdmissionControl admission_;
  std::deque<Connection> ready_;  // to be answered now
  std::size_t turned_away_ = 0;   // refused connections that are not yet answered
  std::size_t idle_ = 0;          // workers that wait for work
  std::uint64_t started_ = 0;     // jobs that workers took
  TimePoint timer_wakes_at_ = TimePoint::max();
  bool stopping_ = false;
  ServerInterval interval_;  // since the last `take_interval`
  ServerInterval taken_;     // before it

  std::vector<std::thread> workers_;
  std::thread timer_;
};

// The pool as cpp-httplib wants it. The server owns the adapter, its maker the pool.
class ServiceTaskQueue final : public httplib::TaskQueue {
 public:
  explicit ServiceTaskQueue(ServicePool& pool) : pool_(pool) {}

  // `void` in cpp-httplib 0.11, `bool` (was it taken?) in later versions.
  using Enqueued = decltype(std::declval<httplib::TaskQueue>().enqueue(ServicePool::Job()));
  Enqueued enqueue(ServicePool::Job job) override {
    pool_.accept(std::move(job));
    return Enqueued(true);
  }

  void shutdown() override {
    pool_.stop();
    pool_.join();
  }

 private:
  ServicePool& pool_;
};

}  // namespace retrystorm
