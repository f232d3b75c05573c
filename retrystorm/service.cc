// Which options describe a service of which people know rate, percentiles and use?
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "common/exit_code.h"
#include "common/output/output_queue.h"
#include "common/output/style.h"
#include "model/base/text.h"
#include "policies/policy.h"
#include "retrystorm/known_service.h"
#include "retrystorm/measured_service.h"
#include "retrystorm/study_command.h"
#include "study/cell_answer.h"
#include "words/words.h"

namespace retrystorm {
namespace {

struct ServiceCommandOptions {
  KnownService known;
  std::string metrics, metric;
  std::string steps, k6, vegeta;  // files of steps
};

void declare(CLI::App& app, ServiceCommandOptions& options) {
  auto* group = option_group(app, "What is known");
  const auto add = [](CLI::Option* option) { option->group("What is known"); };
  const auto add_rate = [&](const char* name, double& target, const char* help) {
    const auto set = [&target](const std::string& text) { target = parse_rate(text, 0, 1e9); };
    add(add_value(*group, name, "NUMBER", "", set, help));
  };
  add_rate("--rate", options.known.rate, "how many requests arrive a second, such as 400/s");
  add(add_duration(*group, "--p50", options.known.p50,
                   "half of the answers take at most this time"));
  add(add_duration(*group, "--p99", options.known.p99,
                   "99 % of the answers take at most this time"));
  add(add_number(
      *group, "--used", options.known.used,
      "the share of the service's workers (threads, connections, processor time) that is "
      "busy at this rate",
      0, 1));
  add_rate(
      "--capacity,--can-do", options.known.capacity,
      "instead of --used: how many requests a second it can serve at most, as a load test shows");
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
  add(add_text(
      *group, "--from-steps", options.steps,
      "instead of all others: a CSV of steps of the load, clients,ok_per_second,mean_seconds "
      "(retrystorm measure --csv)"));
  add(add_text(*group, "--from-k6", options.k6,
               "the same from JSON lines of k6 (--out json=FILE)"));
  add(add_text(*group, "--from-vegeta", options.vegeta,
               "the same from vegeta's JSON lines (vegeta encode)"));
}

void take_histogram(ServiceCommandOptions& options) {
  const TimeHistogram times = read_histogram(read_text_file(options.metrics), options.metric);
  const auto p50 = times.quantile(0.5), p99 = times.quantile(0.99);
  if (!p99) throw BadFile("99 % of its times are not below its last bound: they are not known");
  options.known.p50 = from_seconds(*p50);
  options.known.p99 = from_seconds(*p99);
  options.known.mean = from_seconds(times.sum / times.count);
}

std::string rough_percent(double share) {
  return percent(share, share < 0.1 ? 1 : 0);
}

// To four digits.
std::string time_text(Duration time) {
  return format_duration(from_seconds(to_digits(to_seconds(time), 4)));
}

// The settings, with how each was found and what stays a guess.
std::string service_text(const KnownService& known, const EstimatedService& service, bool guessed) {
  const double is_used = service.busy / static_cast<double>(service.workers);
  const double used = known.workers > 0 ? is_used : known.used;
  // Of one worker, the least, much less may be busy than was given.
  const bool fits = known.workers > 0 || service.workers > 1;
  const double less = used * 0.8, more = std::min(used * 1.2, 0.99);
  const auto workers_at = [&service](double use) {
    return std::to_string(static_cast<std::size_t>(std::round(service.busy / use)));
  };
  constexpr std::size_t kBacklog = 256;
  const double drained = static_cast<double>(kBacklog) * to_seconds(service.mean) /
                         static_cast<double>(service.workers);
  const std::vector<StatementValue> values{{"rate", print_number(known.rate)},
                                           {"p50", time_text(known.p50)},
                                           {"p99", time_text(known.p99)},
                                           {"used", rough_percent(fits ? used : is_used)},
                                           {"busy_share", rough_percent(is_used)},
                                           {"given", rough_percent(used)},
                                           {"sigma", fixed(service.sigma, 3)},
                                           {"variation", fixed(service.variation, 3)},
                                           {"mean", time_text(service.mean)},
                                           {"busy", fixed(service.busy, 1)},
                                           {"less", rough_percent(less)},
                                           {"less_workers", workers_at(less)},
                                           {"more", rough_percent(more)},
                                           {"more_workers", workers_at(more)},
                                           {"waits", rough_percent(service.waits)},
                                           {"backlog", std::to_string(kBacklog)},
                                           {"drained", time_text(from_seconds(drained))},
                                           {"timeout", format_duration(WorkloadOptions().timeout)}};
  std::string text;
  const auto say = [&](std::string_view id) {
    const std::string words = words_of({id, values});
    for (const std::string_view line : split(words, '\n')) text.append("# ").append(line) += '\n';
  };
  const auto set = [&text](const std::string& name, const std::string& value) {
    text += name + " = " + value + '\n';
  };
  say("service-title");
  set("service", "workers");
  say(known.mean ? "service-formula-measured" : "service-formula");
  set("service-time", "lognormal:" + time_text(service.mean) + ':' +
                          print_spread(std::round(1000 * service.variation) / 1000));
  say("service-little");
  set("workers", std::to_string(service.workers));
  if (!known.accepts.empty()) set("accepts", known.accepts);
  say("service-open");
  set("arrivals", "open");
  set("rate", print_number(known.rate));
  text += "#\n";
  say("service-guesses");
  if (guessed) say("service-spread");
  if (!fits || known.workers == 0) say(fits ? "service-use" : "service-one-worker");
  say("service-shape");
  say(service.waits > 0.1 ? "service-waits-long" : "service-waits");
  say("service-backlog");
  say("service-timeout");
  if (known.accepts.empty()) say("service-accepts");
  say("service-limited");
  return text;
}

// Longer than other texts: a line for each request.
std::string read_recording(const std::string& path) {
  constexpr std::uintmax_t kLongest = 1'000'000'000;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path);
  if (error || !file) throw UnreadableFile(printable(path) + ": cannot be read");
  if (size > kLongest) throw UnreadableFile(printable(path) + ": longer than 1 GB");
  return {std::istreambuf_iterator<char>(file), {}};
}

// Prints the settings that follow from steps that others have measured.
int service_of_steps(const std::string& path, std::vector<LoadStep> (*read)(std::string_view)) {
  MeasuredService measured;
  measured.url = path;
  in_file(path, [&] {
    measured.steps = read(read_recording(path));
    measured.fit = fit_service(measured.steps);
  });
  judge(measured);
  if (measured.known) {
    std::cout << settings_text(measured) << '\n';
  } else {
    say(measured.headline, style_of(STDERR_FILENO), "", std::cerr);
  }
  return flush_standard_output() && measured.known ? kExitHolds : kExitFault;
}

int service(const Invocation& invocation, const ServiceCommandOptions& typed) {
  ServiceCommandOptions options = typed;
  for (const auto& [path, read] :
       {std::pair(options.steps, &steps_of_table), std::pair(options.k6, &steps_of_k6),
        std::pair(options.vegeta, &steps_of_vegeta)}) {
    if (path.empty()) continue;
    if (invocation.arguments.size() > 1) {
      refuse("steps of the load say all that is known: leave out the other options");
    }
    return service_of_steps(path, read);
  }
  if (!options.metrics.empty()) {
    if (options.known.p50 > Duration::zero() || options.known.p99 > Duration::zero()) {
      refuse("--from-prometheus excludes --p50 and --p99");
    }
    in_file(options.metrics, [&options] { take_histogram(options); });
  } else if (!options.metric.empty()) {
    refuse("--metric needs --from-prometheus");
  }
  const KnownService known = completed(options.known);
  const bool guessed = known.p50 != options.known.p50 || known.p99 != options.known.p99;
  std::cout << service_text(known, estimate(known), guessed);
  return flush_standard_output() ? kExitHolds : kExitFault;
}

}  // namespace

const Command kServiceOf{
    "service",
    "Prints the options of a service, for --config, from what is known of it: the rate, one or two\n"
    "percentiles of its answers' times, and how much of it is used or what it can do. Each has the formula that it comes from.",
    "retrystorm service --rate=400/s --p50=80ms --p99=300ms --used=50% >service.ini\n"
    "retrystorm service --rate=400/s --p99=300ms --can-do=800/s >service.ini\n"
    "retrystorm service --rate=400/s --used=50% --from-prometheus=metrics.txt >service.ini\n"
    "retrystorm service --from-steps=steps.csv >service.ini",
    run_command<ServiceCommandOptions, declare, service>};

}  // namespace retrystorm
