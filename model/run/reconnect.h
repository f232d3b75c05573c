// Clients that keep a connection to the service lose it all at once, and come back.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/backoff.h"

namespace retrystorm {

// How a client that has lost its connection makes another one. It waits, and sends requests until
// each of them has succeeded. Each failure makes it wait again. It never gives up.
struct ReconnectSettings {
  // Its waits. The first one is before the first attempt.
  BackoffSettings backoff{.growth = Growth::kExponential,
                          .base = std::chrono::seconds(1),
                          .cap = std::chrono::seconds(30),
                          .jitter = {.kind = Jitter::Kind::kFull}};
  std::size_t calls = 1;  // how many requests a connect is, one after the other
};

void declare_options(OptionList& options, ReconnectSettings& settings);

// The random stream of a client's connects. Those of the clients' requests are before these.
constexpr std::uint64_t stream_of_connects(std::size_t clients, std::uint64_t client) {
  return clients + client;
}

// Adds the options that were given but have no effect where clients reconnect.
void find_unused(UnusedOptions& unused, const ReconnectSettings& settings);

// How far the clients have come back. Times are since they lost their connections.
struct ReconnectResult {
  std::size_t clients = 0;                 // that lost their connection
  std::size_t back = 0;                    // of these, with a connection again
  std::uint64_t attempts = 0, failed = 0;  // of connects; one whose answer is not there is neither
  std::optional<Duration> half_back{}, all_back{};
};

// Follows the clients while they come back. Not thread-safe.
class ReconnectProgress {
 public:
  void lose(TimePoint now, std::size_t clients) {
    lost_at_ = now;
    result_.clients = clients;
  }
  void come_back(TimePoint now) {
    ++result_.back;
    if (result_.back == (result_.clients + 1) / 2) result_.half_back = now - lost_at_;
    if (result_.back == result_.clients) result_.all_back = now - lost_at_;
  }

  // The clients without a connection.
  std::size_t without() const { return result_.clients - result_.back; }

  // All but the attempts, which the engine counts.
  const ReconnectResult& result() const { return result_; }

 private:
  TimePoint lost_at_{};
  ReconnectResult result_;
};

}  // namespace retrystorm
