// The events of the live page. Every browser gets every event, even one that connects late.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/output/json_text.h"

namespace retrystorm {

// Thread-safe. An event costs one serialisation, and one pointer for each browser. A browser that
// does not take its events in time is dropped, so slow browsers never block the sender.
class EventStream {
 public:
  // An event as it goes over the wire.
  using Message = std::shared_ptr<const std::string>;

  // One browser's place in the stream.
  class Subscription {
   public:
    explicit Subscription(std::deque<Message> first);

    // Waits for the next events and returns all of them. Returns an empty text once `patience` is
    // over, and nothing if the stream has ended or this browser was too slow.
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

  // How long an event is kept for browsers that connect later.
  enum class Keep {
    kRun,    // until the next run begins
    kAlways  // even after that
  };

  void send(const Json& event, Keep keep);

  // A new run begins: drops what was kept for the last one.
  void begin_run();

  // The subscription gets the kept events first, then the new ones. Null if there are too many
  // browsers, or if the stream has ended.
  std::shared_ptr<Subscription> subscribe();

  // Every browser still gets what is in its queue, and then the end.
  void end();

 private:
  struct Kept {
    Message message;
    Keep keep;
  };

  std::mutex mutex_;
  std::deque<Kept> history_;
  std::vector<std::weak_ptr<Subscription>> subscriptions_;
  bool ended_ = false;
};

}  // namespace retrystorm
