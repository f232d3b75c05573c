#include "common/output/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <ctime>

#include "common/output/json_lines.h"
#include "model/run/disturbance.h"

namespace retrystorm {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  std::va_list arguments;
  va_start(arguments, pattern);
  std::array<char, 512> text{};
  const int length = std::vsnprintf(text.data(), text.size(), pattern, arguments);
  va_end(arguments);
  return {text.data(), std::min(static_cast<std::size_t>(length), text.size() - 1)};
}

std::string count_text(std::uint64_t count, const char* what) {
  return std::to_string(count) + ' ' + what;
}

std::string milliseconds_text(std::optional<Duration> latency) {
  return latency ? format("%.1fms", to_seconds(*latency) * 1e3) : "-";
}

std::string latency_text(const LatencyHistogram& latency) {
  const LatencyQuantiles q = quantiles(latency);
  return "p50 " + milliseconds_text(q.p50) + ", p95 " + milliseconds_text(q.p95) + ", p99 " +
         milliseconds_text(q.p99) + ", max " + milliseconds_text(latency.max());
}

// "99.95 %", never rounded up to a hundred.
std::string percent_text(double share) {
  const double percent = share * 100;
  return share < 1 && percent > 99.995 ? "almost 100 %" : format("%.2f %%", percent);
}

// "12 given up (attempts 9, budget 3)"
std::string given_up_text(const Counts& counts) {
  std::string reasons;
  for (std::size_t i = 0; i < kGiveUpNames.size(); ++i) {
    if (counts.gave_up_by[i] == 0) continue;
    std::string name(kGiveUpNames[i]);
    std::replace(name.begin(), name.end(), '_', ' ');
    reasons += (reasons.empty() ? " (" : ", ") + name + ' ' + std::to_string(counts.gave_up_by[i]);
  }
  return count_text(counts.gave_up(), "given up") + (reasons.empty() ? "" : reasons + ')');
}

std::string after_text(std::optional<Duration> time) {
  return time ? "after " + format_duration(*time) : "never";
}

// A trace is read to a finer measure than what tells of many.
nlohmann::ordered_json fine_seconds_json(std::optional<Duration> time) {
  return time ? nlohmann::ordered_json(std::round(to_seconds(*time) * 1e6) / 1e6) : nullptr;
}

nlohmann::ordered_json fate_json(AttemptFate fate) {
  switch (fate) {
    case AttemptFate::kOk:
      return "ok";
    case AttemptFate::kError:
      return "error";
    case AttemptFate::kTimedOut:
      return "timed_out";
    case AttemptFate::kNotSent:
      return "not_sent";
    case AttemptFate::kUnderWay:
      break;
  }
  return nullptr;
}

nlohmann::ordered_json reason_json(std::optional<GiveUp> reason) {
  return reason ? nlohmann::ordered_json(kGiveUpNames[static_cast<std::size_t>(*reason)]) : nullptr;
}

// What `value` gives for each reason to give up, by its name.
template <typename Value>
nlohmann::ordered_json by_reason(const Value& value) {
  auto json = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kGiveUpNames.size(); ++i)
    json[std::string(kGiveUpNames[i])] = value(i);
  return json;
}

}  // namespace

std::string callers_text(std::size_t clients, double arrival_rate) {
  return arrival_rate > 0 ? format("%g requests a second", arrival_rate)
                          : std::to_string(clients) + " clients";
}

nlohmann::ordered_json attempt_json(const TracedRequest& request, std::size_t index) {
  const TracedAttempt& attempt = request.attempts[index];
  return {{"type", "attempt"},
          {"t", fine_seconds_json(attempt.t)},
          {"request", request.number},
          {"attempt", index + 1},
          {"client", request.client},
          {"outcome", fate_json(attempt.fate)},
          {"status",
           attempt.status > 0 ? nlohmann::ordered_json(attempt.status) : nlohmann::ordered_json()},
          {"reason", reason_json(attempt.why)},
          {"latency_s", fine_seconds_json(attempt.latency)},
          {"connect_s", fine_seconds_json(attempt.connect)},
          {"queue_s", fine_seconds_json(attempt.queue)},
          {"service_s", fine_seconds_json(attempt.service)},
          {"late_s", fine_seconds_json(attempt.late)},
          {"wait_s", fine_seconds_json(attempt.wait)}};
}

