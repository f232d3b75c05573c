// What does a running service do under load? Steps of concurrency, probes, and the settings that follow.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <queue>
#include <system_error>
#include <tuple>
#include <vector>

#include "common/cli/program.h"
#include "common/exit_code.h"
#include "common/os/process.h"
#include "common/output/answer.h"
#include "common/output/output_queue.h"
#include "model/base/text.h"
#include "retrystorm/load.h"
#include "retrystorm/measured_service.h"
#include "retrystorm/policy_files.h"
#include "retrystorm/study_command.h"
#include "study/cell_answer.h"
#include "study/rows.h"
#include "words/words.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// A rule that ends the rise of the load or everything. See docs/measure.md.
constexpr double kMostErrors = 0.01;  // of the answers of `kErrorWindow`
constexpr Duration kErrorWindow = 5s;
constexpr std::size_t kLeastErrors = 3;  // one failure in a hundred answers is chance
constexpr double kMostOfTimeout = 0.5;   // p95 by the clients' timeout
constexpr double kMostSlower = 5;        // p95 by the p95 of one client
constexpr double kFallen = 0.95;         // OK/s by the best, twice
constexpr double kStepsLonger = 3;       // the most by the least time of a step
constexpr double kUsualAnswers = 1'000, kManyAnswers = 2'300;  // CV up to 0.5, above
constexpr double kLeastInService = 0.8;   // by the clients: below it, they are what is slow
constexpr std::size_t kLeastAnswers = 5;  // of a step; how sure the fit is says the rest
constexpr Duration kHealthEvery = 1s;
constexpr Duration kTick = 100ms;

struct MeasureOptions {
  RequestOptions request{.url = ""};
  Consent consent;
  std::string health_url, write = "service.ini", csv, json, link = "explorer.html", accepts;
  bool plan = false, keeps = false;
  Duration timeout = WorkloadOptions().timeout, step = 10s;
  std::size_t up_to = 1'000;
  AnswerLook look;
};

