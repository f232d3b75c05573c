// Sends the server orders over its admin port, outages and actions, and asks it for its status once a second.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "client/server_status.h"
#include "common/http/http_client.h"
#include "common/http/http_request.h"
#include "model/base/duration.h"

namespace retrystorm {

// Polls on a separate thread, so that a server that is frozen, gone or without a status blocks
// nobody.
class ServerMonitor {
 public:
  // `url` must answer with a JSON object that has `concurrency` and `last_delay_s`.
  explicit ServerMonitor(const Url& url);

  // Empty if the server did not answer the last time. Safe from any thread.
  std::optional<ServerStatus> status() const;

 private:
  void run(const std::stop_token& end);
  std::optional<ServerStatus> ask();

  const HttpRequest request_;
  HttpClient client_;

  mutable std::mutex mutex_;
  std::optional<ServerStatus> status_;
  std::jthread thread_;  // the last member: it ends before the others
};

// A separate thread sends the orders one after the other, in the order in which they were given. A
// frozen server gets them when it wakes, and does not block the caller until then.
class ServerControl {
 public:
  struct Answer {
    std::string order;
    std::string why_not;  // a readable sentence; empty: the order was carried out
  };

  // `url`: of the admin port. Sends nothing yet.
  ServerControl(const Url& url, std::string token);
  // Drops all orders that have not been carried out.
  ~ServerControl() { finish(Duration::zero()); }

  // Asks the server whether it would carry out these orders (see orders.h), one on each line.
  // Throws std::runtime_error with a readable message if it would not, or if it cannot be asked.
  void check(const std::string& orders);

  // Returns at once. Safe from any thread.
  void send(std::string order);

  // The answers since the last call, in the same order as the orders. Safe from any thread.
  std::vector<Answer> take_answers();

  // Waits at most `patience` for the answers to all orders, then drops the rest: the server does
  // not carry them out later. Do not call `send` at the same time.
  void finish(Duration patience);

 private:
  struct Reply {
    std::string why_not{};  // empty: the orders were carried out
    bool refused = false;   // true if none of them has any effect
  };

  void run(const std::stop_token& end);
  // Returns an empty text if the order was carried out, else the reason. If the server refused an
  // outage, its end is not sent: the outage in force is another client's.
  std::string carry_out(const std::string& order);
  Reply post(HttpClient& to, const char* path, const std::string& orders, Duration patience);

  const Url url_;
  const std::string token_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> orders_;  // the first one is being sent
  std::vector<Answer> answers_;
  bool outage_refused_ = false;  // used only by the thread
  HttpClient client_;            // used by the thread; others only interrupt it
  std::jthread thread_;          // the last member: it ends before the others
};

// The servers of several hosts. An order is answered once each of those that got it has answered. Not thread-safe.
class ServerControls {
 public:
  // That of the next host. See `ServerControl`; checks these orders.
  void add(const Url& url, const std::string& token, const std::string& orders) {
    controls_.emplace_back(url, token).check(orders);
  }
  bool empty() const { return controls_.empty(); }
  // Gives it to so many, the first ones.
  void send(const std::string& order, std::size_t hosts);
  std::vector<ServerControl::Answer> take_answers();
  void finish(Duration patience);

 private:
  struct Sent {
    ServerControl::Answer answer;
    std::set<std::size_t> open;  // who has not answered
  };
  std::deque<ServerControl> controls_;
  std::deque<Sent> sent_;
};

// Reads the token in the first line of the file. Throws std::runtime_error with a readable message.
std::string read_token(const std::string& path);

}  // namespace retrystorm
