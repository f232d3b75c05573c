#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "model/base/text.h"
#include "model/retry/schedule.h"
#include "model/run/outlook.h"
#include "policies/policy.h"
#include "policies/values.h"
#include "simulator/scenario_options.h"
#include "words/words.h"

namespace retrystorm {
namespace {

constexpr std::size_t kMostWaits = 1'000;  // that are looked at

Note note_of(Note::Level level, const char* rule, std::size_t line, Statements says) {
  std::string text = words_of(says);
  return {level, rule, line, std::move(text), std::move(says)};
}

// Polly's median waits are multiples of the base, and each after the first twelve is twice the one before: tanh is 1
// there. So what takes some milliseconds for each wait is computed once.
std::vector<Duration> polly_waits(const BackoffSettings& settings, std::size_t retries) {
  static const std::vector<Duration> first =
      median_waits({.base = std::chrono::seconds(1), .jitter = {.kind = Jitter::Kind::kPolly}}, 12);
  std::vector<Duration> waits;
  double multiple = 0;
  while (waits.size() < retries) {
    multiple = waits.size() < first.size() ? to_seconds(first[waits.size()]) : 2 * multiple;
    waits.push_back(std::min(scale(settings.base, multiple), settings.cap));
  }
  return waits;
}

class Finder {
 public:
  explicit Finder(const Policy& policy)
      : policy_(policy), scenario_(scenario_of(options_of(policy))), notes_(policy.notes) {
    BackoffSettings plain = backoff_;
    if (!plain.jitter.is_growth()) plain.jitter = {};
    const std::size_t retries = std::min<std::size_t>(limit_.max_retries, kMostWaits);
    waits_ = plain.jitter.kind == Jitter::Kind::kPolly ? polly_waits(plain, retries)
                                                       : median_waits(plain, retries);
    const Setting* timeout = policy.find("timeout");
    if (timeout != nullptr && limit_.retry_on.timeout) per_try_ = workload_.timeout;
  }

  std::vector<Note> find() {
    find_ejections();
    if (policy_.has_retries) find_short_timeouts();
    if (policy_.has_retries && limit_.max_retries > 0) {
      find_time_of_all();
      find_attempts_that_never_begin();
      find_timeouts_not_retried();
      find_caps();
      find_waits();
      find_limits();
      find_share_that_empties();
      find_statuses();
    }
    std::ranges::stable_sort(notes_, std::greater(), &Note::level);
    return notes_;
  }

 private:
  // At the line of this option.
  void note(const char* rule, std::string_view option, Statement says) {
    notes_.push_back(note_of(Note::Level::kNote, rule, policy_.line_of(option), {std::move(says)}));
  }
  void warn(const char* rule, std::string_view option, Statement says) {
    note(rule, option, std::move(says));
    notes_.back().level = Note::Level::kWarning;
  }

  // The least and the greatest part of a wait that jitter leaves.
  std::pair<double, double> jitter_range() const {
    const auto [kind, amount] = std::pair(backoff_.jitter.kind, backoff_.jitter.amount);
    if (kind == Jitter::Kind::kFull) return {0, 1};
    if (kind == Jitter::Kind::kEqual) return {0.5, 1};
    if (kind == Jitter::Kind::kProportional) return {1 - amount, 1 + amount};
    return {1, 1};
  }

  // As the outlook of a run has it.
  void find_ejections() {
    const HostSettings& hosts = scenario_.hosts;
    if (!hosts.many() || !hosts.eject.on() || hosts.eject.most_out(hosts.replicas) > 0) return;
    warn("ejects-none", "eject", ejects_none(hosts));
  }

  // Hardly an answer comes over a network within so little: the unit may be wrong.
  void find_short_timeouts() {
    for (const char* option : {"timeout", "deadline"}) {
      if (!policy_.is_given(option) || policy_.value(option) == "none") continue;
      const Duration limit = parse_duration(policy_.value(option));
      if (limit >= std::chrono::milliseconds(10)) continue;
      warn("short-timeout", option, {"short-timeout", {{"limit", limit}}});
    }
  }

  // Where the program is known to have no limit.
  void find_time_of_all() {
    const std::size_t n = waits_.size() + 1;
    if (!per_try_ || policy_.value("deadline") != "none" || n > kMostWaits) return;
    note("long-tries", "timeout",
         {"long-tries", {counted("n", n), {"each", *per_try_}, {"all", time_of(n, *per_try_)}}});
  }

  // Of so many attempts, with the longest waits between them.
  Duration time_of(std::size_t attempts, Duration per_try) const {
    Duration time = scale(per_try, static_cast<double>(attempts));
    for (std::size_t i = 0; i + 1 < attempts; ++i) {
      time = saturating_add(time, scale(waits_[i], jitter_range().second));
    }
    return time;
  }

