#include "policies/changes.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "model/base/text.h"
#include "policies/import.h"

namespace retrystorm {
namespace {

struct Candidate {
  const char* title;
  NamedOptions options;
  std::string_view
      replaces;  // settings whose names begin with this are dropped, if it is not empty
};

// A policy as its file has it.
struct Written {
  std::vector<std::string> lines;
  NamedOptions settings;
};

Written written(const NamedOptions& settings, ExportFormat format, const FileNames& names) {
  const std::string text = export_policy(scenario_of(settings).workload, format, names).text;
  Written result;
  for (const std::string_view line : split(text, '\n')) result.lines.emplace_back(line);
  const PolicyFile file = read_policies(text, ReadAs::kGrpcChannel);
  if (file.policies.size() == 1) result.settings = options_of(file.policies.front());
  return result;
}

// JSON has a comma between two lines.
std::string_view without_comma(std::string_view line) {
  return line.ends_with(',') ? line.substr(0, line.size() - 1) : line;
}

// What is between the first and the last lines that both have.
std::vector<std::string> new_lines(const std::vector<std::string>& before,
                                   const std::vector<std::string>& after) {
  const auto alike = [](const std::string& a, const std::string& b) {
    return without_comma(a) == without_comma(b);
  };
  const auto [old_begin, begin] =
      std::mismatch(before.begin(), before.end(), after.begin(), after.end(), alike);
  const auto end = std::mismatch(before.rbegin(), std::make_reverse_iterator(old_begin),
                                 after.rbegin(), std::make_reverse_iterator(begin), alike)
                       .second.base();
  return {begin, end};
}

// With the lines that the first of them stands under: each has less before it than the one below.
std::vector<std::string> with_parents(std::vector<std::string> lines,
                                      const std::vector<std::string>& all) {
  auto at = std::find(all.begin(), all.end(), lines.front());
  std::size_t indent = lines.front().find_first_not_of(' ');
  while (indent > 0 && at != all.begin()) {
    const std::size_t its = (--at)->find_first_not_of(' ');
    if (its >= indent) continue;
    lines.insert(lines.begin(), *at);
    indent = its;
  }
  return lines;
}

}  // namespace

std::vector<PolicyChange> changes_to(const NamedOptions& settings, ExportFormat format,
                                     const FileNames& names) {
  const RetrySettings retry = scenario_of(settings).workload.retry;
  const HedgeSettings& hedge = retry.hedge;
  std::vector<Candidate> candidates;
  if (retry.process.budget.kind == BudgetSettings::Kind::kNone) {
    candidates.push_back({"a retry budget of 10 %", {{"retry-budget", "10%"}}, "budget-"});
  }
  if (!retry.process.breaker.on && format == ExportFormat::kResilience4j) {
    candidates.push_back({"a circuit breaker", {{"breaker", "resilience4j"}}, "breaker-"});
  }
  if (retry.backoff.growth != Growth::kExponential && !retry.backoff.jitter.is_growth()) {
    candidates.push_back(
        {"waits that grow", {{"growth", "exponential"}, {"backoff-factor", "2"}}, "linear-"});
  }
  if (retry.limit.max_retries > 1) {
    candidates.push_back({"one retry", {{"max-attempts", "2"}}, "max-retries"});
  }
  if (hedge.any() && hedge.on == HedgeOn::kDelay) {
    if (hedge.most > 1) candidates.push_back({"one hedge", {{"hedge-max", "1"}}, ""});
    // At the timeout the request has ended.
    if (hedge.percentile == 0 && hedge.delay > Duration::zero() &&
        2 * hedge.delay < retry.limit.deadline) {
      candidates.push_back(
          {"hedges after twice the time", {{"hedge", format_duration(2 * hedge.delay)}}, ""});
    }
    candidates.push_back({"no hedges", {{"hedge", "none"}}, "hedge-"});
  }
  candidates.push_back({"no retries", {{"max-attempts", "1"}}, "max-retries"});

  std::vector<PolicyChange> changes;
  const Written before = written(settings, format, names);
  for (const auto& [title, options, replaces] : candidates) {
    PolicyChange change{.title = title, .lines = {}, .settings = settings};
    NamedOptions changed = settings;
    std::erase_if(changed, [&replaces = replaces](const auto& each) {
      return !replaces.empty() && each.first.starts_with(replaces);
    });
    for (const auto& [name, value] : options) changed[name] = value;
    Written after;
    try {
      after = written(changed, format, names);
    } catch (const std::invalid_argument&) {
      continue;  // it contradicts another setting
    }
    // What a file cannot say at all stays as it is: only what the lines change counts.
    for (const auto& [name, value] : before.settings) {
      if (!after.settings.contains(name)) change.settings.erase(name);
    }
    for (const auto& [name, value] : after.settings) {
      const auto old = before.settings.find(name);
      if (old == before.settings.end() || old->second != value) change.settings[name] = value;
    }
    if (change.settings == settings) continue;
    change.lines = new_lines(before.lines, after.lines);
    // Of its file all lines are names under names, which say whose they are.
    if (format == ExportFormat::kResilience4j && !change.lines.empty()) {
      change.lines = with_parents(std::move(change.lines), after.lines);
    }
    if (change.lines.empty()) {  // of gRPC
      change.lines.emplace_back(hedge.any() ? "(no hedgingPolicy)" : "(no retryPolicy)");
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace retrystorm
