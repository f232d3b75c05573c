#include "server/program.h"

#include <iostream>
#include <memory>
#include <optional>
#include <random>
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
#include "server/admin.h"
#include "server/http_server.h"
#include "server/reporter.h"

namespace retrystorm {
namespace {

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

}  // namespace

void check_command_line(const Invocation&, const ServerOptions& options) {
  Contradictions wrong;
  wrong.attempt([&] { check(options.service); });
  wrong.attempt([&] { make_upstream(options.calls); });
  UnusedOptions unused;
  find_unused(unused, options.calls, options.service);
  wrong.add(unused);
  // With a token, later commands may turn on a feature, and an option unused so far then applies.
  if (!options.wants_token()) wrong.add(unused_options(options.service));
  wrong.refuse();
}

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

}  // namespace retrystorm
