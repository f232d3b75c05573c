// What became of the services of a chain: their intervals, and which of them died first.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "model/run/counts.h"

namespace retrystorm {

// A service, and those who call it, in one window. Rates are per second.
struct NodeInterval {
  double offered = 0, admitted = 0;
  double refused = 0;        // rejected, on arrival or later
  double in_time = 0;        // good answers that came before the caller gave up
  double worked = 0;         // requests for which it has done its own work
  double for_nobody = 0;     // of these, those that no client waited for any more
  double busy = 0;           // workers that do their own work; a mean
  double calling = 0;        // requests that wait for the next service's answer; a mean
  std::size_t workers = 0;   // at the end of the window
  std::size_t queue = 0;     // requests that wait for a worker, then
  Rates calls{};             // of its callers
  double amplification = 0;  // calls for each request of the clients that began in the window

  double for_nobody_share() const { return worked > 0 ? for_nobody / worked : 0; }
};

// The window that ends at `t`, of all services in their order.
struct ChainInterval {
  Duration t{0}, window{0};
  std::vector<NodeInterval> nodes{};
};

// The names of the services, and whether their workers wait for answers.
struct ChainNames {
  std::vector<std::string> names{};
  bool holds = true;
};

// The result for one service.
struct NodeResult {
  std::string name{};
  std::optional<double>
      calm_in_time{};  // per second, the mean of the windows before the outage but the first
  std::optional<NodeInterval> end{};  // the last window
  double amplification = 0;           // of the whole run
  std::optional<Duration> died{};     // when, if it did
  std::optional<Duration> back{};     // when it was back
};

struct ChainResult {
  bool holds = true;
  std::vector<NodeResult> nodes{};
  // The service that died first, and why. Empty if none did.
  std::optional<std::size_t> first{};
  std::string why{};
};

// Watches the services. A service is dead from the first of three windows after the outage in each of which fewer than
// half as many of its answers as before the outage came in time. It is back with the first window in
// which more do. Of services that die in the same window, the one that the others call is the first: they
// may only die of its answers.
class ChainWatch {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(5);
  static constexpr std::size_t kWindowsToDie = 3;

  explicit ChainWatch(ChainNames names) : names_(std::move(names)), windows_(names_.names.size()) {}

  const ChainNames& names() const { return names_; }
  void outage_begins(Duration t) { begins_ = t; }
  void outage_ends(Duration t) { ends_ = t; }
  void take(const ChainInterval& interval);
  ChainResult result() const;

 private:
  struct Window {
    Duration t, window;
    NodeInterval node;
  };
  // Of answers in time, before the outage. Empty without such windows.
  std::optional<double> calm_rate(std::size_t node) const;
  void find_death(std::size_t node, NodeResult& result) const;
  std::string why(std::size_t node, const ChainResult& result) const;

  const ChainNames names_;
  std::optional<Duration> begins_{}, ends_{};
  std::vector<std::vector<Window>> windows_;  // of each service
};

// "api died first, at 45s: ...". Empty if no service died.
std::string first_death(const ChainResult& result);

}  // namespace retrystorm
