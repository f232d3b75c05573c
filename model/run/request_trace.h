// Traces of single requests: each attempt from beginning to end, and its result.
//
// The mean of a thousand clients hides what a single request goes through. The most instructive
// part is the wasted work: an attempt that its client has given up still waits in the kernel's
// queue, is served, and is answered too late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/retry/attempt.h"
#include "model/retry/process_parts.h"
#include "model/run/client_behaviour.h"

namespace retrystorm {

// The result of an attempt, as its client sees it.
enum class AttemptFate {
  kUnderWay,  // the run ended first
  kOk,
  kError,
  kTimedOut,
  kNotSent,
  kSuperseded,  // its request was over: another attempt of it had won
};

// Optional values are empty if they are not known or did not happen.
struct TracedAttempt {
  Duration t{0};  // when it was sent or refused, since the start of the run
  AttemptFate fate = AttemptFate::kUnderWay;
  int status = 0;                     // error: the HTTP status, 0 without an answer
  std::optional<GiveUp> why{};        // not sent: the reason
  std::optional<Duration> latency{};  // from sending to the end, for the client

  // Its stages, in order. If only the server's answers are seen, `connect` is not known, and
  // `queue` is everything outside the service: connecting, the kernel's queue and the network.
  std::optional<Duration> pool{};     // kept connections: in line for one
  std::optional<Duration> connect{};  // until the kernel had room for the connection
  std::optional<Duration> queue{};    // in the kernel's accept queue
  std::optional<Duration> service{};  // in the service, until it was answered or cancelled
  // From the end for the client until the server finished it. The answer came too late.
  std::optional<Duration> late{};

  std::optional<Duration> wait{};  // the wait the client chose then; empty if the request was over
};

struct TracedRequest {
  std::uint64_t number = 0;  // from 1, in the order in which they began
  std::uint64_t client = 0;  // for open arrivals: its place
  Duration t{0};             // when it asked for its first attempt, since the start of the run
  std::optional<Duration> time{};         // from `t` to its end; empty if the run ended first
  std::optional<GiveUp> gave_up{};        // why it failed for good; empty if it did not
  std::vector<TracedAttempt> attempts{};  // in order, including those not sent

  std::size_t sent() const;
};

// Follows the first requests that begin once the trace is open. An engine reports the events of all
// clients as they happen. Events of requests that are not followed are ignored. Not thread-safe.
class RequestTrace {
 public:
  // Whether the engine sees the server or only its answers. If it sees the server, a request is
  // finished only when the server has finished all its attempts.
  enum class Sees { kServer, kAnswers };

  // `start`: the start of the run. `most`: how many requests to follow.
  RequestTrace(Sees sees, TimePoint start, std::size_t most)
      : sees_(sees), start_(start), most_(most) {}

  // Requests that begin from now on are followed.
  void open() { open_ = true; }
  bool is_open() const { return open_; }

  // True if the next request to begin would be followed.
  bool wants() const { return open_ && begun_ < most_; }

  // --- Client side. A client has one request at a time.

  // A request asks for its first attempt. Returns true if it is followed.
  bool begin(TimePoint now, std::uint64_t client);
  // `number` identifies the attempt among those of this client.
  void sent(TimePoint now, std::uint64_t client, std::uint32_t number);
  void not_sent(TimePoint now, std::uint64_t client, Permission::Kind why);
  // `service`: the time in the service, as the answer reports it. `pool`: how long it waited in line
  // for a kept connection.
  void ended(std::uint64_t client, const AttemptResult& result,
             std::optional<Duration> service = std::nullopt,
             std::optional<Duration> pool = std::nullopt);
  // The same for hedged requests, which have several attempts at a time. The server sees each attempt as one of
  // another client, its place.
  void sent(TimePoint now, std::uint64_t client, std::uint64_t place, std::uint32_t number);
  void ended(std::uint64_t place, std::uint32_t number, const AttemptResult& result);
  // Another attempt of its request has won. `cancelled`: it ends now.
  void superseded(std::uint64_t place, std::uint32_t number, Duration latency, bool cancelled);

  // What the client does after an attempt that has ended or was not sent.
  void follow(TimePoint now, std::uint64_t client, const NextAttempt& next);

  // --- Server side, if it is seen. For every attempt that was sent.

  // Its SYN was dropped, or it waits for a connection.
  void no_room(std::uint64_t client, std::uint32_t number);
  // Connections are kept: it waits in line for one no longer, or did not have to.
  void left_line(TimePoint now, std::uint64_t client, std::uint32_t number);
  void connected(TimePoint now, std::uint64_t client, std::uint32_t number);  // after that
  void accepted(TimePoint now, std::uint64_t client, std::uint32_t number);
  // Call this even if the client no longer waits. If it does wait, call this before `ended`.
  void answered(TimePoint now, std::uint64_t client, std::uint32_t number);
  // It left the server unanswered, because its client has gone.
  void dismissed(TimePoint now, std::uint64_t client, std::uint32_t number);

  // Requests that are finished. Each is returned once, in the order in which they finished.
  std::vector<TracedRequest> take_finished() { return std::exchange(finished_, {}); }
  // At the end of the run: all other requests, as far as they got.
  std::vector<TracedRequest> take_rest();

 private:
  struct Followed {
    TracedRequest request;
    std::size_t with_server = 0;  // attempts that the server has not finished
    bool over = false;
  };
  // Locates an attempt that the server has not finished.
  struct Place {
    std::uint64_t request;
    std::size_t attempt;
  };
  using Key = std::pair<std::uint64_t, std::uint32_t>;  // client, number

  Followed* of_client(std::uint64_t client);
  // An attempt of the client's request begins, which the server knows by this key. Nothing if it is not followed.
  std::optional<Place> add(TimePoint now, std::uint64_t client, const Key& key);
  TracedAttempt* find(const Key& key);
  static void end(TracedAttempt& attempt, const AttemptResult& result);
  // A hedged attempt that has not ended for its client; null if it is not followed. It is forgotten.
  TracedAttempt* take_hedged(const Key& key);
  void leave(TimePoint now, const Key& key, bool answered);
  void forget(const Key& key);
  void finish_if_done(std::uint64_t request);

  const Sees sees_;
  const TimePoint start_;
  const std::size_t most_;
  bool open_ = false;
  std::uint64_t begun_ = 0;
  std::map<std::uint64_t, Followed> followed_;                    // by request
  std::unordered_map<std::uint64_t, std::uint64_t> at_hand_;      // each client's current request
  std::unordered_map<std::uint64_t, std::uint32_t> last_number_;  // by client
  std::map<Key, Place> with_server_;
  std::map<Key, Place> hedged_;  // attempts that have not ended for their clients
  std::vector<TracedRequest> finished_;
};

}  // namespace retrystorm
