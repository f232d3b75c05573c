#include "server/service_control.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "model/run/timeline.h"

namespace retrystorm {
namespace {

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
  if (outage) impose(*outage, all);
  return under(all, configured);
}

bool ServiceControl::State::take(const std::string& order) {
  OutageOrder begins;
  if (parse_outage_order(order, begins)) {
    outage = begins.outage;
    outage_lasts = begins.most;
    return false;
  }
  if (order == kEndOfOutage) {
    outage.reset();
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
      throw std::invalid_argument(order + " is the clients' affair");
    case Action::Kind::kRestart:
      break;
  }
  return true;
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

void ServiceControl::enforce(const State& next, bool restart) {
  state_ = next;
  outage_ends_ =
      state_.outage ? saturating_add(Clock::now(), state_.outage_lasts) : TimePoint::max();
  changed_.notify_all();
  const bool down = is_down(state_.outage);
  // What a server held before its restart never meets its new settings.
  if (down || restart) server_.go_down();
  server_.configure(state_.in_force());
  if (!down) server_.listen();
}

void ServiceControl::watch() {
  std::unique_lock lock(mutex_);
  while (!end_) {
    // A far time point overflows inside the wait of some standard libraries.
    changed_.wait_until(lock, std::min(outage_ends_, Clock::now() + std::chrono::hours(1)));
    if (end_ || Clock::now() < outage_ends_) continue;
    State next = state_;
    next.outage.reset();
    std::cerr << "the outage ends, for nobody has ended it\n";
    try {
      enforce(next, false);
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
    }
  }
}

}  // namespace retrystorm