nlohmann::ordered_json request_json(const TracedRequest& request) {
  const std::size_t sent = request.sent();
  const char* const outcome = request.gave_up ? "gave_up" : "ok";
  return {{"type", "request"},
          {"t", fine_seconds_json(request.t)},
          {"request", request.number},
          {"client", request.client},
          {"outcome", request.time ? nlohmann::ordered_json(outcome) : nlohmann::ordered_json()},
          {"reason", reason_json(request.gave_up)},
          {"time_s", fine_seconds_json(request.time)},
          {"attempts", sent},
          {"not_sent", request.attempts.size() - sent}};
}

nlohmann::ordered_json seconds_json(std::optional<Duration> time) {
  return time ? nlohmann::ordered_json(rounded(to_seconds(*time))) : nullptr;
}

nlohmann::ordered_json milliseconds_json(std::optional<Duration> time) {
  return time ? nlohmann::ordered_json(rounded(to_seconds(*time) * 1e3)) : nullptr;
}

std::string client_line(const Rates& rates) {
  return format("OK: %.2f req/sec, errors: %.2f req/sec, timedout: %.2f req/sec", rates.ok,
                rates.errors, rates.timed_out);
}

nlohmann::ordered_json start_json(const std::string& program, const std::string& command,
                                  const nlohmann::ordered_json& options,
                                  std::optional<std::chrono::system_clock::time_point> started_at) {
  nlohmann::ordered_json start{{"type", "start"}, {"program", program}, {"command", command}};
  if (started_at) start["started_at"] = rounded(to_seconds(started_at->time_since_epoch()));
  start.update(options);
  return start;
}

nlohmann::ordered_json share_json(double share) {
  return std::round(share * 1e5) / 1e5;
}

nlohmann::ordered_json gave_up_json(const GiveUpCounts& counts) {
  return by_reason([&counts](std::size_t reason) { return counts[reason]; });
}

nlohmann::ordered_json client_interval_json(const RunInterval& interval) {
  const Rates& rates = interval.rates;
  const ClientStates& clients = interval.clients;
  const auto gave_up_by =
      by_reason([&rates](std::size_t reason) { return rounded(rates.gave_up_by[reason]); });
  nlohmann::ordered_json json{{"type", "interval"},
                              {"t", rounded(to_seconds(interval.t))},
                              {"ok", rounded(rates.ok)},
                              {"errors", rounded(rates.errors)},
                              {"timed_out", rounded(rates.timed_out)},
                              {"attempts", rounded(rates.attempts)},
                              {"retries", rounded(rates.retries)},
                              {"requests", rounded(rates.requests)},
                              {"gave_up", rounded(rates.gave_up())},
                              {"gave_up_by", gave_up_by},
                              {"not_sent", rounded(rates.not_sent)},
                              {"latency_ms", latency_json(interval.latency)},
                              {"thinking", clients.thinking},
                              {"in_flight", clients.in_flight},
                              {"waiting_to_retry", clients.waiting_to_retry}};
  if (clients.mean_pause) {
    json["workers"] = clients.thinking + clients.in_flight + clients.waiting_to_retry;
    json["mean_pause_s"] = seconds_json(clients.mean_pause);
    json["throttled"] = rounded(rates.throttled);
  }
  return json;
}

nlohmann::ordered_json outage_json(Duration t, OutageEvent event, const std::string& what) {
  return {{"type", "outage"},
          {"t", rounded(to_seconds(t))},
          {"event", event == OutageEvent::kBegin ? "stop" : "continue"},
          {"what", what}};
}

nlohmann::ordered_json action_json(Duration t, const std::string& what) {
  return {{"type", "action"}, {"t", rounded(to_seconds(t))}, {"what", what}};
}

std::string time_stamp(std::chrono::system_clock::time_point time, Zone zone) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm local{};
  zone == Zone::kLocal ? localtime_r(&seconds, &local) : gmtime_r(&seconds, &local);
  // Not strftime's %b, which follows the locale.
  static constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  return format("%s %2d %02d:%02d:%02d.%03d", kMonths.at(static_cast<std::size_t>(local.tm_mon)),
                local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                static_cast<int>(since_epoch.count() % 1000));
}

std::string server_line(const std::string& stamp, const ServerInterval& interval) {
  const std::string delay = format_duration(interval.last_delay);
  if (const auto& workers = interval.workers) {
    return format("%s: busy: %4zu of %zu, waiting: %4zu, delay: %s", stamp.c_str(), workers->busy,
                  workers->workers, workers->waiting, delay.c_str());
  }
  return format("%s: concurrency: %4zu, last delay: %s", stamp.c_str(), interval.concurrency,
                delay.c_str());
}

