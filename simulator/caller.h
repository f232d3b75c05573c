// The interfaces between calls and a simulated server: one receives attempts, the other the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "model/base/duration.h"
#include "model/retry/attempt.h"
#include "model/service/admission.h"
#include "model/service/picker.h"

namespace retrystorm {

// One attempt of one client. With open arrivals, `client` stands for one request.
struct Attempt {
  std::uint32_t client;
  std::uint32_t number;

  // Instead of a client: the probe of a host.
  static constexpr std::uint32_t kProbe = std::numeric_limits<std::uint32_t>::max();
  bool is_probe() const { return client == kProbe; }

  // Another one for each attempt.
  std::uint64_t key() const { return static_cast<std::uint64_t>(client) << 32 | number; }
};

// Sends attempts.
class Caller {
 public:
  // False once the client has hung up.
  virtual bool waits_for(const Attempt& attempt) const = 0;

  // The service has let in an attempt that the client still waits for.
  virtual void let_in(TimePoint now, const Attempt& attempt) = 0;

  // Delivers the answer to an attempt that the client still waits for.
  virtual void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) = 0;

  // The attempt gets no answer: its connection was refused, reset, or never made.
  virtual void lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) = 0;

  // The server has closed every connection on which no request is under way.
  virtual void lose_idle_connections() = 0;

  // The accepted connections that it keeps, and on which no request is under way. Empty if it never keeps any.
  virtual std::optional<std::size_t> idle_connections() const { return std::nullopt; }

  // The server closes the connection on which no request has been under way for longest. Returns false
  // if there is none.
  virtual bool lose_longest_idle_connection() = 0;

  // Whether a connection carries the attempts of a whole process.
  virtual bool multiplexes() const { return false; }

  // The process whose connections the attempt uses. The client must still wait for it.
  virtual std::uint32_t process_of(const Attempt& /*attempt*/) const { return 0; }

  // The server has closed its connections to this process, with all that is under way on them.
  virtual void lose_connections_of(TimePoint /*now*/, std::uint32_t /*process*/) {}

  // Prefetch hint: this attempt will be looked up soon.
  virtual void expect(const Attempt& attempt) const = 0;

 protected:
  ~Caller() = default;
};

// A caller of a service that may have several hosts, numbered from 0. It keeps connections to each of them apart.
class CallerOfHosts : public Caller {
 public:
  // These are its hosts. Each process keeps connections to each of them, if it keeps any: in a pool for each, or in one
  // for all if a host is picked for each connection. Call it before the first attempt. `lose_connections_of` takes the
  // number of the process times that of all hosts, plus the host's, instead of a process.
  virtual void keep_connections_to(const HostSettings& hosts) = 0;
  virtual bool keeps_connections(const Attempt& attempt) const = 0;
  // As without `host`, of those to one host.
  virtual void lose_idle_connections(std::uint32_t host) = 0;
  virtual std::optional<std::size_t> idle_connections(std::uint32_t host) const = 0;
  virtual bool lose_longest_idle_connection(std::uint32_t host) = 0;
  void lose_idle_connections() final { lose_idle_connections(0); }
  std::optional<std::size_t> idle_connections() const final { return idle_connections(0); }
  bool lose_longest_idle_connection() final { return lose_longest_idle_connection(0); }

  // The processes, each of which may have a picker of its own.
  virtual std::size_t processes() const = 0;
  // From 0, with few gaps: of the client of an attempt, and of the request that it belongs to, which must not be over.
  virtual std::size_t number_of(const Attempt& attempt) const = 0;
  virtual std::size_t number_of_request(const Attempt& attempt) const = 0;
  // Is it the first attempt of its request?
  virtual bool is_first(const Attempt& attempt) const = 0;
  // How long it may still take.
  virtual Duration attempt_left(TimePoint now, const Attempt& attempt) const = 0;

 protected:
  ~CallerOfHosts() = default;
};

// Receives attempts.
class Target {
 public:
  // Chooses the host that the attempt goes to, if its caller keeps connections to each of several. `connect`, `send` or
  // `hang_up` follows. Empty: there is none.
  virtual std::optional<std::uint32_t> pick(TimePoint /*now*/, const Attempt& /*attempt*/) {
    return 0;
  }

  // In two steps, if a host is picked for each connection: chooses the host of the connection that the attempt opens;
  // and the attempt uses a connection to this host. False: the host has closed its connections.
  virtual std::optional<std::uint32_t> choose(TimePoint /*now*/, const Attempt& /*attempt*/) {
    return 0;
  }
  virtual bool use(TimePoint /*now*/, const Attempt& /*attempt*/, std::uint32_t /*host*/) {
    return true;
  }

  // Opens a connection for the attempt.
  virtual void connect(TimePoint now, const Attempt& attempt) = 0;

  // Sends the attempt on a connection that the server has accepted before.
  virtual void send(TimePoint now, const Attempt& attempt) = 0;

  // The caller has closed accepted connections on which no request was under way.
  virtual void close_idle(TimePoint /*now*/) {}

  // The caller stops waiting for an attempt. Call it before `waits_for` becomes false.
  virtual void hang_up(TimePoint now, const Attempt& attempt) = 0;

  // An attempt was reset on a connection that many attempts use. `number`: as that of `lose_connections_of`.
  virtual void reset(TimePoint /*now*/, std::uint32_t /*number*/) {}

 protected:
  ~Target() = default;
};

}  // namespace retrystorm
