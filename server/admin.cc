#include "server/admin.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "common/metrics/exposition.h"
#include "common/os/process.h"
#include "common/output/json_text.h"
#include "common/output/output_file.h"
#include "model/base/text.h"
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

}  // namespace

ServiceOptions ServiceControl::State::in_force() const {
  Conditions all = conditions;
  if (outage) apply(*outage, all);
  return with_conditions(all, configured);
}

bool ServiceControl::State::take(const std::string& order) {
  OutageOrder begins;
  if (parse_outage_order(order, begins)) {
    if (outage) refuse("another outage is in force: " + print_disturbance(*outage));
    outage = begins.outage;
    outage_ends = saturating_add(Clock::now(), begins.most);
    return false;
  }
  std::optional<Disturbance> ended;
  if (parse_outage_end(order, ended)) {
    if (ended && outage && *ended != *outage) {
      refuse("another outage is in force: " + print_disturbance(*outage));
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
      refuse(order + " is for the clients, not for the server");
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
    : server_(server),
      state_{.configured = configured},
      thread_([this](const std::stop_token& end) { watch(end); }) {}

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
  const bool down = state_.outage && state_.outage->kind == Disturbance::Kind::kDrop;
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

void ServiceControl::watch(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  while (!end.stop_requested()) {
    const TimePoint due = next_change();
    changed_.wait_until(lock, end, bounded(due), [&] { return next_change() != due; });
    if (end.stop_requested()) return;
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

std::string server_metrics(const ServerInterval& totals, const Upstream* upstream) {
  const ServiceCounts& counts = totals.counts;
  Exposition metrics;
  metrics.add("retrystorm_server_concurrency", "Connections accepted and not yet answered.",
              totals.concurrency);
  metrics.add("retrystorm_server_delay_seconds",
              "Delay of a request: by the curve at this concurrency or, with workers, of a request "
              "that arrives now.",
              to_seconds(totals.last_delay));
  metrics.add("retrystorm_server_requests_offered_total",
              "Connections accepted, whatever happened to them.", counts.offered);
  metrics.add("retrystorm_server_requests_admitted_total", "Connections admitted to the service.",
              counts.admitted);
  metrics.add("retrystorm_server_requests_completed_total",
              "Connections that the service has finished: served is an OK that could be sent, "
              "failed an error by --error-share, wasted anything else, such as work for a "
              "client that has hung up.",
              "result",
              {{"served", counts.served},
               {"failed", counts.failed},
               {"wasted", counts.completed - counts.served - counts.failed}});
  metrics.add("retrystorm_server_requests_lost_total",
              "Connections in the service that a restart or a drop reset.", counts.lost);
  Exposition::LabelledValues rejected;
  for (std::size_t i = 0; i < kRejections.size(); ++i) {
    rejected.emplace_back(kRejections[i].name, counts.rejected[i]);
  }
  metrics.add("retrystorm_server_requests_rejected_total", "Connections rejected, by reason.",
              "reason", rejected);
  if (totals.kernel) {
    metrics.add("retrystorm_server_accept_queue", "Connections that the server has not accepted.",
                totals.kernel->accept_queue);
    metrics.add("retrystorm_server_no_room_total",
                "SYNs dropped since it listens, because the accept queue was full.",
                totals.kernel->no_room);
  }
  if (const auto& workers = totals.workers) {
    metrics.add("retrystorm_server_workers", "Requests that can be served at a time.",
                workers->workers);
    metrics.add("retrystorm_server_busy_workers", "Workers that serve or reject a request.",
                workers->busy);
    metrics.add("retrystorm_server_waiting_requests", "Requests that are waiting for a worker.",
                workers->waiting);
  }
  if (totals.capacity) {
    const auto& [capacity, use] = *totals.capacity;
    metrics.add("retrystorm_server_capacity", "Requests a second that the rate limit admits.",
                capacity);
    metrics.add("retrystorm_server_capacity_provided_total",
                "Capacity provided so far, in unit-seconds.", use.provided);
    metrics.add("retrystorm_server_capacity_used_total", "Requests that the rate limit admitted.",
                use.used);
  }
  if (upstream != nullptr) {
    Exposition::LabelledValues requests, attempts, ok, in_flight;
    for (const Upstream::Calls& each : upstream->calls()) {
      requests.emplace_back(each.to, each.counts.requests);
      attempts.emplace_back(each.to, each.counts.attempts);
      ok.emplace_back(each.to, each.counts.ok);
      in_flight.emplace_back(each.to, each.in_flight);
    }
    metrics.add("retrystorm_server_calls_total", "Calls of another service, each with its retries.",
                "to", requests);
    metrics.add("retrystorm_server_call_attempts_total", "Attempts of these calls.", "to",
                attempts);
    metrics.add("retrystorm_server_call_attempts_ok_total",
                "Attempts of these calls that have succeeded.", "to", ok);
    metrics.add("retrystorm_server_call_attempts_in_flight",
                "Attempts of these calls that are under way.", "to", in_flight);
    metrics.add("retrystorm_server_calls_without_thread_total",
                "Requests and calls for which there was no thread.", upstream->refused());
  }
  metrics.add_process();
  return metrics.text();
}

Json server_status(const ServerInterval& totals, Duration uptime, const ServiceOptions& settings,
                   const Upstream* upstream) {
  const ServiceCounts& counts = totals.counts;
  auto rejected = Json::object();
  for (std::size_t i = 0; i < kRejections.size(); ++i) {
    rejected[kRejections[i].name] = counts.rejected[i];
  }
  Json status{{"program", "server"},
              {"uptime_s", rounded(to_seconds(uptime))},
              {"concurrency", totals.concurrency},
              {"last_delay_s", to_seconds(totals.last_delay)}};
  if (totals.kernel) {
    status["accept_queue"] = totals.kernel->accept_queue;
    status["no_room_total"] = totals.kernel->no_room;
  }
  add_workers(status, totals.workers);
  status.update({{"offered_total", counts.offered},
                 {"admitted_total", counts.admitted},
                 {"completed_total", counts.completed},
                 {"served_total", counts.served},
                 {"failed_total", counts.failed},
                 {"lost_total", counts.lost},
                 {"rejected_total", rejected}});
  if (totals.capacity) {
    const auto& [capacity, use] = *totals.capacity;
    status["capacity"] = rounded(capacity);
    status["provided_unit_s_total"] = rounded(use.provided);
    status["used_total"] = use.used;
  }
  if (upstream != nullptr) {
    for (const Upstream::Calls& each : upstream->calls()) {
      status["calls"][each.to] = {{"requests_total", each.counts.requests},
                                  {"attempts_total", each.counts.attempts},
                                  {"ok_total", each.counts.ok},
                                  {"errors_total", each.counts.errors},
                                  {"timedout_total", each.counts.timed_out},
                                  {"in_flight", each.in_flight}};
    }
    status["calls_without_thread_total"] = upstream->refused();
  }
  ServiceOptions in_force = settings;
  OptionList options;
  declare_options(options, in_force, Engine::kReal);
  for (const Option& option : options.all()) {
    status["settings"][underscored(option.name)] = option.get();
  }
  return status;
}

namespace {

// Writes the token to a file that only its owner can read, from the moment it is created.
void write_token(const std::string& path, const std::string& token) {
  const std::string cannot = "cannot write the token to " + in_quotes(path);
  const auto [beside, file] = make_beside(path, cannot);
  const std::string line = token + '\n';
  if (write(file.number(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
      std::rename(beside.c_str(), path.c_str()) == 0) {
    return;
  }
  const int error = errno;
  unlink(beside.c_str());
  throw std::runtime_error(cannot + ": " + std::strerror(error));
}

}  // namespace

Admin::Admin(HttpServer& server, const ServerOptions& options) : control_(options.service, server) {
  const WatchPort port =
      options.admin_port.value_or(WatchPort(static_cast<std::size_t>(server.port()) + 1));
  if (!port) {
    if (!options.wants_token()) return;
    throw std::runtime_error(
        "--admin-token-file and --print-token have no effect with --admin-port=0");
  }
  try {
    open(server, *port, options);
  } catch (const AddressInUse& error) {
    if (options.admin_port || options.wants_token()) {
      throw std::runtime_error(std::string("--admin-port: ") + error.what());
    }
    std::cerr << "no metrics: " << error.what() << " (choose another --admin-port)\n";
  }
}

void Admin::open(const HttpServer& server, std::size_t port, const ServerOptions& options) {
  const std::string token = make_token();
  const std::vector<PageServer::Page> pages{
      {.path = "/metrics",
       .content_type = kExpositionType,
       .render = [&server] { return server_metrics(server.totals(), server.upstream()); }},
      {.path = "/status", .content_type = "application/json", .render = [this, &server] {
         return server_status(server.totals(), Clock::now() - start_, control_.in_force(),
                              server.upstream())
                    .dump() +
                '\n';
       }}};
  page_server_.emplace(
      port, pages,
      PageServer::Commands{
          .token = token,
          .largest_body = kLargestControl,
          .all = {{kControlPath, [this](const auto& orders) { control_.carry_out(orders); }},
                  {kCheckPath, [this](const auto& orders) { control_.check(orders); }}}});
  if (!options.token_file.empty()) write_token(options.token_file, token);
  std::cerr << "metrics on " << page_server_->url() << "/metrics\n";
  if (options.print_token) std::cerr << "admin token " << token << '\n';
}

}  // namespace retrystorm
