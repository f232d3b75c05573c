// ./server: the service that its clients' retries can overload.
#include "common/cli/program.h"

#include <iostream>
#include <new>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "common/os/process.h"
#include "common/output/json_lines.h"
#include "common/output/json_report.h"
#include "common/output/line_report.h"
#include "common/output/output_file.h"
#include "common/output/output_queue.h"
#include "common/output/report.h"
#include "model/base/duration.h"
#include "model/service/service_observer.h"
#include "server/admin.h"
#include "server/http_server.h"
#include "server/options.h"

namespace retrystorm {
namespace {

// Reports the state of the service at regular intervals, from its construction to its destruction, on a separate thread.
class Reporter {
 public:
  // The server and the observers must outlive the reporter. Only the reporter may use the observers
  // during its lifetime.
  Reporter(HttpServer& server, Duration interval, std::vector<ServiceObserver*> observers)
      : server_(server),
        interval_(interval),
        observers_(std::move(observers)),
        last_(start_),
        thread_([this](const std::stop_token& end) { run(end); }) {}

 private:
  void run(const std::stop_token& end) {
    TimePoint next = start_;
    while (true) {
      // A server that was suspended skips the missed reports instead of printing them all at once.
      do next = saturating_add(next, interval_);
      while (next <= Clock::now());
      if (!sleep_until(next, end)) return;
      try {
        report(Clock::now());
      } catch (const std::bad_alloc&) {
        // Out of memory: this report is skipped.
      }
    }
  }

  void report(TimePoint now) {
    const ServerInterval interval = server_.take_interval();
    for (ServiceObserver* each : observers_) each->on_interval(now - start_, now - last_, interval);
    last_ = now;
  }

  HttpServer& server_;
  const Duration interval_;
  const std::vector<ServiceObserver*> observers_;
  const TimePoint start_ = Clock::now();
  TimePoint last_;
  std::jthread thread_;
};

// A line for each callee, after that of the service.
class CallsJsonReport final : public ServiceObserver {
 public:
  // `upstream`: null if it calls nobody.
  CallsJsonReport(std::string name, const Upstream* upstream, JsonSink sink)
      : name_(std::move(name)), upstream_(upstream), sink_(std::move(sink)) {}

  void on_interval(Duration t, Duration window, const ServerInterval& /*interval*/) override {
    if (upstream_ == nullptr) return;
    const std::vector<Upstream::Calls> calls = upstream_->calls();
    before_.resize(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      auto line = edge_json(t, name_, calls[i].to, rates(calls[i].counts - before_[i], window));
      line["requests_total"] = calls[i].counts.requests;
      line["attempts_total"] = calls[i].counts.attempts;
      line["in_flight"] = calls[i].in_flight;
      sink_(line);
      before_[i] = calls[i].counts;
    }
  }

 private:
  const std::string name_;
  const Upstream* const upstream_;
  const JsonSink sink_;
  std::vector<Counts> before_;
};

// Throws std::invalid_argument if options contradict each other.
void check_command_line(const Invocation&, const ServerOptions& options) {
  check(options.service);
  make_upstream(options.calls);
  refuse(unused_calls(options.calls, options.service));
  // With a token, later commands may turn on a feature, and an option unused so far then applies.
  if (!options.wants_token()) refuse(unused_of_part(options.service));
}

// Serves requests until a signal ends the program. Returns the exit code. Throws std::runtime_error
// with a readable message if it cannot start or continue.
int serve(const Invocation& invocation, const ServerOptions& asked) {
  UpstreamSettings upstream = make_upstream(asked.calls);
  ServerOptions options = asked;
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device()();
  occupy_standard_descriptors();
  const std::size_t descriptors = raise_descriptor_limit();
  fit_connections(options.service, descriptors - fit_calls(upstream, descriptors));
  check_backlog(options.service, longest_backlog());
  OutputFile json_file(options.json);
  EndSignals signals;
  StandardStreams streams(signals, OutputQueue::WhenFull::kDrop);
  SocketCloser closer;
  HttpServer server(options.service, seed, options.address, upstream, options.keeps_deadlines);
  Admin admin(server, options);
  if (options.service.draws() && !options.seed) std::cerr << "seed " << seed << '\n';
  std::cerr << "listening on http://" << print_address(server.address()) << "/api\n";
  JsonLines json(std::move(json_file), OutputQueue::WhenFull::kDrop);
  auto start = options_json(invocation.app);
  start["port"] = server.port();
  start["admin_port"] = admin.port();
  start["max_connections"] = options.service.max_connections;
  start["seed"] = seed;
  json.write(start_json("server", invocation.command, start, std::chrono::system_clock::now()));
  ServiceJsonReport json_report(json.sink());
  CallsJsonReport calls_report(options.name, server.upstream(), json.sink());
  ServiceLineReport lines(std::cout, ServiceLineReport::Stamp::kWallClock);
  std::optional<Reporter> reporter(
      std::in_place, server, options.report_interval,
      std::vector<ServiceObserver*>{&lines, &json_report, &calls_report});

  std::jthread ender([&](const std::stop_token& served) {
    const std::stop_callback no_more(served, [&signals] { signals.cancel(); });
    if (!signals.wait()) return;
    server.stop();
    // A thread may be waiting for a client that sends nothing.
    closer.begin(Duration::zero());
  });
  server.run();
  reporter.reset();
  const bool written = json.finish();
  const int code = streams.finish();
  return written ? code : 1;
}

}  // namespace
}  // namespace retrystorm

int main(int argc, char** argv) {
  using namespace retrystorm;
  return run_program<ServerOptions>(
      "An HTTP service that slows down exponentially once too many requests are in it. A connection "
      "carries one request, unless its client asks to keep it (HTTP/1.1 only).",
      "try a lower --max-connections", argc, argv, add_server_options, serve, check_command_line);
}
