// The real engine of the service: a timer for its next event, and threads that answer.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "model/base/duration.h"
#include "model/service/service.h"

namespace retrystorm {

// Parks accepted connections in the service at no cost but their memory: a thread wakes when the
// service has something to give out, and a few others answer it. All members are safe from any
// thread.
class ServicePool {
 public:
  // Reads the request of one connection, answers it and closes the connection. One that throws has
  // not answered.
  using Job = std::function<void()>;

  // options.max_connections must be set.
  ServicePool(const ServiceOptions& options, std::uint64_t seed);
  ~ServicePool();

  ServicePool(const ServicePool&) = delete;
  ServicePool& operator=(const ServicePool&) = delete;

  // Takes in a connection; blocks while as many are there as may be. The kernel's accept queue
  // fills meanwhile, as with any server that is out of descriptors.
  void accept(Job job);

  // From now on these are the service's settings.
  void configure(const ServiceOptions& options);

  // Until it is called with false, what is accepted is no business of the service: its job runs at
  // once, for its connection is to be reset; nothing blocks.
  void turn_away(bool all);

  // Everything parked is gone from the service, unanswered. Their jobs run, to close what is left
  // of their connections.
  void lose_all();

  // Everything parked runs at once, and so does what is accepted from now on; nothing blocks.
  void stop();

  // After `stop`, and when nobody accepts any more: waits until every job has run.
  void join();

  // For the job that runs on this thread: what to answer, ...
  static const Answer& current_answer();
  // ... how long it has been in the service, ...
  static Duration current_service_time();
  // ... and that its client has been answered OK, as far as one can know.
  static void count_as_served();

  // What happened since the last call, and how things stand.
  ServerInterval take_interval();

  // What happened since the start, and how things stand.
  ServerInterval totals() const;

  // How many threads answer.
  std::size_t workers() const;

 private:
  struct Connection {
    Job job;
    Answer answer;
    TimePoint ready_at{};
    TimePoint admitted{};
    enum class State { kAnswered, kLost, kTurnedAway } state = State::kAnswered;
  };
  using Workers = std::list<std::thread>;

  void release_due();                 // moves what is done to `ready_`; with the lock held
  void watch_service();               // the timer thread
  void work(Workers::iterator self);  // a worker thread
  void add_worker();                  // with the lock held
  void grow();                        // with the lock held
  void retire_surplus();              // with the lock held

  const std::size_t max_connections_;

  mutable std::mutex mutex_;
  std::condition_variable service_changed_, work_, room_;
  Service<Job> service_;
  IntervalTaker intervals_;
  std::deque<Connection> ready_;  // to be answered now
  TimePoint timer_wakes_at_ = TimePoint::max();
  bool stopping_ = false;
  bool turns_away_ = false;
  bool closed_ = false;  // nothing more will be accepted

  Workers workers_;
  Workers ended_workers_;       // to be joined
  std::size_t idle_ = 0;        // workers that wait for work
  std::size_t least_idle_ = 0;  // since the surplus was last looked at
  std::size_t retiring_ = 0;    // workers that are to end
  std::thread timer_;
};

// The pool as cpp-httplib wants it. The server owns the adapter, its maker the pool, which goes on
// when a server has ended its accepting.
class ServiceTaskQueue final : public httplib::TaskQueue {
 public:
  // `accept_error` gets the `errno` with which accepting ended.
  ServiceTaskQueue(ServicePool& pool, int& accept_error)
      : pool_(pool), accept_error_(accept_error) {}

  // `void` in cpp-httplib 0.11, `bool` (was it taken?) in later versions.
  using Enqueued = decltype(std::declval<httplib::TaskQueue>().enqueue(ServicePool::Job()));
  Enqueued enqueue(ServicePool::Job job) override {
    pool_.accept(std::move(job));
    return Enqueued(true);
  }

  void shutdown() override;

 private:
  ServicePool& pool_;
  int& accept_error_;
};

}  // namespace retrystorm
