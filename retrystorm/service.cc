// Which options describe a service of which people know rate, percentiles and use?
#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <stdexcept>

#include "common/exit_code.h"
#include "common/output/output_queue.h"
#include "common/output/style.h"
#include "model/base/text.h"
#include "policies/policy.h"
#include "policies/tree.h"
#include "retrystorm/commands.h"
#include "retrystorm/known_service.h"
#include "retrystorm/study_command.h"

namespace retrystorm {
namespace {

struct ServiceCommandOptions {
  KnownService known;
  std::string metrics, metric;
};

void declare(CLI::App& app, ServiceCommandOptions& options) {
  auto* group = option_group(app, "What is known");
  const auto add = [](CLI::Option* option) { option->group("What is known"); };
  add(add_value(
      *group, "--rate", "NUMBER", "",
      [&options](const std::string& text) { options.known.rate = parse_rate(text, 0, 1e9); },
      "how many requests arrive a second, such as 400/s"));
  add(add_duration(*group, "--p50", options.known.p50,
                   "half of the answers take at most this time"));
  add(add_duration(*group, "--p99", options.known.p99,
                   "99 % of the answers take at most this time"));
  add(add_number(
      *group, "--used", options.known.used,
      "the share of the service's workers (threads, connections, processor time) that is "
      "busy at this rate",
      0, 1));
  add(add_value(
      *group, "--capacity,--can-do", "NUMBER", "",
      [&options](const std::string& text) { options.known.capacity = parse_rate(text, 0, 1e9); },
      "instead of --used: how many requests a second it can serve at most, as a load test shows"));
  add(add_count(*group, "--workers", options.known.workers,
                "instead of either: how many requests it serves at a time (threads, connections)",
                1, 1'000'000));
  add(add_text(*group, "--accepts", options.known.accepts,
               "all, or when-free: only when a worker is free (docs/server.md says which servers)")
          ->check(CLI::IsMember({"all", "when-free"})));
  add(add_text(*group, "--from-prometheus", options.metrics,
               "a page of metrics with a histogram of the answers' times, instead of --p50 and "
               "--p99"));
  add(add_text(*group, "--metric", options.metric, "its name, if there are several"));
}

// To four digits.
Duration rounded_time(Duration time) {
  const double seconds = to_seconds(time);
  const double unit = std::pow(10, std::floor(std::log10(seconds)) - 3);
  return from_seconds(std::round(seconds / unit) * unit);
}

void take_histogram(ServiceCommandOptions& options) {
  const TimeHistogram times = read_histogram(read_text_file(options.metrics), options.metric);
  const auto p50 = times.quantile(0.5), p99 = times.quantile(0.99);
  if (!p99) {
    throw BadFile("99 % of its times are not below its last bound: they are not known");
  }
  options.known.p50 = from_seconds(*p50);
  options.known.p99 = from_seconds(*p99);
  options.known.mean = from_seconds(times.sum / times.count);
}

std::string rough_percent(double share) {
  return percent(share, share < 0.1 ? 1 : 0);
}

// The settings, with how each was found and what stays a guess.
std::string service_text(const KnownService& known, const EstimatedService& service, bool guessed) {
  const std::string mean = format_duration(rounded_time(service.mean));
  const std::string variation = fixed(service.variation, 3);
  const double per_worker = 1 / to_seconds(service.mean);
  const double is_used = service.busy / static_cast<double>(service.workers);
  const double used = known.workers > 0 ? is_used : known.used;
  // Of one worker, the least, much less may be busy than was given.
  const bool fits = known.workers > 0 || service.workers > 1;
  const auto workers_at = [&service](double use) {
    return std::to_string(static_cast<std::size_t>(std::round(service.busy / use)));
  };
  constexpr std::size_t kBacklog = 256;
  const double drained =
      static_cast<double>(kBacklog) / (static_cast<double>(service.workers) * per_worker);
  std::string text = "# A service: " + print_number(known.rate) + "/s, p50 " +
                     format_duration(rounded_time(known.p50)) + ", p99 " +
                     format_duration(rounded_time(known.p99)) + ", " +
                     rough_percent(fits ? used : is_used) + " used\nservice = workers\n";
  text += "# sigma = ln(p99 / p50) / 2.326 = " + fixed(service.sigma, 3) +
          "; CV = sqrt(e^(sigma^2) - 1) = " + variation +
          "\n# mean = " + (known.mean ? "sum / count of the histogram" : "p50 e^(sigma^2 / 2)") +
          " = " + mean + "\nservice-time = lognormal:" + mean + ':' +
          print_spread(std::round(1000 * service.variation) / 1000) + '\n';
  text += "# Little: rate x mean = " + fixed(service.busy, 1) + " workers are busy, which are " +
          rough_percent(is_used) + " of\nworkers = " + std::to_string(service.workers) +
          (known.accepts.empty() ? "\n" : "\naccepts = " + known.accepts + '\n');
  text += "# Requests come whatever the service does.\narrivals = open\nrate = " +
          print_number(known.rate) + "\n#\n# What stays a guess, and how much it matters:\n";
  if (guessed) {
    text +=
        "# - the spread: with one percentile, times with a CV of 0.5 are taken (p99 = 3 x p50); give\n"
        "#   --p50 and --p99\n";
  }
  const double less = used * 0.8, more = std::min(used * 1.2, 0.99);
  if (!fits) {
    text += "# - the use: a service has at least one worker, which this load keeps " +
            rough_percent(is_used) + " busy, not " + rough_percent(used) + '\n';
  } else if (known.workers == 0) {
    text +=
        "# - the use: with " + rough_percent(less) + " there would be " + workers_at(less) +
        " workers, with " + rough_percent(more) + ' ' + workers_at(more) +
        ".\n#   n attempts a request can hold a storm where more than 1/n is used\n#   (n = 3: 33 "
        "%)\n";
  }
  text +=
      "# - the shape: times with the same percentiles may be alike but for a few long ones\n"
      "#   (bimodal:" +
      format_duration(rounded_time(known.p50)) +
      ":0.02:" + format_duration(rounded_time(known.p99)) + "); whether hedges pay depends on it\n";
  text += "# - the times hold the wait for a worker, too: " + rough_percent(service.waits) +
          " of the requests wait (Erlang C)" +
          (service.waits > 0.1 ? ",\n#   so a worker takes less time than this says" : "") + '\n';
  text += "# - the backlog: --backlog is " + std::to_string(kBacklog) + ", " +
          format_duration(rounded_time(from_seconds(drained))) +
          " of work; ask what your server listens with\n";
  text += "# - the callers' timeout: --timeout is " + format_duration(WorkloadOptions().timeout) +
          "; after theirs they give up and retry\n";
  if (known.accepts.empty()) {
    text += "# - whether it accepts more than it serves: php-fpm does not (accepts = when-free)\n";
  }
  text +=
      "# - what is limited: workers that each take one request. Where all become slower "
      "together\n#   (locks, a database), --service=curve is nearer\n";
  return text;
}

int service(const Invocation&, const ServiceCommandOptions& typed) {
  ServiceCommandOptions options = typed;
  if (!options.metrics.empty()) {
    if (options.known.p50 > Duration::zero() || options.known.p99 > Duration::zero()) {
      throw std::invalid_argument("--from-prometheus excludes --p50 and --p99");
    }
    try {
      take_histogram(options);
    } catch (const BadFile& error) {
      throw UnreadableFile(printable(options.metrics) + ": " + error.what());
    }
  } else if (!options.metric.empty()) {
    throw std::invalid_argument("--metric needs --from-prometheus");
  }
  const KnownService known = completed(options.known);
  const bool guessed = known.p50 != options.known.p50 || known.p99 != options.known.p99;
  std::cout << service_text(known, estimate(known), guessed);
  return flush_standard_output() ? kExitHolds : kExitFault;
}

}  // namespace

const Command kService{
    "service",
    "Prints the options of a service, for --config, from what is known of it: the rate, one or two\n"
    "percentiles of its answers' times, and how much of it is used or what it can do. Each has the formula that it comes from.",
    "retrystorm service --rate=400/s --p50=80ms --p99=300ms --used=50% >service.ini\n"
    "retrystorm service --rate=400/s --p99=300ms --can-do=800/s >service.ini\n"
    "retrystorm service --rate=400/s --used=50% --from-prometheus=metrics.txt >service.ini",
    run_command<ServiceCommandOptions, declare, service>};

}  // namespace retrystorm
