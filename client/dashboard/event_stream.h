// The events of the live page: told once, heard by every browser, also by one that comes late.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace retrystorm {

// Safe from any thread. Telling costs one serialisation and a pointer for each browser, whatever
// the browsers do: one that does not take its events in time is dropped.
class EventStream {
 public:
  // An event as it goes over the wire.
  using Message = std::shared_ptr<const std::string>;

  // One browser's place in the stream.
  class Subscription {
   public:
    explicit Subscription(std::deque<Message> first);

    // Waits for the next events, and returns all there are; none when `patience` is over. Nothing
    // at all when the stream has ended or this browser was too slow.
    std::optional<std::string> next(std::chrono::milliseconds patience);

   private:
    friend EventStream;

    void push(const Message& message);
    void end();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Message> queue_;
    const std::size_t most_queued_;
    bool dropped_ = false;
    bool ended_ = false;
  };

  // What comes of an event once it has been told.
  enum class Keep {
    kRun,    // it is a part of this run's course
    kAlways  // it is told to latecomers even after the run
  };

  void tell(const nlohmann::ordered_json& event, Keep keep);

  // A new run: what was kept for the one before is forgotten.
  void begin_run();

  // The history first, then what happens. Null when there are too many, or the stream has ended.
  std::shared_ptr<Subscription> subscribe();

  // Every browser gets what is still in its queue, and then the end.
  void end();

 private:
  struct Kept {
    Message message;
    Keep keep;
  };

  void forget_the_oldest();

  std::mutex mutex_;
  std::deque<Kept> history_;
  std::vector<std::weak_ptr<Subscription>> subscriptions_;
  bool ended_ = false;
};

}  // namespace retrystorm
