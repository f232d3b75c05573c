// Single requests told from beginning to end: each of their attempts, and what became of it.
//
// The mean of a thousand clients hides what one request goes through. The most instructive part is
// what nobody waits for any more: an attempt that its client has given up still lies in the
// kernel's queue, is served, and answered too late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/retry/attempt_result.h"
#include "model/retry/give_up.h"
#include "model/retry/process_parts.h"
#include "model/run/client_behaviour.h"

namespace retrystorm {

// What became of an attempt, as its client sees it.
enum class AttemptFate {
  kUnderWay,  // the run ended before it did
  kOk,
  kError,
  kTimedOut,
  kNotSent,
};

// Nothing where something is not known, or has not happened.
struct TracedAttempt {
  Duration t{0};  // since the start of the run: when it was sent, or was not
  AttemptFate fate = AttemptFate::kUnderWay;
  int status = 0;                     // an error: of the answer; 0 without one
  std::optional<GiveUp> why{};        // not sent: by what
  std::optional<Duration> latency{};  // from sending to its end for the client

  // Its way, one after the other. Where the server is not seen but by its answers, `queue` is all
  // that is not the service: connecting, the kernel's queue, the network; `connect` is not known.
  std::optional<Duration> connect{};  // until the kernel had room for the connection
  std::optional<Duration> queue{};    // in the kernel's accept queue
  std::optional<Duration> service{};  // in the service, until it was answered or cancelled
  // From its end for the client until the server was done with it: it was answered in vain.
  std::optional<Duration> late{};

  std::optional<Duration> wait{};  // that the client then decided on; nothing: the request was over
};

struct TracedRequest {
  std::uint64_t number = 0;  // 1, 2, ...: in the order in which they began
  std::uint64_t client = 0;  // open arrivals: the place that it took
  Duration t{0};             // since the start of the run: when its first attempt was asked for
  std::optional<Duration> time{};         // from then to its end; nothing: the run ended first
  std::optional<GiveUp> gave_up{};        // why it failed for good; nothing: it did not
  std::vector<TracedAttempt> attempts{};  // in order, also those that were not sent

  std::size_t sent() const;
};

// Follows the first requests that begin once it is open. An engine tells it what happens as it
// happens, of all clients: what belongs to no request that is followed is passed over. Not for use
// from two threads at once.
class RequestTrace {
 public:
  // Does the engine see the server, or only its answers? If it does, a request is told once the
  // server is done with all of its attempts.
  enum class Sees { kServer, kAnswers };

  // `start` is the run's.
  RequestTrace(Sees sees, TimePoint start, std::size_t most)
      : sees_(sees), start_(start), most_(most) {}

  // Requests that begin from now on are followed.
  void open() { open_ = true; }
  bool is_open() const { return open_; }

  // Could the next request that begins be followed?
  bool wants() const { return open_ && begun_ < most_; }

  // --- The client's side. A client has one request at a time.

  // Its first attempt is asked for. Returns whether it is followed.
  bool begin(TimePoint now, std::uint64_t client);
  // `number` tells this attempt of the client from its others.
  void sent(TimePoint now, std::uint64_t client, std::uint32_t number);
  void not_sent(TimePoint now, std::uint64_t client, Permission::Kind why);
  // `service`: what the answer says of how long it was in the service.
  void ended(std::uint64_t client, const AttemptResult& result,
             std::optional<Duration> service = std::nullopt);
  // What follows an attempt that has ended or was not sent.
  void follow(TimePoint now, std::uint64_t client, const NextAttempt& next);

  // --- The server's side, where it is seen: of any attempt that was sent.

  void no_room(std::uint64_t client, std::uint32_t number);                   // its SYN was dropped
  void connected(TimePoint now, std::uint64_t client, std::uint32_t number);  // after that
  void accepted(TimePoint now, std::uint64_t client, std::uint32_t number);
  // Whether or not anybody waited for the answer. Before `ended`, where the client did.
  void answered(TimePoint now, std::uint64_t client, std::uint32_t number);
  // It left unanswered, for its client has gone.
  void dismissed(TimePoint now, std::uint64_t client, std::uint32_t number);

  // Those of which nothing more will be known; each once, in the order in which that was so.
  std::vector<TracedRequest> take_finished() { return std::exchange(finished_, {}); }
  // The run has ended: all others, as far as they came.
  std::vector<TracedRequest> take_rest();

 private:
  struct Followed {
    TracedRequest request;
    std::size_t with_server = 0;  // attempts that the server is not done with
    bool over = false;
  };
  // Where an attempt is that the server is not done with.
  struct Place {
    std::uint64_t request;
    std::size_t attempt;
  };
  using Key = std::pair<std::uint64_t, std::uint32_t>;  // client, number

  Followed* of_client(std::uint64_t client);
  TracedAttempt* find(const Key& key);
  void leave(TimePoint now, const Key& key, bool answered);
  void forget(const Key& key);
  void finish_if_done(std::uint64_t request);

  const Sees sees_;
  const TimePoint start_;
  const std::size_t most_;
  bool open_ = false;
  std::uint64_t begun_ = 0;
  std::map<std::uint64_t, Followed> followed_;                    // by request
  std::unordered_map<std::uint64_t, std::uint64_t> at_hand_;      // by client: its request
  std::unordered_map<std::uint64_t, std::uint32_t> last_number_;  // by client
  std::map<Key, Place> with_server_;
  std::vector<TracedRequest> finished_;
};

}  // namespace retrystorm
