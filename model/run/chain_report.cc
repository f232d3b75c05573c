#include "model/run/chain_report.h"

#include <cmath>
#include <utility>

#include "model/run/outlook.h"

namespace retrystorm {
namespace {

std::string percent(double share) {
  return std::to_string(std::llround(100 * share)) + " %";
}

}  // namespace

void ChainWatch::take(const ChainInterval& interval) {
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    windows_[i].push_back({interval.t, interval.window, interval.nodes[i]});
  }
}

std::optional<double> ChainWatch::calm_rate(std::size_t node) const {
  // The first window has fewer answers, because the services begin empty.
  double answers = 0;
  std::size_t windows = 0;
  for (std::size_t i = 0; i < windows_[node].size(); ++i) {
    const Window& each = windows_[node][i];
    if (!begins_ || each.t > *begins_) break;
    if (i == 0) continue;
    answers += each.node.in_time;
    ++windows;
  }
  if (windows == 0) return std::nullopt;
  return answers / static_cast<double>(windows);
}

void ChainWatch::find_death(std::size_t node, NodeResult& result) const {
  const auto calm = calm_rate(node);
  if (!calm || *calm <= 0 || !ends_) return;
  std::size_t dead = 0;
  for (const Window& each : windows_[node]) {
    if (each.t - each.window < *ends_) continue;
    if (each.node.in_time < *calm / 2) {
      if (++dead == kWindowsToDie) {
        result.died = each.t - static_cast<std::int64_t>(kWindowsToDie) * each.window;
      }
      continue;
    }
    if (result.died) {
      result.back = each.t - each.window;
      return;
    }
    dead = 0;
  }
}

ChainResult ChainWatch::result() const {
  ChainResult result{.holds = names_.holds};
  double requests = 0;
  for (const Window& each : windows_.front()) requests += each.node.calls.requests;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    NodeResult node{.name = names_.names[i], .calm_in_time = calm_rate(i)};
    double attempts = 0;
    for (const Window& each : windows_[i]) attempts += each.node.calls.attempts;
    if (requests > 0) node.amplification = attempts / requests;
    if (!windows_[i].empty()) node.end = windows_[i].back().node;
    find_death(i, node);
    result.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 0; i < result.nodes.size(); ++i) {
    const auto& died = result.nodes[i].died;
    if (died && (!result.first || *died <= *result.nodes[*result.first].died)) result.first = i;
  }
  if (result.first) result.why = why(*result.first, result);
  return result;
}

std::string ChainWatch::why(std::size_t node, const ChainResult& result) const {
  // The last of the windows in which it died.
  const NodeInterval* then = nullptr;
  for (const Window& each : windows_[node]) {
    const Duration died = *result.nodes[node].died;
    if (each.t == died + static_cast<std::int64_t>(kWindowsToDie) * each.window) then = &each.node;
  }
  if (then == nullptr) return "";
  std::string text = readable(static_cast<double>(then->queue)) + " requests wait in its queue";
  if (then->worked > 0) {
    text += ", and " + percent(then->for_nobody_share()) +
            " of those it works for have no client any more";
  }
  const auto workers = static_cast<double>(then->workers);
  if (names_.holds && then->calling > 0) {
    text += "; of its " + readable(workers) + " workers " + readable(std::round(then->calling)) +
            " wait for " + names_.names[node + 1];
  } else if (workers > 0) {
    text += "; it is " + percent(then->busy / workers) + " busy";
  }
  // Those behind it are alive. What do they do?
  const std::size_t last = result.nodes.size() - 1;
  if (node < last) {
    for (const Window& each : windows_[last]) {
      if (each.t !=
          *result.nodes[node].died + static_cast<std::int64_t>(kWindowsToDie) * each.window) {
        continue;
      }
      text += "; " + names_.names[last] + " is " +
              percent(each.node.busy / static_cast<double>(each.node.workers)) + " busy, " +
              percent(each.node.for_nobody_share()) + " of it for nobody";
    }
  }
  return text;
}

std::string first_death(const ChainResult& result) {
  if (!result.first) return "";
  const NodeResult& node = result.nodes[*result.first];
  return node.name + " died first, at " + readable(*node.died) + ": " + result.why;
}

}  // namespace retrystorm
