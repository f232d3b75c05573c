#include "server/service_control.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "common/os/process.h"
#include "model/run/timeline.h"

namespace retrystorm {
namespace {

// How long to wait before trying again to listen on a port that is in use.
constexpr auto kPause = std::chrono::seconds(1);

// Calls `take` with each order.
template <typename Take>
void each_order(const std::string& orders, Take take) {
  std::istringstream lines(orders);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) take(line);
  }
}

bool is_down(const std::optional<Disturbance>& outage) {
  return outage && outage->kind == Disturbance::Kind::kDrop;
}

}  // namespace

ServiceOptions ServiceControl::State::in_force() const {
  Conditions all = conditions;
  if (outage) apply(*outage, all);
  return with_conditions(all, configured);
}

bool ServiceControl::State::take(const std::string& order) {
  OutageOrder begins;
  if (parse_outage_order(order, begins)) {
    if (outage) {
      throw std::invalid_argument("another outage is in force: " + print_disturbance(*outage));
    }
    outage = begins.outage;
    outage_ends = saturating_add(Clock::now(), begins.most);
    return false;
  }
  std::optional<Disturbance> ended;
  if (parse_outage_end(order, ended)) {
    if (ended && outage && *ended != *outage) {
      throw std::invalid_argument("another outage is in force: " + print_disturbance(*outage));
    }
    end_outage();
    return false;
  }
  const Action action = parse_action(order);
  switch (action.kind) {
    case Action::Kind::kSet:
      change_option(configured, action.option, action.value, Engine::kReal);
      return false;
    case Action::Kind::kCapacity:
      conditions.capacity = action.factor;
      return false;
    case Action::Kind::kLoad:
      throw std::invalid_argument(order + " is for the clients, not for the server");
    case Action::Kind::kRestart:
      break;
  }
  return true;
}

void ServiceControl::State::end_outage() {
  outage.reset();
  outage_ends = TimePoint::max();
}

ServiceControl::ServiceControl(const ServiceOptions& configured, HttpServer& server)
    : server_(server), state_{.configured = configured}, thread_(&ServiceControl::watch, this) {}

ServiceControl::~ServiceControl() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ServiceControl::check(const std::string& orders) const {
  State state = [this] {
    const std::scoped_lock lock(mutex_);
    return state_;
  }();
  state.end_outage();  // the orders are carried out later, perhaps after this outage
  each_order(orders, [&state](const std::string& order) { state.take(order); });
}

void ServiceControl::carry_out(const std::string& orders) {
  const std::scoped_lock lock(mutex_);
  State next = state_;
  bool restart = false;
  each_order(orders, [&](const std::string& order) { restart |= next.take(order); });
  std::cerr << orders << (orders.empty() || orders.back() == '\n' ? "" : "\n");
  enforce(next, restart);
}

ServiceOptions ServiceControl::in_force() const {
  const std::scoped_lock lock(mutex_);
  return state_.in_force();
}

void ServiceControl::enforce(const State& next, bool restart) {
  state_ = next;
  listens_again_ = TimePoint::max();
  changed_.notify_all();
  const bool down = is_down(state_.outage);
  // Requests from before a restart are dropped before the new settings apply.
  if (down || restart) server_.go_down();
  server_.configure(state_.in_force());
  if (!down) listen();
}

void ServiceControl::listen() {
  listens_again_ = Clock::now() + kPause;
  server_.listen();
  listens_again_ = TimePoint::max();
}

void ServiceControl::watch() {
  std::unique_lock lock(mutex_);
  while (!end_) {
    changed_.wait_until(lock, bounded(std::min(state_.outage_ends, listens_again_)));
    if (end_) return;
    const TimePoint now = Clock::now();
    const bool tried_before = now < state_.outage_ends;
    try {
      if (!tried_before) {
        State next = state_;
        next.end_outage();
        std::cerr << "the outage ends: no client ended it in time\n";
        enforce(next, false);
      } else if (now >= listens_again_) {
        listen();
        std::cerr << "listening again\n";
      }
    } catch (const std::exception& error) {
      if (!tried_before) std::cerr << error.what() << "; trying again every second\n";
    }
  }
}

}  // namespace retrystorm