nlohmann::ordered_json server_interval_json(Duration t, Duration window,
                                            const ServerInterval& interval) {
  const auto rate = [seconds = to_seconds(window)](std::uint64_t count) {
    return seconds > 0 ? rounded(static_cast<double>(count) / seconds) : 0;
  };
  const ServiceCounts& counts = interval.counts;
  auto rejected = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kRejections.size(); ++i) {
    rejected[kRejections[i].name] = rate(counts.rejected[i]);
  }
  nlohmann::ordered_json json{{"type", "interval"},
                              {"t", rounded(to_seconds(t))},
                              {"concurrency", interval.concurrency},
                              {"last_delay_s", to_seconds(interval.last_delay)}};
  add_workers(json, interval.workers);
  json.update({{"offered", rate(counts.offered)},
               {"admitted", rate(counts.admitted)},
               {"completed", rate(counts.completed)},
               {"served", rate(counts.served)},
               {"failed", rate(counts.failed)},
               {"lost", rate(counts.lost)},
               {"rejected", rejected},
               {"served_ms", latency_json(interval.times.served)},
               {"late_ms", latency_json(interval.times.late)}});
  if (interval.capacity) {
    const auto& [capacity, use] = *interval.capacity;
    json["capacity"] = rounded(capacity);
    json["provided"] = rounded(use.provided / to_seconds(window));
    json["used"] = rate(use.used);
  }
  return json;
}

std::string success_text(const Counts& counts) {
  return percent_text(counts.success_share()) + " of the requests; " + given_up_text(counts);
}

std::string summary_text(const Summary& summary) {
  const Counts& counts = summary.counts;
  const Recovery& recovery = summary.recovery;
  const RetryMetrics& metrics = summary.retry_metrics;
  const std::chrono::milliseconds elapsed =
      std::chrono::round<std::chrono::milliseconds>(summary.elapsed);

  std::string text =
      format("\n%s retries, %s, seed %llu, %s\n", summary.strategy.c_str(),
             callers_text(summary.clients, summary.arrival_rate).c_str(),
             static_cast<unsigned long long>(summary.seed), format_duration(elapsed).c_str());
  text += "requests:  " + count_text(counts.requests, "sent") + ", " +
          count_text(counts.retries, "retries") + ", " +
          format("retry amplification %.2f\n", counts.amplification());
  text += "success:   " + success_text(counts) + ", " +
          count_text(counts.failing, "failing at the end\n");
  text += "attempts:  " + count_text(counts.ok, "OK") + ", " + count_text(counts.errors, "errors") +
          ", " + count_text(counts.timed_out, "timed out") +
          (counts.not_sent > 0 ? ", " + count_text(counts.not_sent, "not sent") : "") +
          format("; at most %.1f a second\n", recovery.peak_attempts);
  if (summary.punctuality) {
    text += "arrivals:  " + count_text(summary.punctuality->dropped_arrivals, "found no thread") +
            "; the others began " + milliseconds_text(summary.punctuality->latest_start) +
            " late at the most\n";
  }
  text += "latency:   " + latency_text(summary.latencies.attempts()) + " (of OK attempts)\n";
  text += "           " + latency_text(summary.latencies.requests()) +
          " (of requests, from the first attempt to the end)\n";
  text += "waits:     " + count_text(metrics.sleeps, "pauses") + ", " +
          format("%.1f s in all", to_seconds(metrics.total_sleep));
  if (summary.paced) {
    text += " (sleeper: " + count_text(metrics.invocations, "invocations") + ", " +
            count_text(metrics.ups, "ups") + ", " + count_text(metrics.downs, "downs") + ")";
  }
  text += format("; a client went without an OK for %.1f s at the longest\n",
                 to_seconds(summary.longest_without_ok));
  if (summary.failed_commands.value_or(0) > 0) {
    text += "commands:  " + count_text(*summary.failed_commands, "of the outage's failed\n");
  }
  if (recovery.verdict != Verdict::kNoOutage) {
    text += recovery.baseline_ok ? format("recovery:  baseline %.1f OK/s", *recovery.baseline_ok)
                                 : "recovery:  no baseline (too short a calm before the outage)";
    text += "; errors gone " + after_text(recovery.errors_gone) + "; 50 % " +
            after_text(recovery.time_to_half) + ", 90 % " + after_text(recovery.time_to_recovery) +
            ", 95 % " + after_text(recovery.time_to_full) +
            format("; %.0f OK lost\n", recovery.ok_lost);
  }
  if (summary.job) {
    const JobResult& job = *summary.job;
    const auto total = job.settings.tasks * job.settings.calls;
    text += "job:       " + count_text(job.settings.tasks, "tasks of ") +
            count_text(job.settings.calls, "calls, ") +
            (job.makespan
                 ? "done after " +
                       format_duration(std::chrono::round<std::chrono::milliseconds>(*job.makespan))
                 : count_text(job.done, "of ") + count_text(total, "calls done")) +
            "; " + percent_text(counts.throttled_share()) + " of the attempts throttled\n";
  }
  if (summary.capacity) {
    const CapacityUse& use = summary.capacity->use;
    text += format("capacity:  %.0f unit-seconds provided, ", use.provided) +
            count_text(use.used, "used, ") + percent_text(idle_share(use)) + " idle\n";
  }
  text += "verdict:   " + std::string(to_string(recovery.verdict));
  // The outage that everybody thinks of needs no word.
  const bool usual = summary.outage.empty() || summary.outage == print_disturbance({});
  return usual ? text : text + " (after " + summary.outage + ")";
}

