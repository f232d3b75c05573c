#include "simulator/chain/chain_options.h"

#include <algorithm>
#include <stdexcept>

#include "model/base/text.h"

namespace retrystorm {
namespace {

constexpr std::size_t kMostWorkers = 1'000'000'000;
constexpr std::string_view kForm = "NAME WORKERSxTIME is expected, such as db 8x40ms";

bool is_name(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return text.size() <= 32 && text.find_first_not_of(kLetters) == text.npos &&
         text.front() != '-' && !(text.front() >= '0' && text.front() <= '9');
}

ChainedService parse_service(std::string_view text) {
  if (text.empty()) throw std::invalid_argument("there is none: " + std::string(kForm));
  const std::size_t space = std::min(text.find_first_of(" \t"), text.size());
  ChainedService service{.name = std::string(text.substr(0, space))};
  if (!is_name(service.name)) {
    throw std::invalid_argument(
        in_quotes(service.name) +
        " is no name: letters, digits, - and _ are, at most 32, the first a letter");
  }
  if (service.name == "clients") {
    throw std::invalid_argument(
        "clients are those who call the first service: another name is needed");
  }
  const std::string_view what = trimmed(text.substr(space));
  const std::size_t times = what.find('x');
  if (what.empty() || times == what.npos) {
    throw std::invalid_argument(in_quotes(text) + ": " + std::string(kForm));
  }
  try {
    service.workers = parse_count(what.substr(0, times), 1, kMostWorkers);
    service.service_time = ServiceTime::parse(what.substr(times + 1));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(in_quotes(text) + ": " + error.what());
  }
  return service;
}

std::vector<std::string_view> names_of(const std::vector<ChainedService>& services) {
  std::vector<std::string_view> names;
  for (const ChainedService& each : services) names.push_back(each.name);
  return names;
}

bool retries(const ChainOptions& chain, std::size_t index) {
  switch (chain.retry_at) {
    case RetryAt::kTop:
      return index == 0;
    case RetryAt::kBottom:
      return index + 1 == chain.services.size();
    case RetryAt::kNone:
      return false;
    case RetryAt::kAll:
      break;
  }
  return true;
}

}  // namespace

std::size_t ChainOptions::disturbed() const {
  if (outage_of.empty()) return services.size() - 1;
  const auto names = names_of(services);
  const auto found = std::find(names.begin(), names.end(), outage_of);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw std::invalid_argument("--outage-of: " + unknown_name(outage_of, names));
}

std::vector<ChainedService> parse_chain(std::string_view text) {
  std::vector<ChainedService> services;
  std::optional<Duration> timeout;
  std::string_view rest = text;
  while (!text.empty()) {
    const std::size_t arrow = rest.find('>');
    const std::string place = "service " + std::to_string(services.size() + 1) + ": ";
    try {
      ChainedService service = parse_service(trimmed(rest.substr(0, arrow)));
      service.timeout = timeout;
      for (const ChainedService& each : services) {
        if (each.name == service.name) {
          throw std::invalid_argument(service.name +
                                      " is in the chain already: a circle has no end");
        }
      }
      services.push_back(std::move(service));
      if (services.size() > ChainOptions::kMostServices) {
        throw std::invalid_argument("at most " + std::to_string(ChainOptions::kMostServices) +
                                    " services are possible");
      }
      if (arrow == rest.npos) break;
      rest.remove_prefix(arrow + 1);
      timeout.reset();
      // ">250ms orders": a duration directly after the arrow.
      if (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
        const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
        timeout = parse_duration(rest.substr(0, end), std::chrono::nanoseconds(1));
        rest.remove_prefix(end);
      }
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(place + error.what());
    }
  }
  return services;
}

std::string print_chain(const std::vector<ChainedService>& services) {
  std::string text;
  for (const ChainedService& each : services) {
    if (!text.empty()) {
      text += " >" + (each.timeout ? format_duration(*each.timeout) : std::string()) + ' ';
    }
    text += each.name + ' ' + std::to_string(each.workers) + 'x' + each.service_time.text();
  }
  return text;
}

void declare_options(OptionList& options, ChainOptions& chain) {
  options.group("Services behind services");
  options.text(
      "chain",
      "services that call one another: 'api 32x5ms > orders 16x20ms >250ms db 8x40ms' (workers x service "
      "time of each, and after the arrow the timeout of the calls, otherwise --timeout); the clients call the "
      "first one; each caller uses the strategy",
      [&chain](std::string_view text) { chain.services = parse_chain(text); },
      [&chain] { return print_chain(chain.services); });
  options.choice<Waiting>(
      "waiting", chain.waiting, {{"hold", Waiting::kHold}, {"free", Waiting::kFree}},
      "--chain: whether a worker waits for the answer of the next service, as threads do, or is free meanwhile, as in an "
      "event loop");
  options.choice<RetryAt>(
      "retry-at", chain.retry_at,
      {{"all", RetryAt::kAll},
       {"top", RetryAt::kTop},
       {"bottom", RetryAt::kBottom},
       {"none", RetryAt::kNone}},
      "--chain: who retries: every caller, only the clients, only the caller of the last service, or "
      "nobody");
  options.text(
      "outage-of",
      "--chain: the service that has the outage, and the actions of --at and --capacity; the last one if not given",
      [&chain](std::string_view text) { chain.outage_of = std::string(text); },
      [&chain] { return chain.outage_of; });
}

void find_unused(UnusedOptions& unused, const ChainOptions& chain, const ServiceOptions& service) {
  if (!chain.on()) {
    find_unused<ChainOptions>(unused, chain, {}, "without --chain");
    return;
  }
  const ServiceOptions defaults;
  const auto said_by_chain = [&unused](const char* name, bool given) {
    if (given) {
      unused.emplace(
          name, name + std::string(" has no effect with --chain, which has that of each service"));
    }
  };
  said_by_chain("service", service.capacity != defaults.capacity);
  said_by_chain("workers", service.workers.workers != defaults.workers.workers);
  said_by_chain("service-time", service.workers.service_time != defaults.workers.service_time);
}

void check(const ChainOptions& chain, const WorkloadOptions& workload,
           const ServiceOptions& service, const std::optional<Disturbance>& outage) {
  if (!chain.on()) return;
  chain.disturbed();
  const auto refuse = [](const std::string& why) {
    throw std::invalid_argument("--chain: " + why);
  };
  if (workload.connections.kept())
    refuse("each attempt needs a connection of its own: --connections=new");
  if (service.abandoned == Abandoned::kCancel) {
    refuse("a service cannot cancel its calls: --abandoned=serve or skip");
  }
  if (outage && loses_connections(*outage))
    refuse("the outage is of a service: not --outage=reconnect");
}

ServiceOptions service_in(const ChainOptions& chain, std::size_t index, ServiceOptions all) {
  const ChainedService& service = chain.services[index];
  all.capacity = Capacity::kWorkers;
  all.workers.workers = service.workers;
  all.workers.service_time = service.service_time;
  return all;
}

WorkloadOptions caller_in(const ChainOptions& chain, std::size_t index, WorkloadOptions clients) {
  if (index > 0) {
    // Its requests come when it has done its own work, and all belong to one process.
    clients.arrivals = Arrivals::kOpen;
    clients.think_time = Duration::zero();
    clients.processes = 1;
    clients.timeout = chain.services[index].timeout.value_or(clients.timeout);
  }
  if (!retries(chain, index)) clients.retry.limit.max_retries = 0;
  return clients;
}

}  // namespace retrystorm
