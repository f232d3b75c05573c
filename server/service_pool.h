// Runs the service in real time: a timer for its next event, and worker threads that answer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "common/calls/threads.h"
#include "model/base/duration.h"
#include "model/service/service.h"

namespace retrystorm {

class Upstream;

// Parks accepted connections in the service. A parked connection costs only memory. One thread
// wakes when a request's time in the service is over, and a few other threads send the answers. If the service
// calls others, that time is its own work, and the answer comes when the calls are over.
// All members may be called from any thread.
class ServicePool {
 public:
  // A request and its connection, which is closed when the job is destroyed. It is all that a parked connection
  // costs, so it is one small block.
  class Job {
   public:
    virtual ~Job() = default;
    virtual void answer() = 0;  // reads the request and answers; if it throws, it has not
    virtual bool is_abandoned() const { return false; }  // has the client hung up?
    // Tells how much time the request has left, from when it is read. Nothing if that cannot be read yet. Empty: no
    // request has a deadline. It may outlive the job.
    virtual std::function<std::optional<Duration>()> time_left() const { return {}; }

    // `TimePoint::max()`: none, or not read yet. A request that has arrived counts as read.
    TimePoint until() const;

   private:
    friend ServicePool;
    static constexpr TimePoint kNotRead = TimePoint::min();
    TimePoint arrived_{};
    mutable TimePoint deadline_ = kNotRead;
    bool called_ = false;  // its calls are over
  };
  using Parked = std::unique_ptr<Job>;

  // options.max_connections must be set. `upstream`: what it calls; null if it calls nobody. It must outlive the
  // pool. `keeps_deadlines`: a request whose deadline is over is not served.
  ServicePool(const ServiceOptions& options, std::uint64_t seed, Upstream* upstream = nullptr,
              bool keeps_deadlines = false);
  ~ServicePool();

  ServicePool(const ServicePool&) = delete;
  ServicePool& operator=(const ServicePool&) = delete;

  // Takes in a connection. Blocks while `max_connections` are here. The kernel's accept queue fills
  // meanwhile, as with any server that is out of descriptors.
  void accept(Parked job);

  // Takes in the next request of a connection that was idle. Never blocks.
  void take_in(Parked job);

  // Changes the service's settings.
  void configure(const ServiceOptions& options);

  // With true: accepted connections do not enter the service, but are kept for `lose_all`, and
  // `accept` does not block. With false: back to normal.
  void turn_away(bool all);

  // Removes all parked connections from the service, unanswered. Call it after the connections have
  // been reset. Their jobs then run, only to close them.
  void lose_all();

  // Runs all parked jobs at once, and every job accepted later. `accept` no longer blocks.
  void stop();

  // Waits until every job has run. Call it after `stop`, and after the last `accept`.
  void join();

  // For the job that runs on this thread: the answer to send.
  static const Answer& current_answer();
  // For the job that runs on this thread: how long its request has been in the service.
  static Duration current_service_time();
  // Called by the job that runs on this thread when it has written an OK answer. Whether the client
  // received it is not known.
  static void count_as_served();

  // The counts since the last call, and the current state.
  ServerInterval take_interval();

  // The counts since the start, and the current state.
  ServerInterval totals() const;

  // The current number of worker threads.
  std::size_t workers() const;

 private:
  struct Connection {
    Parked job;
    Answer answer;
    TimePoint ready_at{};
    TimePoint admitted{};
    enum class State { kAnswered, kLost, kTurnedAway } state = State::kAnswered;
  };
  // A request whose calls are under way.
  struct Calling {
    Connection connection;
    std::shared_ptr<LetGo> let_go = std::make_shared<LetGo>();
  };
  using Workers = std::list<std::jthread>;

  void run_turned_away();                                  // with the lock held
  void arrive(Parked job, TimePoint now);                  // with the lock held
  void answer_soon(Connection connection, TimePoint now);  // with the lock held
  void begin_calls(Connection connection, TimePoint now);  // with the lock held
  // Called by another thread.
  void calls_over(const std::shared_ptr<Calling>& calling, const Answer& answer);
  void release_due();                 // moves finished connections to `ready_`; with the lock held
  void watch_service();               // runs on the timer thread
  void work(Workers::iterator self);  // runs on a worker thread
  void add_worker();                  // with the lock held
  void grow();                        // with the lock held
  void retire_surplus();              // with the lock held

  std::size_t max_connections_;
  Upstream* const upstream_;

  mutable std::mutex mutex_;
  std::condition_variable service_changed_, work_, room_;
  Service<Parked> service_;
  IntervalTaker intervals_;
  std::deque<Connection> ready_;  // waiting for a worker
  std::set<std::shared_ptr<Calling>> calling_;
  std::vector<Parked> turned_away_;  // run after their connections have been reset
  TimePoint timer_wakes_at_ = TimePoint::max();
  bool stopping_ = false;
  bool turns_away_ = false;
  bool closed_ = false;  // no more connections will be accepted

  Workers workers_;
  Workers ended_workers_;       // have yet to be joined
  std::size_t idle_ = 0;        // number of workers waiting for a connection
  std::size_t least_idle_ = 0;  // the smallest `idle_` since the last `retire_surplus`
  std::size_t retiring_ = 0;    // number of workers that still have to end
  std::jthread timer_;
};

}  // namespace retrystorm