nlohmann::ordered_json recovery_json(const Recovery& recovery) {
  return {
      {"verdict", to_string(recovery.verdict)},
      {"baseline_ok", recovery.baseline_ok ? nlohmann::ordered_json(rounded(*recovery.baseline_ok))
                                           : nlohmann::ordered_json(nullptr)},
      {"errors_gone_s", seconds_json(recovery.errors_gone)},
      {"time_to_recovery_s", seconds_json(recovery.time_to_recovery)},
      {"time_to_50_percent_s", seconds_json(recovery.time_to_half)},
      {"time_to_95_percent_s", seconds_json(recovery.time_to_full)},
      {"peak_attempts", rounded(recovery.peak_attempts)},
      {"ok_lost", rounded(recovery.ok_lost)},
  };
}

nlohmann::ordered_json latency_json(const LatencyQuantiles& latency) {
  return {{"p50", milliseconds_json(latency.p50)},
          {"p95", milliseconds_json(latency.p95)},
          {"p99", milliseconds_json(latency.p99)}};
}

nlohmann::ordered_json latency_json(const LatencyHistogram& latency) {
  auto json = latency_json(quantiles(latency));
  json["max"] = milliseconds_json(latency.max());
  return json;
}

nlohmann::ordered_json summary_json(const Summary& summary) {
  const Counts& counts = summary.counts;
  const RetryMetrics& metrics = summary.retry_metrics;
  nlohmann::ordered_json json{{"type", "summary"}};
  json.update(recovery_json(summary.recovery));
  json["outage"] =
      summary.outage.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(summary.outage);
  json.update({
      {"amplification", rounded(counts.amplification())},
      {"elapsed_s", rounded(to_seconds(summary.elapsed))},
      {"ok", counts.ok},
      {"errors", counts.errors},
      {"timed_out", counts.timed_out},
      {"requests", counts.requests},
      {"retries", counts.retries},
      {"success_share", share_json(counts.success_share())},
      {"failing", counts.failing},
      {"gave_up", counts.gave_up()},
      {"gave_up_by", gave_up_json(counts.gave_up_by)},
      {"not_sent", counts.not_sent},
      {"latency_ms", latency_json(summary.latencies.attempts())},
      {"request_time_ms", latency_json(summary.latencies.requests())},
      {"longest_without_ok_s", rounded(to_seconds(summary.longest_without_ok))},
      {"pauses", metrics.sleeps},
      {"pauses_s", rounded(to_seconds(metrics.total_sleep))},
  });
  if (summary.failed_commands) json["failed_commands"] = *summary.failed_commands;
  if (summary.punctuality) {
    json["dropped_arrivals"] = summary.punctuality->dropped_arrivals;
    json["latest_start_ms"] = milliseconds_json(summary.punctuality->latest_start);
  }
  if (summary.job) {
    const JobResult& job = *summary.job;
    json["job"] = {{"tasks", job.settings.tasks},
                   {"calls", job.settings.calls},
                   {"done", job.done},
                   {"makespan_s", seconds_json(job.makespan)},
                   {"throttled_share", share_json(counts.throttled_share())}};
  }
  if (summary.capacity) {
    const CapacityUse& use = summary.capacity->use;
    json["capacity"] = {{"provided_unit_s", rounded(use.provided)},
                        {"used", use.used},
                        {"idle_share", share_json(idle_share(use))}};
  }
  if (summary.paced) {
    json["sleeper"] = {
        {"invocations", metrics.invocations}, {"ups", metrics.ups}, {"downs", metrics.downs}};
  }
  return json;
}

}  // namespace retrystorm
