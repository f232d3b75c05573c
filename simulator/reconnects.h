// The connections of simulated clients that keep one: lost all at once, and made anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/duration.h"
#include "model/run/connections.h"
#include "model/run/request_trace.h"
#include "simulator/caller.h"
#include "simulator/calls.h"
#include "simulator/scenario.h"

namespace retrystorm {

// Stands between the calls of a run and its server. An attempt passes if its client has a
// connection. Otherwise it waits for one, and its timeout goes on. Clients connect by calls of their
// own to the same server. Times passed in never decrease.
class Reconnects final : public Target, private CallOwner {
 public:
  // All clients have a connection. `requests` must outlive this object, and `trace` too. `trace`:
  // null if nothing is traced.
  Reconnects(const Scenario& scenario, Calls& requests, RequestTrace* trace);

  Reconnects(const Reconnects&) = delete;
  Reconnects& operator=(const Reconnects&) = delete;

  // Sets the server. Call before the first attempt. It must outlive this object.
  void send_to(Target& server) { to_server_.server = &server; }
  // Gets the server's answers.
  Caller& caller() { return caller_; }

  // All clients lose their connection, also those that wait for nothing, and begin to come back.
  // Attempts in flight fail.
  void lose_all(TimePoint now);

  void connect(TimePoint now, const Attempt& attempt) override { pass(now, attempt, false); }
  void send(TimePoint now, const Attempt& attempt) override { pass(now, attempt, true); }
  void close_idle(TimePoint now) override { to_server_.server->close_idle(now); }
  void hang_up(TimePoint now, const Attempt& attempt) override;
  void reset(TimePoint now, std::uint32_t process) override {
    to_server_.server->reset(now, process);
  }

  // The calls by which clients connect. They have timeouts and waits too.
  Calls& connects() { return connects_; }

  // The clients without a connection.
  std::size_t without() const { return progress_.without(); }
  ReconnectResult result() const;

 private:
  // The server sees two attempts of a client as different by their numbers. Those of connects have
  // this bit.
  static constexpr std::uint32_t kConnects = 1u << 31;
  static bool is_connect(const Attempt& attempt) { return (attempt.number & kConnects) != 0; }
  static Attempt marked(const Attempt& attempt) {
    return {attempt.client, attempt.number | kConnects};
  }
  static Attempt plain(const Attempt& attempt) {
    return {attempt.client, attempt.number & ~kConnects};
  }

  // Passes what the server answers to whom it concerns.
  class Answers final : public Caller {
   public:
    Answers(Calls& requests, Calls& connects) : requests_(requests), connects_(connects) {}
    bool waits_for(const Attempt& attempt) const override {
      return of(attempt).waits_for(plain(attempt));
    }
    void let_in(TimePoint now, const Attempt& attempt) override {
      of(attempt).let_in(now, plain(attempt));
    }
    void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) override {
      of(attempt).take_answer(now, plain(attempt), answer);
    }
    void lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) override {
      of(attempt).lose_connection(now, plain(attempt), why);
    }
    void lose_idle_connections() override { requests_.lose_idle_connections(); }
    std::optional<std::size_t> idle_connections() const override {
      return requests_.idle_connections();
    }
    bool lose_longest_idle_connection() override {
      return requests_.lose_longest_idle_connection();
    }
    bool multiplexes() const override { return requests_.multiplexes(); }
    // Connects have connections of their own.
    std::uint32_t process_of(const Attempt& attempt) const override {
      return requests_.process_of(plain(attempt));
    }
    void lose_connections_of(TimePoint now, std::uint32_t process) override {
      requests_.lose_connections_of(now, process);
    }
    void expect(const Attempt& attempt) const override { of(attempt).expect(plain(attempt)); }

   private:
    Calls& of(const Attempt& attempt) const { return is_connect(attempt) ? connects_ : requests_; }

    Calls& requests_;
    Calls& connects_;
  };

  // Takes the attempts of connects to the server.
  struct ToServer final : public Target {
    Target* server = nullptr;
    void connect(TimePoint now, const Attempt& attempt) override {
      server->connect(now, marked(attempt));
    }
    void send(TimePoint now, const Attempt& attempt) override {
      server->send(now, marked(attempt));
    }
    void hang_up(TimePoint now, const Attempt& attempt) override {
      server->hang_up(now, marked(attempt));
    }
  };

  struct Client {
    bool connected = true;
    std::uint32_t calls = 0;    // of its connect, that have succeeded
    std::uint32_t waiting = 0;  // the number of its attempt that waits for the connection; 0: none
    bool on_kept = false;       // that attempt uses a connection of its process's pool
  };

  // Sends an attempt, on a kept connection or on a new one, as soon as its client is connected.
  void pass(TimePoint now, const Attempt& attempt, bool kept);

  // Of connects.
  void call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) override;

  const std::size_t calls_;  // of a connect
  Calls& requests_;
  RequestTrace* const trace_;
  Calls connects_;
  Answers caller_;
  ToServer to_server_;
  std::vector<Client> clients_;
  ReconnectProgress progress_;
  bool losing_ = false;  // what a pool sends again meanwhile has to wait
};

}  // namespace retrystorm
