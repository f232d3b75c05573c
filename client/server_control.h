// Tells the server, over its admin port, what befalls it and what is done about it.
#pragma once

#include <httplib.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "client/url.h"
#include "model/base/duration.h"

namespace retrystorm {

// Orders are sent one after the other, in the order in which they were given, by a thread of its
// own: a server that is frozen gets them when it wakes, and holds up nobody meanwhile.
class ServerControl {
 public:
  // `url`: the admin port's. `tell` is told what an order that was not carried out has to say; from
  // the thread. Nothing is sent yet.
  ServerControl(const Url& url, std::string token, std::function<void(const std::string&)> tell);
  // Waits for the orders on their way, at most for a second.
  ~ServerControl();

  ServerControl(const ServerControl&) = delete;
  ServerControl& operator=(const ServerControl&) = delete;

  // Would the server carry out these orders (see control.h), a line each? Throws std::runtime_error
  // with a sentence for a person if not, or if it cannot be asked.
  void check(const std::string& orders);

  // Returns at once. Safe from any thread.
  void send(std::string order);

  // Those that were not carried out. Safe from any thread.
  std::size_t failed() const { return failed_; }

 private:
  void run();
  // Empty when it was done, else why not.
  std::string post(httplib::Client& to, const char* path, const std::string& orders);

  const Url url_;
  const std::string token_;
  const std::function<void(const std::string&)> tell_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> orders_;  // the first is on its way
  bool end_ = false;
  std::atomic<bool> ended_{false};
  std::atomic<std::size_t> failed_{0};
  httplib::Client client_;  // the thread's
  std::thread thread_;
};

// The token in the first line of the file. Throws std::runtime_error with a sentence for a person.
std::string read_token(const std::string& path);

}  // namespace retrystorm
