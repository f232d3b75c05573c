#include "client/dashboard/event_stream.h"

#include <algorithm>
#include <utility>

namespace retrystorm {
namespace {

constexpr std::size_t kMostKept = 3600;  // an hour, at one event a second
constexpr std::size_t kMostBehind = 64;  // events in a browser's queue before it is dropped
constexpr std::size_t kMostBrowsers = 48;

}  // namespace

EventStream::Subscription::Subscription(std::deque<Message> first)
    : queue_(std::move(first)), most_queued_(queue_.size() + kMostBehind) {}

std::optional<std::string> EventStream::Subscription::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [this] { return !queue_.empty() || ended_ || dropped_; });
  if (dropped_ || (ended_ && queue_.empty())) return std::nullopt;
  std::string text;
  for (const Message& message : queue_) text += *message;
  queue_.clear();
  return text;
}

void EventStream::Subscription::push(const Message& message) {
  const std::scoped_lock lock(mutex_);
  if (queue_.size() >= most_queued_) {
    dropped_ = true;
    queue_.clear();
  }
  if (!dropped_) queue_.push_back(message);
  changed_.notify_one();
}

void EventStream::Subscription::end() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  changed_.notify_one();
}

void EventStream::send(const Json& event, Keep keep) {
  const auto message = std::make_shared<const std::string>("data: " + json_line(event) + "\n\n");
  const std::scoped_lock lock(mutex_);
  history_.push_back({message, keep});
  if (history_.size() > kMostKept) {
    const auto oldest = std::ranges::find(history_, Keep::kRun, &Kept::keep);
    history_.erase(oldest == history_.end() ? history_.begin() : oldest);
  }
  std::erase_if(subscriptions_, [&](const std::weak_ptr<Subscription>& each) {
    const auto subscription = each.lock();
    if (subscription) subscription->push(message);
    return !subscription;
  });
}

void EventStream::begin_run() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(history_, [](const Kept& kept) { return kept.keep == Keep::kRun; });
}

std::shared_ptr<EventStream::Subscription> EventStream::subscribe() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(subscriptions_, [](const auto& each) { return each.expired(); });
  if (ended_ || subscriptions_.size() >= kMostBrowsers) return nullptr;
  std::deque<Message> first;
  for (const Kept& kept : history_) first.push_back(kept.message);
  const auto subscription = std::make_shared<Subscription>(std::move(first));
  subscriptions_.push_back(subscription);
  return subscription;
}

void EventStream::end() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  for (const auto& each : subscriptions_) {
    if (const auto subscription = each.lock()) subscription->end();
  }
}

}  // namespace retrystorm
