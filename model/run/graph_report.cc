#include "model/run/graph_report.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "model/run/outlook.h"

namespace retrystorm {
namespace {

std::string percent(double share) {
  return std::to_string(std::llround(100 * share)) + " %";
}

// "all of it", "40 % of it"
std::string part(double share) {
  return share > 0.995 ? "all of it" : share < 0.005 ? "none of it" : percent(share) + " of it";
}

}  // namespace

void GraphWatch::take(const GraphInterval& interval,
                      const std::function<std::size_t(std::size_t node)>& dead_in_queue) {
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    windows_[i].push_back({interval.t, interval.window, interval.nodes[i]});
  }
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    edges_[i].push_back({interval.t, interval.window, interval.edges[i]});
  }
  if (!ends_ || interval.t - interval.window < *ends_) return;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    if (!state.calm) state.calm = calm_rate(i).value_or(0);
    if (interval.nodes[i].in_time >= *state.calm / 2) {
      state.failing = 0;
      if (state.died && !state.back) state.back = interval.t - interval.window;
    } else if (++state.failing == kWindowsToDie && !state.died) {
      state.died = interval.t - static_cast<std::int64_t>(kWindowsToDie) * interval.window;
      state.dead_in_queue = dead_in_queue(i);
    }
  }
}

std::optional<double> GraphWatch::calm_rate(std::size_t node) const {
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

std::size_t GraphWatch::phase_of(Duration t, Duration window) const {
  return !begins_ || t <= *begins_ ? 0 : ends_ && t - window >= *ends_ ? 2 : 1;
}

std::array<std::optional<double>, 3> GraphWatch::ok_of(std::size_t edge) const {
  std::array<double, 3> sums{};
  std::array<std::size_t, 3> windows{};
  for (std::size_t i = 1; i < edges_[edge].size(); ++i) {
    const EdgeWindow& each = edges_[edge][i];
    const std::size_t phase = phase_of(each.t, each.window);
    sums[phase] += each.edge.calls.ok;
    ++windows[phase];
  }
  std::array<std::optional<double>, 3> ok;
  for (std::size_t i = 0; i < ok.size(); ++i) {
    if (windows[i] > 0) ok[i] = sums[i] / static_cast<double>(windows[i]);
  }
  return ok;
}

GraphResult GraphWatch::result() const {
  GraphResult result;
  double requests = 0, requests_during = 0;
  for (std::size_t i = 0; i < edges_.size() && shape_.edges[i].from == GraphShape::kClients; ++i) {
    for (const EdgeWindow& each : edges_[i]) {
      requests += each.edge.calls.requests;
      if (phase_of(each.t, each.window) == 1) requests_during += each.edge.calls.requests;
    }
    if (!shape_.edges[i].clients.empty()) {
      result.clients.push_back({.name = shape_.edges[i].clients, .ok = ok_of(i)});
    }
  }
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    NodeResult node{.name = shape_.nodes[i].name,
                    .calm_in_time = calm_rate(i),
                    .holds = shape_.nodes[i].holds,
                    .died = states_[i].died,
                    .back = states_[i].back};
    if (!windows_[i].empty()) node.end = windows_[i].back().node;
    for (const Window& each : windows_[i]) {
      constexpr double kAll = 0.95;  // of the workers, in the mean
      const double taken = each.node.busy + (node.holds ? each.node.calling : 0);
      const bool full = taken >= kAll * static_cast<double>(each.node.workers);
      if (!full || phase_of(each.t, each.window) == 0) continue;
      if (!node.full_at) node.full_at = each.t;
      if (each.node.queue < node.full_queue) continue;
      node.full_workers = each.node.workers;
      node.full_queue = each.node.queue;
    }
    result.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const GraphShape::Edge& edge = shape_.edges[i];
    double attempts = 0, during = 0;
    for (const EdgeWindow& each : edges_[i]) {
      attempts += each.edge.calls.attempts;
      if (phase_of(each.t, each.window) == 1) during += each.edge.calls.attempts;
    }
    NodeResult& called = result.nodes[edge.to];
    if (requests_during > 0) called.during = called.during.value_or(0) + during / requests_during;
    result.edges.push_back({.from = shape_.caller(edge), .to = called.name});
    if (requests <= 0) continue;
    result.edges.back().amplification = attempts / requests;
    called.amplification += attempts / requests;
  }
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const double all = result.nodes[shape_.edges[i].to].amplification;
    if (all > 0) result.edges[i].share = result.edges[i].amplification / all;
  }
  for (std::size_t i = 0; i < result.nodes.size(); ++i) {
    const auto& died = result.nodes[i].died;
    if (died && (!result.first || *died <= *result.nodes[*result.first].died)) result.first = i;
  }
  if (result.first) result.why = why(*result.first, result);
  return result;
}

std::string GraphWatch::why(std::size_t node, const GraphResult& result) const {
  const NodeResult& died = result.nodes[node];
  const Window* then = last_of_death(windows_[node], died);
  if (then == nullptr) return "";
  const NodeInterval& state = then->node;
  std::string text = readable(static_cast<double>(state.queue)) + " requests wait in its queue";
  if (const std::size_t dead = states_[node].dead_in_queue; dead > 0) {
    text += ", " + (dead == state.queue ? "all" : readable(static_cast<double>(dead))) +
            " of them dead (their callers have given up)";
  }
  if (state.worked > 0) {
    text += "; it works for " + readable(std::round(state.worked)) + " a second, " +
            part(state.for_nobody_share()) + " for nobody";
  }
  // The service that most of its calls wait for, and the one behind which there is none.
  std::size_t waited_for = node, last = node;
  double most = 0;
  for (std::size_t i = 0; i < shape_.edges.size(); ++i) {
    const GraphShape::Edge& edge = shape_.edges[i];
    // Edges come in the order of their callers.
    if (edge.from == last) last = edge.to;
    const EdgeWindow* calls = last_of_death(edges_[i], died);
    if (edge.from != node || calls == nullptr || calls->edge.under_way <= most) continue;
    most = calls->edge.under_way;
    waited_for = edge.to;
  }
  const auto workers = static_cast<double>(state.workers);
  if (shape_.nodes[node].holds && waited_for != node) {
    text += "; of its " + readable(workers) + " workers " + readable(std::round(state.calling)) +
            " wait for " + shape_.nodes[waited_for].name;
  } else if (workers > 0) {
    text += "; it is " + percent(state.busy / workers) + " busy";
  }
  // That one is alive. What does it do?
  const Window* behind = last_of_death(windows_[last], died);
  if (last != node && behind != nullptr) {
    text += "; " + shape_.nodes[last].name + " is " +
            percent(behind->node.busy / static_cast<double>(behind->node.workers)) + " busy, " +
            part(behind->node.for_nobody_share()) + " for nobody";
  }
  return text;
}

std::string first_death(const GraphResult& result) {
  if (!result.first) return "";
  const NodeResult& node = result.nodes[*result.first];
  return node.name + " died first, at " + readable(*node.died) + ": " + result.why;
}

}  // namespace retrystorm
