#include "model/run/workload.h"

#include <limits>

#include "model/base/text.h"
#include "model/retry/strategies.h"

namespace retrystorm {

void declare_options(OptionList& options, JobSettings& settings) {
  options.group("Job: tasks that workers complete");
  options.count("tasks", settings.tasks, "how many tasks there are", 1, 1'000'000'000, "tasks");
  options.count("calls", settings.calls, "how many calls each task makes, one after the other", 1,
                1'000'000'000, "calls");
  options
      .duration("workers-start", settings.workers_start,
                "how long after one worker the next one starts; there are at most --clients "
                "workers")
      .with_range("0s", "1m");
}

std::optional<Duration> Job::next_start() const {
  const std::size_t came = calls_left_.size();
  if (tasks_left_ == 0 || came == most_) return std::nullopt;
  return scale(settings_.workers_start, static_cast<double>(came));
}

std::size_t Job::start() {
  --tasks_left_;
  ++present_;
  calls_left_.push_back(settings_.calls);
  return calls_left_.size() - 1;
}

bool Job::next_call(std::size_t worker) {
  ++done_;
  if (--calls_left_[worker] > 0) return true;
  if (tasks_left_ == 0) {
    --present_;
    return false;
  }
  --tasks_left_;
  calls_left_[worker] = settings_.calls;
  return true;
}

namespace {

constexpr std::size_t kClientsPerProcess = 100;

// Rounded up.
std::size_t divided(std::size_t count, std::size_t by) {
  return (count + by - 1) / by;
}

// Why it changes nothing how the clients are split into processes.
std::string why_processes_are_unused(const WorkloadOptions& workload) {
  const bool open = workload.arrivals == Arrivals::kOpen;
  if (!workload.processes && workload.clients_per_process && open) {
    return "with --arrivals=open: give the number of --processes";
  }
  WorkloadOptions usual = workload;
  usual.processes.reset();
  usual.clients_per_process.reset();
  // Clients that share nothing may as well be a process each.
  const bool each_alone = !open && process_count(workload) == workload.clients;
  if (each_alone || sharing_processes(workload) != 0 ||
      process_count(workload) == process_count(usual)) {
    return "";
  }
  return "without a retry budget, a gate or kept connections that clients could share: leave it out, "
         "or give --retry-budget, --hedge-budget or --connections=keep-alive";
}

void declare_processes(OptionList& options, WorkloadOptions& workload) {
  constexpr std::uint64_t kMostProcesses = 1'000'000, kMostClients = 1'000'000'000;
  Option& processes =
      options
          .text(
              "processes",
              "how many processes share the clients or, with open arrivals, the requests, each with "
              "its own retry budget, gates and connections; not given: 1 with --arrivals=open, otherwise "
              "one for each hundred clients",
              [&workload](std::string_view text) {
                workload.processes = parse_count(text, 1, kMostProcesses);
              },
              [&workload] { return std::to_string(process_count(workload)); })
          .with_unit("processes");
  processes.kind = Option::Kind::kCount;
  processes.least = 1;
  processes.most = kMostProcesses;
  Option& clients =
      options
          .text(
              "clients-per-process",
              "the same as --processes=N, where N is the number of clients divided by this, "
              "rounded up; not with open arrivals",
              [&workload](std::string_view text) {
                workload.clients_per_process = parse_count(text, 1, kMostClients);
              },
              [&workload] {
                if (workload.arrivals == Arrivals::kOpen) return std::string();
                if (workload.clients_per_process && !workload.processes) {
                  return std::to_string(*workload.clients_per_process);
                }
                return std::to_string(divided(workload.clients, process_count(workload)));
              })
          .with_unit("clients");
  clients.kind = Option::Kind::kCount;
  clients.least = 1;
  clients.most = kMostClients;
  clients.same_as = "processes";
  options.no_effect("processes clients-per-process",
                    [&workload] { return why_processes_are_unused(workload); });
}

void check_hedges(const WorkloadOptions& workload) {
  const HedgeSettings& hedge = workload.retry.hedge;
  if (!hedge.any()) return;
  if (workload.arrivals == Arrivals::kJob) {
    refuse("--hedge: the workers of a job send one attempt at a time: not with --arrivals=job");
  }
  if (hedge.on != HedgeOn::kTimeout) return;
  const LimitSettings& limit = workload.retry.limit;
  if (!workload.has_timeout() || limit.max_retries == 0 || !limit.retry_on.timeout) {
    refuse(
        "--hedge-on=timeout sends a retry beside an attempt that has timed out: it needs a --timeout, "
        "--max-retries above 0, and timeout in --retry-on");
  }
}

}  // namespace

double arrival_rate(const WorkloadOptions& workload) {
  if (workload.arrivals != Arrivals::kOpen) return 0;
  const ArrivalPlan& plan = workload.plan;
  if (!plan.on()) return workload.rate;
  return plan.file ? plan.rate : static_cast<double>(workload.clients) / to_seconds(plan.period);
}

OpenArrivals open_arrivals(const WorkloadOptions& workload, std::uint64_t seed) {
  return {seed, arrival_rate(workload), workload.plan, workload.clients, workload.splay};
}

std::string why_load_is_fixed(const WorkloadOptions& workload) {
  if (workload.arrivals == Arrivals::kJob) return "with --arrivals=job";
  return workload.plan.has_times() ? "with --arrivals=" + workload.plan.text : "";
}

std::size_t process_count(const WorkloadOptions& workload) {
  if (workload.processes) return *workload.processes;
  if (workload.arrivals == Arrivals::kOpen) return 1;
  return divided(workload.clients, workload.clients_per_process.value_or(kClientsPerProcess));
}

std::size_t sharing_processes(const WorkloadOptions& workload) {
  const RetrySettings& retry = workload.retry;
  const bool share = retry.process.any() || retry.hedge.shares() || workload.connections.kept() ||
                     workload.picks_hosts;
  return share ? process_count(workload) : 0;
}

LibraryWay library_way(std::string_view strategy) {
  const NamedStrategy* named = find_strategy(strategy);
  if (named == nullptr) refuse(in_quotes(strategy) + " is no strategy");
  LibraryWay way;
  OptionList list;
  declare_options(list, way.connections);
  const std::string_view text = named->connections.substr(0, named->connections.find(" ("));
  std::string_view name = "connections";
  for (std::string_view each : split(text, ',')) {
    each = trimmed(each);
    const std::size_t equals = each.find('=');
    if (equals != std::string_view::npos) name = each.substr(0, equals);
    const std::string_view value = each.substr(equals + 1);
    if (name == "timeout" && value == "deadline") {
      way.timeout_is_deadline = true;
    } else {
      list.set(name, value);
    }
  }
  refuse(unused_of_part(way.connections));
  return way;
}

namespace {

void declare_what_is_unused(OptionList& options, WorkloadOptions& workload) {
  options.no_effect("hedge", [&workload] {
    return workload.reconnects ? "with --outage=reconnect: each client has one connection" : "";
  });
  options.needs("pool-wait-counts", "timeout!=none");
  options.needs("splay", "arrivals=periodic:P");
  options.needs("rate", "arrivals=open");
  const auto with_plan = [&workload](bool is_unused) {
    return workload.plan.on() && is_unused ? "with --arrivals=" + workload.plan.text
                                           : std::string();
  };
  options.no_effect("rate", [with_plan] { return with_plan(true); });
  options.no_effect("clients",
                    [&workload, with_plan] { return with_plan(workload.plan.file != nullptr); });
  options.no_effect("lambda", [&workload, with_plan] {
    if (workload.arrivals == Arrivals::kJob) return std::string("with --arrivals=job");
    return with_plan(workload.retry.backoff.from != BackoffFrom::kThinkTime);
  });
  options.needs("tasks calls workers-start", "arrivals=job");
}

}  // namespace

void declare_options(OptionList& options, WorkloadOptions& workload) {
  options.group("Clients");
  options
      .count("clients,job-workers", workload.clients, "how many independent clients there are", 1,
             1'000'000'000, "clients")
      .basic = "Clients";
  Option& arrivals = options.choice<Arrivals>(
      "arrivals", workload.arrivals,
      {{"closed", Arrivals::kClosed}, {"open", Arrivals::kOpen}, {"job", Arrivals::kJob}},
      "closed = each client thinks after a success; open = requests arrive at --rate, whatever the "
      "server does; job = workers do the --tasks of a job; burst:N = N clients at once; file:PATH = "
      "lines of 'seconds,rate' (Poisson) or 'seconds' (of each request); periodic:P = a request of "
      "each client every P, whatever became of its last one, without an outage unless --outage-for "
      "is given. Forecasts take a file's highest rate, and the mean of times");
  arrivals.basic = "Clients";
  arrivals.set = [&workload, name = std::move(arrivals.set)](std::string_view text) {
    constexpr std::string_view kBurst = "burst:";
    if (workload.plan.on() && text == workload.plan.text) return;  // a pipe has it only once
    if (!text.starts_with(kBurst)) {
      ArrivalPlan plan = parse_plan(text);
      name(plan.on() ? "open" : text);
      workload.plan = std::move(plan);
      return;
    }
    const std::uint64_t count = parse_count(text.substr(kBurst.size()), 1, 1'000'000'000);
    if (workload.clients != WorkloadOptions().clients && workload.clients != count) {
      refuse(std::string(text) + " sets --clients too: leave that out");
    }
    workload.arrivals = Arrivals::kJob;
    workload.plan = {};
    workload.clients = count;
    workload.job = {.tasks = count, .calls = 1, .workers_start = Duration::zero()};
  };
  arrivals.get = [&workload, name = std::move(arrivals.get)] {
    return workload.plan.on() ? workload.plan.text : name();
  };
  options
      .number("rate", workload.rate, "open arrivals: how many requests arrive a second (Poisson)",
              1e-3, 1e9, "requests/s")
      .basic = "Clients";
  options
      .duration(
          "splay", workload.splay,
          "periodic arrivals: within how long of each period the clients spread; 0s = all at once")
      .with_range("1s", "1m");
  options
      .duration("lambda,think-time", workload.think_time,
                "how long a client thinks after a success (mean, exponential)")
      .basic = "Clients";
  options
      .duration_or_none("timeout", workload.timeout,
                        "how long an attempt may take, connect to answer; none = no limit",
                        std::chrono::milliseconds(1))
      .basic = "Clients";
  std::optional<std::uint64_t>& seed = workload.seed;
  Option& option = options.text(
      "seed", "the same seed gives the same waits; random when not given",
      [&seed](std::string_view text) {
        seed = parse_count(text, 0, std::numeric_limits<std::uint64_t>::max());
      },
      [&seed] { return seed ? std::to_string(*seed) : ""; });
  option.kind = Option::Kind::kCount;
  option.basic = "Clients";
  declare_processes(options, workload);
  declare_options(options, workload.retry);
  // After the strategy, whose library they may be those of.
  declare_options(options, workload.connections, [&workload] {
    const LibraryWay way = library_way(workload.retry.strategy);
    workload.connections = way.connections;
    LimitSettings& limit = workload.retry.limit;
    if (!way.timeout_is_deadline || limit.has_deadline()) return;
    limit.deadline = workload.timeout;
    if (limit.has_deadline()) limit.deadline_check = DeadlineCheck::kAtEnd;
  });
  const std::string before = options.all().back().name;
  declare_options(options, workload.reconnect);
  options.no_effect_after(
      before, [&workload] { return workload.reconnects ? "" : "without --outage=reconnect"; });
  declare_options(options, workload.job);
  declare_what_is_unused(options, workload);
}

WorkloadOptions connecting(const WorkloadOptions& workload) {
  WorkloadOptions connects;
  connects.clients = workload.clients;
  connects.think_time = Duration::zero();
  connects.timeout = workload.timeout;
  connects.retry.limit.retry_on = parse_retry_on("1xx+2xx+3xx+4xx+5xx+transport+timeout");
  connects.retry.backoff = workload.reconnect.backoff;
  connects.retry.hint = workload.retry.hint;
  return connects;
}

void find_unused_reconnect(UnusedOptions& unused, const WorkloadOptions& workload) {
  if (!workload.reconnects || workload.arrivals == Arrivals::kClosed) return;
  unused.emplace("outage",
                 "outage reconnect has no effect without --arrivals=closed, the clients that have "
                 "a connection to lose");
}

void check(const WorkloadOptions& workload) {
  check(workload.retry);
  const LimitSettings& limit = workload.retry.limit;
  if (!workload.has_timeout() && limit.max_retries > 0 &&
      limit.retry_on == RetryOn{.statuses = {}, .timeout = true}) {
    refuse(
        "--retry-on=timeout retries nothing with --timeout=none: give a timeout, or --max-retries=0");
  }
  if (workload.plan.periodic() && workload.splay > workload.plan.period) {
    refuse("--splay=" + format_duration(workload.splay) +
           " is longer than the period of --arrivals=" + workload.plan.text);
  }
  check(workload.connections, workload.timeout);
  check_hedges(workload);
}

void imply(const std::function<bool(std::string_view option)>& given,
           const std::function<void(const std::string& target, const std::string& value)>& set) {
  const bool many_services = given("chain") || given("topology");
  for (const std::string_view target : {"arrivals", "service"}) {
    if (given(target) || (target == "service" && many_services)) continue;
    const Implied* first = nullptr;
    for (const Implied& each : kImplied) {
      if (each.target != target || !given(each.option)) continue;
      if (first != nullptr && first->value != each.value) {
        const std::string name(target), other(each.option);
        refuse(std::string(first->option) + ": of " + name + '=' + std::string(first->value) +
               ", and --" + other + " of " + name + '=' + std::string(each.value) +
               ": give one of them, or --" + name);
      }
      if (first == nullptr) first = &each;
    }
    if (first != nullptr) set(std::string(target), std::string(first->value));
  }
}

}  // namespace retrystorm
