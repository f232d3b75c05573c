#include "server/admin.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "common/http/secret.h"
#include "common/metrics/exposition.h"
#include "common/output/json_lines.h"

namespace retrystorm {

std::string server_metrics(const ServerInterval& totals) {
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  const ServiceCounts& counts = totals.counts;
  LabelledValues rejected;
  for (std::size_t i = 0; i < kRejections.size(); ++i) {
    rejected.emplace_back(kRejections[i].name, number(counts.rejected[i]));
  }
  std::vector<prometheus::MetricFamily> families{
      gauge("retrystorm_server_concurrency", "Connections accepted and not yet answered.",
            number(totals.concurrency)),
      gauge("retrystorm_server_delay_seconds",
            "Delay of a request: what the curve has for this concurrency; with workers, what one "
            "that came now would take behind all who wait.",
            to_seconds(totals.last_delay)),
      counter("retrystorm_server_requests_offered_total",
              "Connections accepted, whatever became of them.", number(counts.offered)),
      counter("retrystorm_server_requests_admitted_total", "Connections let into the service.",
              number(counts.admitted)),
      counters("retrystorm_server_requests_completed_total",
               "Connections that the service is done with: served is an OK that could be sent, "
               "failed an error for --error-share, wasted anything else, as for a client that has "
               "gone.",
               "result",
               {{"served", number(counts.served)},
                {"failed", number(counts.failed)},
                {"wasted", number(counts.completed - counts.served - counts.failed)}}),
      counter("retrystorm_server_requests_lost_total",
              "Connections in the service that a restart or a drop reset.", number(counts.lost)),
      counters("retrystorm_server_requests_rejected_total", "Connections turned away, by reason.",
               "reason", rejected)};
  if (const auto& workers = totals.workers) {
    families.push_back(gauge("retrystorm_server_workers", "Requests that can be served at a time.",
                             number(workers->workers)));
    families.push_back(gauge("retrystorm_server_busy_workers", "Workers that serve or turn away.",
                             number(workers->busy)));
    families.push_back(gauge("retrystorm_server_waiting_requests",
                             "Requests that wait for a worker.", number(workers->waiting)));
  }
  if (totals.capacity) {
    const auto& [capacity, use] = *totals.capacity;
    families.push_back(gauge("retrystorm_server_capacity",
                             "Requests a second that the rate limit lets in.", capacity));
    families.push_back(counter("retrystorm_server_capacity_provided_total",
                               "The capacity's integral: unit-seconds.", use.provided));
    families.push_back(counter("retrystorm_server_capacity_used_total",
                               "Requests that the rate limit let in.", number(use.used)));
  }
  for (auto& family : process_families()) families.push_back(std::move(family));
  return exposition(families);
}

nlohmann::ordered_json server_status(const ServerInterval& totals, Duration uptime) {
  const ServiceCounts& counts = totals.counts;
  auto rejected = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kRejections.size(); ++i) {
    rejected[kRejections[i].name] = counts.rejected[i];
  }
  nlohmann::ordered_json status{{"program", "server"},
                                {"uptime_s", rounded(to_seconds(uptime))},
                                {"concurrency", totals.concurrency},
                                {"last_delay_s", to_seconds(totals.last_delay)}};
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
  return status;
}

namespace {

// Readable by its owner only, from the first moment on.
void write_token(const std::string& path, const std::string& token) {
  const std::string beside = path + ".new";
  const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const std::string line = token + '\n';
  const bool written = file >= 0 && fchmod(file, 0600) == 0 &&
                       write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int error = errno;
  if (file >= 0) close(file);
  if (!written || std::rename(beside.c_str(), path.c_str()) != 0) {
    throw std::runtime_error("cannot write the token to " + in_quotes(path) + ": " +
                             std::strerror(written ? errno : error));
  }
}

}  // namespace

Admin::Admin(HttpServer& server, const ServerOptions& options) : control_(options.service, server) {
  const WatchPort port =
      options.admin_port.value_or(WatchPort(static_cast<std::size_t>(server.port()) + 1));
  if (!port) {
    if (options.token_file.empty()) return;
    throw std::runtime_error("--admin-token-file has no effect with --admin-port=0");
  }
  try {
    open(server, *port, options.token_file);
  } catch (const AddressInUse& error) {
    if (options.admin_port || !options.token_file.empty()) {
      throw std::runtime_error(std::string("--admin-port: ") + error.what());
    }
    std::cerr << "no metrics: " << error.what() << " (choose another --admin-port)\n";
  }
}

void Admin::open(const HttpServer& server, std::size_t port, const std::string& token_file) {
  const std::string token = make_token();
  const std::vector<Endpoint::Page> pages{
      {.path = "/metrics",
       .content_type = kExpositionType,
       .render = [&server] { return server_metrics(server.totals()); }},
      {.path = "/status", .content_type = "application/json", .render = [this, &server] {
         return server_status(server.totals(), Clock::now() - start_).dump() + '\n';
       }}};
  const auto done = [](auto order) {
    return [order](const std::string& orders) {
      order(orders);
      return std::string("done");
    };
  };
  endpoint_.emplace(
      port, pages,
      Endpoint::Commands{
          .token = token,
          .all = {{.path = kControlPath,
                   .largest_body = kLargestControl,
                   .carry_out = done([this](const auto& orders) { control_.carry_out(orders); })},
                  {.path = kCheckPath,
                   .largest_body = kLargestControl,
                   .carry_out = done([this](const auto& orders) { control_.check(orders); })}}});
  if (!token_file.empty()) write_token(token_file, token);
  std::cerr << "metrics on " << endpoint_->url() << "/metrics\nadmin token " << token << '\n';
}

}  // namespace retrystorm