  // Attempt k begins after k-1 timeouts and the waits between them.
  void find_attempts_that_never_begin() {
    if (!limit_.has_deadline() || !per_try_ || limit_.max_retries >= kMostWaits) return;
    const Duration deadline = limit_.deadline;
    const std::size_t attempts = waits_.size() + 1;
    const auto [least, greatest] = jitter_range();
    // The last attempt that begins before the time is up, and when.
    const auto last_begun = [&](double part) {
      std::pair<std::size_t, Duration> last{1, 0};
      for (const Duration wait : waits_) {
        const Duration next =
            saturating_add(saturating_add(last.second, *per_try_), scale(wait, part));
        if (next >= deadline) break;
        last = {last.first + 1, next};
      }
      return last;
    };
    const auto [at_most, begins_first] = last_begun(least);
    const auto [at_least, begins_last] = last_begun(greatest);
    Statement says{.values = {counted("n", attempts), {"each", *per_try_}, {"all", deadline}}};
    if (at_most < attempts) {
      const Duration last = deadline - begins_first;
      says.id = last < *per_try_ ? "never-begins-cut" : "never-begins";
      says.values.push_back(counted("next", at_most + 1));
      says.values.push_back(counted("begun", at_most));
      says.values.push_back({"last", last});
    } else if (at_least < attempts || begins_last + *per_try_ > deadline) {
      says.id = at_least < attempts ? "not-always-begins" : "cut-short";
    } else {
      return;
    }
    Statement room{"room-in-all", {{"needed", time_of(attempts, *per_try_)}}};
    const Duration waits = time_of(attempts, Duration{0});
    if (waits < deadline) {
      room.id = "room-for-each";
      room.values.push_back({"less", scale(deadline - waits, 1.0 / static_cast<double>(attempts))});
    }
    const bool never = at_most < attempts;
    notes_.push_back(note_of(never ? Note::Level::kWarning : Note::Level::kNote,
                             never ? "never-begins" : "cut-short", policy_.line_of("timeout"),
                             {std::move(says), std::move(room)}));
  }

  void find_timeouts_not_retried() {
    if (limit_.retry_on.timeout) return;
    constexpr std::size_t kUnavailable = 503;
    if (limit_.retry_on.statuses[kUnavailable]) {
      note("timeout-not-retried", "retry-on", {"timeout-not-retried"});
    }
    if (!limit_.has_deadline()) return;
    const Duration all = limit_.deadline;
    const Duration one = policy_.find("timeout") ? parse_duration(policy_.value("timeout")) : all;
    const std::size_t n = waits_.size() + 1;
    if (one >= all) {
      note("no-attempt-timeout", "deadline", {"no-attempt-timeout", {{"all", all}}});
    } else if (n <= kMostWaits && time_of(n, one) > all) {
      note("cut-short", "timeout", {"more-in-all", {counted("n", n), {"each", one}, {"all", all}}});
    }
  }

  void find_caps() {
    if (backoff_.growth != Growth::kExponential || backoff_.cap == Duration::max()) return;
    if (backoff_.cap < backoff_.base) {
      warn("cap-below-base", "backoff-cap",
           {"cap-below-base", {{"cap", backoff_.cap}, {"base", backoff_.base}}});
    } else if (limit_.has_deadline() && backoff_.cap >= limit_.deadline) {
      note("cap-not-reached", "backoff-cap",
           {"cap-above-deadline", {{"cap", backoff_.cap}, {"all", limit_.deadline}}});
    } else if (!waits_.empty() && waits_.size() < kMostWaits && waits_.back() < backoff_.cap) {
      note("cap-not-reached", "backoff-cap",
           {"cap-not-reached", {{"cap", backoff_.cap}, {"last", waits_.back()}}});
    }
  }

  void find_waits() {
    if (workload_.retry.pacer.on) return;
    const bool at_once = backoff_.growth == Growth::kNone || backoff_.base == Duration::zero();
    if (at_once && backoff_.jitter.kind == Jitter::Kind::kNone) {
      warn("no-wait", "backoff-base", {"no-wait"});
    } else if (backoff_.jitter.kind == Jitter::Kind::kNone) {
      warn("no-jitter", "backoff-base", {"no-jitter"});
    }
  }

  void find_limits() {
    const double attempts = 1 + static_cast<double>(limit_.max_retries);
    const bool unlimited = limit_.max_retries == LimitSettings::kUnlimited;
    if (unlimited && !limit_.has_deadline()) {
      warn("never-ends", "max-attempts", {"never-ends"});
    }
    const ProcessSettings& process = workload_.retry.process;
    if (process.budget.kind != BudgetSettings::Kind::kNone || process.breaker.on ||
        process.throttle.on) {
      return;
    }
    const bool timeouts = limit_.retry_on.timeout;
    note("no-budget", "max-retries",
         {unlimited  ? "no-budget-endless"
          : timeouts ? "no-budget"
                     : "no-budget-errors",
          {{"attempts", attempts}, {"use", ShareOf{1 / attempts}}}});
  }