void declare(CLI::App& app, MeasureOptions& options) {
  app.add_option("URL", options.request.url, "what to send requests to")->required()->type_name("");
  auto* group = option_group(app, "Measure");
  const auto add = [](CLI::Option* option) { option->group("Measure"); };
  add(add_text(*group, "--i-may-load", options.consent.may_load,
               "HOST:PORT of the URL again: yes, this service may be loaded to its limit"));
  const auto flag = [&](const char* name, bool& target, const char* help) {
    add(group->add_flag(name, target, help));
  };
  flag("--even-public", options.consent.even_public, "also where its address is not a private one");
  flag("--plan", options.plan, "say what would be sent, and send nothing");
  add(add_duration(*group, "--timeout", options.timeout, "how long your clients wait for an answer",
                   1ms));
  add(add_count(*group, "--up-to", options.up_to, "the most requests in the service at a time", 1,
                10'000));
  add(add_duration(*group, "--step", options.step,
                   "how long a step of the load lasts at least; at most three times as long",
                   200ms));
  add(add_text(*group, "--health-url", options.health_url,
               "stop as soon as this is not answered with 200"));
  add(add_text(*group, "--accepts", options.accepts,
               "all or when-free, if you know it (docs/server.md); measured where the service runs "
               "on this machine")
          ->check(CLI::IsMember({"all", "when-free"})));
  flag("--keep-connections", options.keeps,
       "as your clients do; otherwise each request has its own");
  add(add_text(*group, "--method", options.request.method, "the method of the requests"));
  add(add_repeated(*group, "--header", "TEXT", options.request.headers, "a header, 'Name: value'"));
  add(add_text(*group, "--body", options.request.body, "the body of the requests, or @FILE"));
  add(add_text(*group, "--cacert", options.request.cacert,
               "https: a file of certificates to trust"));
  flag("--insecure", options.request.insecure, "https: accept any certificate");
  add(add_text(*group, "--write", options.write, "the settings file that is written"));
  add(add_text(*group, "--csv", options.csv,
               "also write the steps, for retrystorm service --from-steps"));
  add(add_text(*group, "--json", options.json, "also write what was found as a line of JSON"));
  add(add_text(*group, "--link", options.link, "the page of the explorer that a link opens"));
  add_look(app, options.look);
}

// How many of the requests that were sent at these times the service still has at `now`, if it serves all.
double still_there(const ServiceModel& model, const std::vector<TimePoint>& sent, TimePoint now) {
  std::priority_queue<TimePoint, std::vector<TimePoint>, std::greater<>> ends;
  const auto leave = [&ends](TimePoint until) {
    while (!ends.empty() && ends.top() <= until) ends.pop();
  };
  for (const TimePoint each : sent) {
    leave(each);
    ends.push(each + from_seconds(model.time_at(static_cast<double>(ends.size() + 1))));
  }
  leave(now);
  return static_cast<double>(ends.size());
}

// Sends the load of a measurement, and stops it by its rules.
class Measurement {
 public:
  Measurement(const MeasureOptions& options, LoadRequest load, EndSignals& signals)
      : options_(options),
        load_(std::move(load)),
        signals_(signals),
        health_(health_request(options.health_url, options.request, options.timeout)) {}

  MeasuredService run() {
    look_first();
    if (!stopped()) rise();
    risen_ = true;
    if (!found_.stopped && found_.rejects) {
      see_what_limits();
      fill_up_to_the_limit();
    }
    if (!found_.stopped) around_the_knee();
    if (!found_.stopped) compare_with_the_begin();
    if (!found_.stopped && found_.steps.size() >= kLeastSteps) {
      found_.fit = fit_service(found_.steps);
      hang_up_on_it();
    }
    look_at_kept();
    if (found_.kept && kept_.is_open()) found_.kept_at_least = Clock::now() - kept_since_;
    return std::move(found_);
  }

 private:
  void stop(Statement why) {
    if (!found_.stopped) found_.stopped = std::move(why);
  }
  bool stopped() const { return found_.stopped || found_.rejects; }

  void look_first() {
    HttpAnswer answer;
    const Answered first = ask(load_, &answer);
    if (signals_.wait_until(Clock::now())) {
      stop({"measure-interrupted", {}});
    } else if (first.status == 0) {
      stop({"measure-no-answer", {{"why", answer.why}}});
    } else if (first.status / 100 == 3) {
      stop({"measure-redirect",
            {counted("status", static_cast<std::size_t>(first.status)),
             {"to", printable(answer.response.get_header_value("Location"))}}});
    } else if (!first.ok()) {
      stop({"measure-not-ok", {counted("status", static_cast<std::size_t>(first.status))}});
    }
    const std::string cached = answer.response.get_header_value("X-Cache");
    if (answer.response.has_header("Age") || to_lower(cached).find("hit") != std::string::npos) {
      found_.doubts.push_back({"measure-cached", {}});
    }
    if (stopped()) return;
    HttpClient client;
    client.send_on(kept_, load_.request, load_.timeout, 0);
    kept_since_ = Clock::now();
    found_.kept = kept_.is_open();
  }

  void look_at_kept() {
    if (!found_.kept || !kept_.is_open() || kept_.can_be_used_again()) return;
    kept_.shut();
    found_.kept_for = Clock::now() - kept_since_;
  }

  bool must_stop(const std::deque<Answered>& recent, std::size_t clients) {
    std::size_t errors = 0, rejected = 0;
    const Answered* error = nullptr;
    for (const Answered& each : recent) {
      if (each.ok()) continue;
      ++errors;
      if (each.rejected()) ++rejected;
      if (error == nullptr || each.rejected()) error = &each;
    }
    if (errors >= kLeastErrors &&
        static_cast<double>(errors) > kMostErrors * static_cast<double>(recent.size())) {
      const ShareOf share{static_cast<double>(errors) / static_cast<double>(recent.size())};
      const auto status = counted("status", static_cast<std::size_t>(error->status));
      const bool turned_away = 2 * rejected > errors;
      if (turned_away && found_.rejects) return true;  // as is known
      if (turned_away && !risen_) {
        found_.rejects = Statement{
            "measure-rejects",
            {status,
             {"hint", error->retry_after.empty() ? "none" : printable(error->retry_after) + " s"}}};
      } else if (error->status > 0) {
        stop({"measure-errors", {status, {"share", share}}});
      } else {
        const bool of_queue = found_.backlog > 0 && found_.backlog < clients;
        Statement why{
            of_queue ? "measure-backlog" : "measure-no-answers",
            {{"share", share}, counted("clients", clients), counted("backlog", found_.backlog)}};
        // Only too much where enough was seen with less.
        if (found_.steps.size() < kLeastSteps) {
          stop(std::move(why));
        } else {
          found_.enough.emplace(std::move(why));
        }
      }
      return true;
    }
    if (health_ && Clock::now() >= health_at_) {
      health_at_ = Clock::now() + kHealthEvery;
      if (ask(*health_).status != 200) stop({"measure-unhealthy", {{"url", options_.health_url}}});
    }
    return found_.stopped.has_value();
  }

  // Nothing if too little was answered to be a step.
  std::optional<LoadStep> step(std::size_t clients) {
    const double usual = found_.steps.empty() ? 0 : found_.steps.back().time;
    std::optional<ClosedLoad> load;
    try {
      load.emplace(load_, clients, from_seconds(usual));
    } catch (const std::system_error&) {  // no thread is left
      found_.enough.emplace(Statement{"measure-client-limit", {counted("clients", clients)}});
      return std::nullopt;
    }
    const TimePoint begin = Clock::now();
    const Duration most = scale(options_.step, kStepsLonger);
    std::vector<Answered> all;
    std::deque<Answered> recent;
    double queued = 0;
    std::size_t looks = 0;
    Duration lasted{};
    bool cut = false;
    while (!cut) {
      if (signals_.wait_until(Clock::now() + kTick)) {
        stop({"measure-interrupted", {}});
        load->interrupt();
        return std::nullopt;
      }
      lasted = Clock::now() - begin;
      for (Answered& each : load->take()) {
        recent.push_back(each);
        all.push_back(std::move(each));
      }
      while (!recent.empty() && recent.front().end + kErrorWindow < Clock::now())
        recent.pop_front();
      cut = must_stop(recent, clients);
      if (const auto queue = listen_queue(load_.request.url)) {
        found_.backlog = queue->most;
        queued += static_cast<double>(queue->waiting);
        ++looks;
      }
      look_at_kept();
      if (lasted < options_.step) continue;
      double sum = 0, squares = 0;
      for (const Answered& each : all) {
        const double took = to_seconds(each.took);
        sum += took;
        squares += took * took;
      }
      const auto count = static_cast<double>(all.size());
      const bool wide = count * squares > 1.25 * sum * sum;  // a CV above 0.5
      const bool enough = count > 0 && 2 * count > 3 * (wide ? kManyAnswers : kUsualAnswers) &&
                          to_seconds(lasted) > 5 * sum / count;
      if (enough || lasted >= most) break;
    }
    load->stop();
    if (cut) return std::nullopt;
    // The first third is left out: it begins with an empty service.
    const TimePoint from = begin + lasted / 3, until = begin + lasted;
    std::vector<double> times;
    std::size_t errors = 0;
    for (const Answered& each : all) {
      if (each.end < from || each.end > until) continue;
      if (each.ok()) {
        times.push_back(to_seconds(each.took));
      } else {
        ++errors;
      }
    }
    if (times.size() < kLeastAnswers) return std::nullopt;
    const LoadStep step =
        step_of(static_cast<double>(clients), std::move(times), errors, to_seconds(until - from));
    if (looks > 0) found_.queued[clients] = queued / static_cast<double>(looks);
    tell(step);
    return step;
  }

  void tell(const LoadStep& step) const {
    if (!style_of(STDERR_FILENO).terminal) return;
    std::cerr << words_of({"measure-progress",
                           {{"clients", step.clients},
                            {"rate", number_words(step.rate)},
                            {"time", from_seconds(step.time)}}})
              << std::endl;
  }

  void rise() {
    double best = 0;
    std::size_t fallen = 0;
    for (std::size_t clients = 1, next = 1; !stopped(); clients = next) {
      next = std::min(2 * clients, options_.up_to);
      const auto one = step(clients);
      if (found_.rejects) found_.rejected_clients = clients;
      if (stopped() || found_.enough) return;
      if (!one) {
        stop({"measure-too-few", {counted("clients", clients)}});
        return;
      }
      if (one->rate * one->time < kLeastInService * one->clients) {
        found_.doubts.push_back({"measure-client-slow", {counted("clients", clients)}});
        found_.enough = Statement{"measure-client-limit", {counted("clients", clients)}};
        return;
      }
      found_.steps.push_back(*one);
      best = std::max(best, one->rate);
      fallen = one->rate < kFallen * best ? fallen + 1 : 0;
      const double p95 = one->p95, first = found_.steps.front().p95;
      const char* const why = p95 > kMostOfTimeout * to_seconds(options_.timeout)
                                  ? "measure-half-timeout"
                              : p95 > kMostSlower * first ? "measure-slower"
                              : fallen >= 2               ? "measure-falls"
                              : clients == options_.up_to ? "measure-up-to"
                                                          : nullptr;
      if (why == nullptr) continue;
      found_.enough = Statement{why, {counted("clients", clients)}};
      return;
    }
  }

  void around_the_knee() {
    if (found_.steps.size() < 2) return;
    const double most = most_clients(found_.steps);
    const ServiceModel workers = fit_workers(found_.steps);
    const double knee = workers.workers > 0 ? workers.workers : most / 2;
    for (const double factor : {0.75, 1.25, 1.5, 3.0}) {
      const double clients = std::min(std::max(std::round(knee * factor), 1.0), most);
      const bool done = std::ranges::any_of(
          found_.steps, [=](const LoadStep& each) { return each.clients == clients; });
      if (done) continue;
      const auto one = step(static_cast<std::size_t>(clients));
      if (!one) return;
      found_.steps.push_back(*one);
    }
  }

  void compare_with_the_begin() {
    if (found_.steps.empty()) return;
    const std::size_t again = found_.steps.size() > 2 ? 2 : 0;  // 4 clients
    const double clients = found_.steps[again].clients;
    const auto one = step(static_cast<std::size_t>(clients));
    if (!one) return;
    const double by = one->time / found_.steps[again].time;
    constexpr double kDrifted = 1.1, kFar = 1.3;
    if (by > kDrifted || by < 1 / kDrifted) {
      found_.doubts.push_back({by > kFar || by < 1 / kFar ? "measure-drift-far" : "measure-drift",
                               {{"clients", clients},
                                {"before", from_seconds(found_.steps[again].time)},
                                {"after", from_seconds(one->time)}}});
    }
  }

  // Waits until the service answers as it did at first. Returns false if it does not, or at a signal.
  bool wait_until_calm() {
    constexpr double kCalm = 1.5;
    const Duration calm = scale(from_seconds(found_.fit->model.time), kCalm);
    const bool is_calm = retrystorm::wait_until_calm(load_, calm);
    if (!is_calm && signals_.wait_until(Clock::now())) stop({"measure-interrupted", {}});
    return is_calm;
  }

  // On a curve a request is over when others are, so they go on coming, nine tenths of what it serves with `most` of
  // them. How late one is then if they are served, and that one.
  std::pair<double, Answered> ask_beside(const LoadRequest& patient, Duration held, double most) {
    const ServiceModel& model = found_.fit->model;
    const double usual = 0.9 * most / model.time_at(most);
    LoadRequest hasty = load_;
    hasty.timeout = held;
    // Of a fast service it would take more clients than that.
    const Duration cycle = held + ClosedLoad::kAfterFailure;
    const double clients = std::min(std::max(usual * to_seconds(cycle), 1.0), most);
    const TimePoint begin = Clock::now();
    ClosedLoad others(hasty, static_cast<std::size_t>(clients), cycle);
    signals_.wait_until(begin + from_seconds(3 * model.time_at(most)));
    const Answered one = ask(patient);
    const double seconds = to_seconds(Clock::now() - begin);
    others.stop();
    const double rate = static_cast<double>(others.take().size()) / seconds;
    double there = 0;
    for (int i = 0; i < 100; ++i) there = std::min(rate * model.time_at(there), most);
    return {model.time_at(there + 1), one};
  }

  void hang_up_on_it() {
    const ServiceModel& model = found_.fit->model;
    const double most = most_clients(found_.steps);
    const bool workers = model.kind == ServiceModel::Kind::kWorkers;
    const double dropped = std::isinf(model.best_concurrency()) ? 0
                           : workers                            ? std::min(5 * model.workers, most)
                                                                : most;
    // A service that notices still works for the requests that it has begun.
    const double soon = workers ? 1.5 * model.time : model.time;
    const auto tells = [&](double late) { return late >= (workers ? 1.8 : 1.3) * soon; };
    const double longest = model.time_at(dropped + 1);
    if (dropped == 0 || !tells(longest) || found_.rejects) return;
    std::size_t served = 0, tries = 0;
    const Duration held = std::min(scale(from_seconds(model.time), 0.3), Duration(50ms));
    LoadRequest patient = load_;
    patient.timeout = std::max(load_.timeout, from_seconds(3 * longest));
    for (int i = 0; i < 5 && tries < 3; ++i) {
      if (!wait_until_calm()) return;
      double late = 0;
      Answered one;
      if (workers) {
        const auto sent = hang_up(load_, static_cast<std::size_t>(dropped), held);
        if (static_cast<double>(sent.size()) < dropped) return;
        // A busy machine may send them so late that the first ones are over.
        late = model.time_at(still_there(model, sent, Clock::now()) + 1);
        one = ask(patient);
      } else {
        std::tie(late, one) = ask_beside(patient, held, dropped);
      }
      if (!one.ok()) return;
      if (!tells(late)) continue;
      ++tries;
      if (to_seconds(one.took) > std::sqrt(late * soon)) ++served;
    }
    if (tries == 0) return;
    found_.serves_abandoned = 2 * served > tries;
    found_.hung_up = dropped;
    wait_until_calm();
  }

  // How many of so many requests within `spread` are served.
  double let_in(std::size_t clients, Duration spread = {}) {
    ClosedLoad load(load_, clients, spread, true);
    load.stop();
    const auto ended = load.take();
    return static_cast<double>(std::ranges::count_if(ended, &Answered::ok));
  }

  // Returns false if a signal has come.
  bool pause(Duration time) {
    if (!signals_.wait_until(Clock::now() + time)) return true;
    stop({"measure-interrupted", {}});
    return false;
  }

  // A limit of the concurrency lets in as many of those that come at once as before they were too many, and as soon as
  // these are answered as many again. A limit of the rate lets in its burst, and then hardly any.
  void see_what_limits() {
    // Of many some come so late that they find room again.
    constexpr double kAlsoLate = 1.5, kAsMany = 0.3;
    const std::size_t most = found_.rejected_clients;
    const std::size_t least =
        found_.steps.empty() ? 1 : static_cast<std::size_t>(found_.steps.back().clients);
    const std::size_t many = std::min(2 * most, options_.up_to);
    for (int tries = 0; tries < 2; ++tries) {
      if (!pause(std::max<Duration>(1s, 2 * options_.timeout))) return;
      const double first = let_in(many), second = let_in(many);
      // A limit of one or two looks like a burst of as many.
      double evenly = first;
      if (first <= 2 && !found_.steps.empty()) {
        constexpr double kNearlyAll = 0.9;
        evenly = let_in(many, from_seconds(kNearlyAll * found_.steps.front().p50));
      }
      const auto lets_in_least = [&](int times) {
        while (times > 0 && lets_in_all(least)) --times;
        return times == 0;
      };
      if (std::min(first, second) >= static_cast<double>(least) &&
          std::max(first, second) <= kAlsoLate * static_cast<double>(most) && evenly == first &&
          std::fabs(first - second) <= std::max(1.0, kAsMany * first) && lets_in_least(3)) {
        count_inside(least, most);
        return;
      }
    }
    found_.rejects->id = "measure-rate-limit";
    const StatementValue rate{"rate",
                              number_words(found_.steps.empty() ? 0 : found_.steps.back().rate)};
    found_.rejects->values.push_back(rate);
    stop(*found_.rejects);
  }

  // Is none of so many that come at once turned away? The service has answered all before.
  bool lets_in_all(std::size_t clients) {
    const double time = found_.steps.empty() ? 0 : found_.steps.back().time;
    return pause(from_seconds(2 * time)) && let_in(clients) == static_cast<double>(clients);
  }

  // The most that come at once of which none is turned away: `least` of them, or more up to `most`.
  void count_inside(std::size_t least, std::size_t most) {
    while (least < most) {
      const std::size_t tried = (least + most + 1) / 2;
      if (lets_in_all(tried)) {
        least = tried;
      } else {
        most = tried - 1;
      }
    }
    found_.most_inside = static_cast<double>(least);
  }

  // Between the last step and what is turned away there may be a queue. Clients whose answer has come may still count.
  void fill_up_to_the_limit() {
    const double served = found_.steps.empty() ? 1 : found_.steps.back().clients;
    const double most = std::floor(0.95 * found_.most_inside);
    double last = served;
    for (const double clients : {std::round(std::sqrt(served * most)), most}) {
      if (found_.stopped || clients <= last) continue;
      last = clients;
      if (const auto one = step(static_cast<std::size_t>(clients))) found_.steps.push_back(*one);
    }
  }

  const MeasureOptions& options_;
  LoadRequest load_;
  EndSignals& signals_;
  std::optional<LoadRequest> health_;
  TimePoint health_at_{};
  bool risen_ = false;  // what limits it was looked at
  MeasuredService found_;
  Connection kept_;  // idle from the begin
  TimePoint kept_since_{};
};

void print_steps(const MeasuredService& found, const Style& style) {
  constexpr double kMost = 40;  // of the marks of a bar
  double best = 0;
  for (const LoadStep& each : found.steps) best = std::max(best, each.rate);
  std::vector<LoadStep> sorted = found.steps;
  std::ranges::sort(sorted, {}, &LoadStep::clients);
  Table table;
  table.columns = {{.title = "clients"}, {.title = "OK/s"}, {.title = "mean"}, {.title = "p95"}};
  for (const LoadStep& each : sorted) {
    table.rows.push_back({number_words(each.clients), number_words(each.rate),
                          time_words(from_seconds(each.time)), time_words(from_seconds(each.p95))});
    std::string& bar = table.remarks.emplace_back();
    for (double i = 0; i < std::round(kMost * each.rate / best); ++i)
      bar += style.unicode ? "▇" : "#";
  }
  print(std::cout, table, style);
}

// A file that this command did not write is not lost.
void check_target(const std::string& path) {
  std::error_code none;
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, none)) {
    refuse("--write: there is no folder " + in_quotes(folder.string()));
  }
  if (!std::filesystem::exists(path, none) || !std::filesystem::is_regular_file(path, none)) return;
  std::ifstream file(path);
  std::string first;
  std::getline(file, first);
  if (first.starts_with("# " + words_of("measured-by"))) return;
  refuse("--write: " + printable(path) +
         " exists, and is not of this command: choose another name");
}

