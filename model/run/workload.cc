#include "model/run/workload.h"

#include <limits>

namespace retrystorm {

void declare_options(OptionList& options, WorkloadOptions& workload) {
  options.group("Clients");
  options.count("clients", workload.clients, "independent clients", 1, 1'000'000'000)
      .in("clients")
      .basic = "Clients";
  options.choice<Arrivals>(
      "arrivals", workload.arrivals,
      {{"closed", Arrivals::kClosed}, {"open", Arrivals::kOpen}, {"job", Arrivals::kJob}},
      "whether clients think after each success, or requests arrive at "
      "--rate, whatever the server does, or workers do the --tasks of a job");
  options.number("rate", workload.rate, "open arrivals: requests a second (Poisson)", 1e-3, 1e9)
      .in("requests/s");
  options
      .duration("lambda,think-time", workload.think_time,
                "mean think time after a success (exponentially distributed)")
      .basic = "Clients";
  options
      .duration("timeout", workload.timeout,
                "an attempt lasts no longer: connect, send and receive together",
                std::chrono::milliseconds(1))
      .basic = "Clients";
  std::optional<std::uint64_t>& seed = workload.seed;
  Option& option = options.text(
      "seed", "same seed, same waits; random when not given",
      [&seed](std::string_view text) {
        seed = parse_count(text, 0, std::numeric_limits<std::uint64_t>::max());
      },
      [&seed] { return seed ? std::to_string(*seed) : ""; });
  option.kind = Option::Kind::kCount;
  option.basic = "Clients";
  options
      .count("clients-per-process", workload.clients_per_process,
             "clients that share a retry budget and gates", 1, 1'000'000'000)
      .in("clients");
  declare_options(options, workload.retry);
  declare_options(options, workload.job);
}

void find_unused(UnusedOptions& unused, const WorkloadOptions& workload) {
  find_unused(unused, workload.retry);
  if (!workload.retry.process.any()) {
    find_unused<WorkloadOptions>(unused, workload, WorkloadOptions(),
                                 "without a budget or a gate, which clients could share",
                                 {"clients-per-process"});
  }
  if (workload.arrivals != Arrivals::kOpen) {
    find_unused<WorkloadOptions>(unused, workload, WorkloadOptions(), "without --arrivals=open",
                                 {"rate"});
  }
  if (workload.arrivals == Arrivals::kJob) {
    find_unused<WorkloadOptions>(unused, workload, WorkloadOptions(), "with --arrivals=job",
                                 {"lambda"});
  } else {
    find_unused<WorkloadOptions>(unused, workload, WorkloadOptions(), "without --arrivals=job",
                                 {"tasks", "calls", "workers-start"});
  }
}

}  // namespace retrystorm