  // A bucket that failures empty and successes fill is empty while more than this share fails: p (cost of a failure and
  // its retry) = (1 - p) deposit.
  void find_share_that_empties() {
    const BudgetSettings& budget = workload_.retry.process.budget;
    if (budget.kind != BudgetSettings::Kind::kTokens || budget.ttl != Duration::max() ||
        budget.deposit_on != DepositOn::kSuccess || budget.refund || budget.failure_cost <= 0 ||
        budget.deposit <= 0) {
      return;
    }
    const double lost = budget.cost + budget.failure_cost;
    const double share = budget.deposit / (budget.deposit + lost);
    note("budget-empties", "budget-deposit",
         {"budget-empties",
          {{"share", ShareOf{share}},
           {"lost", lost},
           {"tokens", budget.tokens},
           {"deposit", budget.deposit}}});
  }

  void find_statuses() {
    const RetryOn& on = limit_.retry_on;
    std::string same;
    for (const std::size_t status : {400, 401, 403, 404}) {
      if (on.statuses[status]) same += (same.empty() ? "" : ", ") + std::to_string(status);
    }
    if (!same.empty()) {
      warn("permanent", "retry-on", {"permanent", {{"statuses", same}}});
    }
    for (std::size_t status = 200; status < 300; ++status) {
      if (!on.statuses[status]) continue;
      warn("retries-success", "retry-on", {"retries-success", {counted("status", status)}});
      break;
    }
    if (on.statuses[500]) {
      note("repeats-work", "retry-on", {"repeats-work"});
    }
  }

  const Policy& policy_;
  const ScenarioOptions scenario_;
  const WorkloadOptions& workload_ = scenario_.workload;
  const LimitSettings& limit_ = workload_.retry.limit;
  const BackoffSettings& backoff_ = workload_.retry.backoff;
  std::vector<Duration> waits_;  // without jitter
  std::optional<Duration>
      per_try_;  // the time limit of each attempt, if there is one and it is retried
  std::vector<Note> notes_;
};

// How many attempts a request may have; infinite without a limit.
double attempts_of(const Policy& policy) {
  const auto retries = scenario_of(options_of(policy)).workload.retry.limit.max_retries;
  return retries == LimitSettings::kUnlimited ? std::numeric_limits<double>::infinity()
                                              : 1 + static_cast<double>(retries);
}

// Services of one mesh call one another, and before each of them it retries.
void find_chains(const std::vector<LayeredPolicy>& policies, std::vector<LayerFinding>& findings) {
  std::set<std::string_view> hosts;
  std::multiset<double> attempts;
  const LayeredPolicy* first = nullptr;
  for (const LayeredPolicy& each : policies) {
    const Policy& policy = *each.policy;
    if (policy.refused || !policy.has_retries || policy.layer != "mesh") continue;
    const double most = attempts_of(policy);
    for (const std::string& host : policy.hosts) {
      if (most > 1 && hosts.insert(host).second) attempts.insert(most);
    }
    if (first == nullptr && !attempts.empty()) first = &each;
  }
  if (attempts.size() < 2) return;
  const double one = *attempts.rbegin(), other = *std::next(attempts.rbegin());
  findings.push_back({*first, note_of(Note::Level::kNote, "layers", first->policy->line,
                                      {{"layers-mesh",
                                        {counted("services", attempts.size()),
                                         {"one", one},
                                         {"other", other},
                                         {"product", one * other}}}})});
}

}  // namespace

std::vector<Note> findings_of(const Policy& policy) {
  if (policy.refused) return policy.notes;
  return Finder(policy).find();
}

std::vector<LayerFinding> layer_findings(const std::vector<LayeredPolicy>& policies) {
  // By host and layer: the most attempts, and whose.
  std::map<std::string, std::map<std::string, std::pair<double, LayeredPolicy>>> hosts;
  for (const LayeredPolicy& each : policies) {
    const Policy& policy = *each.policy;
    if (policy.refused || !policy.has_retries || policy.layer.empty()) continue;
    const std::pair attempts{attempts_of(policy), each};
    for (const std::string& host : policy.hosts) {
      auto& most = hosts[host].try_emplace(policy.layer, attempts).first->second;
      if (most.first < attempts.first) most = attempts;
    }
  }
  std::vector<LayerFinding> findings;
  for (const auto& [host, layers] : hosts) {
    if (layers.size() < 2) continue;
    double product = 1;
    std::string parts;
    for (const auto& [layer, most] : layers) {
      const auto& [attempts, each] = most;
      product *= attempts;
      parts += (parts.empty() ? "" : " x ") + readable(attempts) + " (" + layer + ", " +
               printable(each.path) + ':' + std::to_string(each.policy->line) + ')';
    }
    if (product <= 1) continue;
    const LayeredPolicy& last = layers.rbegin()->second.second;
    findings.push_back(
        {last, note_of(Note::Level::kWarning, "layers", last.policy->line,
                       {{"layers", {{"host", host}, {"parts", parts}, {"product", product}}}})});
  }
  find_chains(policies, findings);
  return findings;
}

}  // namespace retrystorm