int measure(const Invocation&, const MeasureOptions& options) {
  check(options.request);
  const HttpRequest request = make_request(options.request);
  const Teller teller(options.look.color);
  if (options.plan) {
    const double steps = std::ceil(std::log2(static_cast<double>(options.up_to))) + 6;
    teller.below({"measure-plan",
                  {counted("most", options.up_to),
                   {"step", options.step},
                   {"longest", scale(options.step, kStepsLonger)},
                   {"all", scale(options.step, steps * kStepsLonger)},
                   {"timeout", options.timeout},
                   {"whom", host_and_port(request.url)}}},
                 Tone::kPlain, "");
    return flush_standard_output() ? kExitHolds : kExitFault;
  }
  check_consent(request.url, options.consent);
  check_target(options.write);
  LineFile csv(options.csv), json(options.json);
  raise_descriptor_limit();
  EndSignals signals;
  LoadRequest load{
      .request = request, .timeout = options.timeout, .keeps_connections = options.keeps};
  MeasuredService found = Measurement(options, load, signals).run();
  found.url = options.request.url;
  found.timeout = options.timeout;
  found.keeps_connections = options.keeps;
  if (!options.accepts.empty()) found.accepts = options.accepts;
  judge(found);

  const bool care = std::ranges::any_of(found.doubts, [](const Statement& each) {
    return each.id == "measure-poor-fit" || each.id == "measure-drift-far";
  });
  teller.headline(found.known && !care ? Tone::kGood : Tone::kDoubt, found.headline);
  for (const Statement& each : found.doubts) teller.below(each, Tone::kDoubt);
  for (const Statement& each : found.findings) teller.below(each);
  if (!found.steps.empty()) print_steps(found, teller.style());
  if (found.known) LineFile(options.write).write(settings_text(found));
  csv.write(steps_table(found.steps));
  json.write(measured_json(found).dump());
  if (found.known) {
    teller.dim(
        {"measure-written",
         {{"file", options.write}, {"command", "simulate --config=" + shell_word(options.write)}}});
    std::cout << explorer_link(options.link, settings_of(found)) << '\n';
  }
  const bool written = flush_standard_output();
  return found.known && written ? kExitHolds : kExitFault;
}

}  // namespace

const Command kMeasure{
    "measure",
    "Loads a running service with more and more requests at a time until it is clear how many it serves at once\n"
    "and what it does with the others, and writes that as settings for --config. Stops before it hurts.",
    "retrystorm measure http://127.0.0.1:8080/api --i-may-load=127.0.0.1:8080 --timeout=1s",
    run_command<MeasureOptions, declare, measure>};

}  // namespace retrystorm
