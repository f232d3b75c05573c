#include "model/run/graph_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace retrystorm {
namespace {

// In whole percent.
ShareOf rounded(double share) {
  return {std::round(100 * share) / 100};
}

// Of ids for a share of the work that is for nobody: some of it, all of it, none of it.
std::string_view id_of_part(const std::array<std::string_view, 3>& ids, double share) {
  return ids[share > 0.995 ? 1 : share < 0.005 ? 2 : 0];
}

}  // namespace

void GraphWatch::take(const GraphInterval& interval,
                      const std::function<std::size_t(std::size_t node)>& dead_in_queue) {
  windows_.push_back(interval);
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
  for (std::size_t i = 1; i < windows_.size(); ++i) {
    if (!begins_ || windows_[i].t > *begins_) break;
    answers += windows_[i].nodes[node].in_time;
    ++windows;
  }
  if (windows == 0) return std::nullopt;
  return answers / static_cast<double>(windows);
}

std::size_t GraphWatch::phase_of(const GraphInterval& window) const {
  return !begins_ || window.t <= *begins_ ? 0 : ends_ && window.t - window.window >= *ends_ ? 2 : 1;
}

std::array<std::optional<double>, 3> GraphWatch::ok_of(std::size_t edge) const {
  std::array<double, 3> sums{};
  std::array<std::size_t, 3> windows{};
  for (std::size_t i = 1; i < windows_.size(); ++i) {
    const std::size_t phase = phase_of(windows_[i]);
    sums[phase] += windows_[i].edges[edge].calls.ok;
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
  const std::size_t edges = shape_.edges.size();
  for (std::size_t i = 0; i < edges && shape_.edges[i].from == GraphShape::kClients; ++i) {
    for (const GraphInterval& each : windows_) {
      requests += each.edges[i].calls.requests;
      if (phase_of(each) == 1) requests_during += each.edges[i].calls.requests;
    }
    if (!shape_.edges[i].clients.empty()) {
      result.clients.push_back({.name = shape_.edges[i].clients, .ok = ok_of(i)});
    }
  }
  for (std::size_t i = 0; i < shape_.nodes.size(); ++i) {
    NodeResult node{.name = shape_.nodes[i].name,
                    .holds = shape_.nodes[i].holds,
                    .died = states_[i].died,
                    .back = states_[i].back};
    if (!windows_.empty()) node.end = windows_.back().nodes[i];
    for (const GraphInterval& each : windows_) {
      constexpr double kAll = 0.95;  // of the workers, in the mean
      const NodeInterval& its = each.nodes[i];
      const double taken = its.busy + (node.holds ? its.calling : 0);
      const bool full = taken >= kAll * static_cast<double>(its.workers);
      if (!full || phase_of(each) == 0) continue;
      if (!node.full_at) node.full_at = each.t;
      if (its.queue < node.full_queue) continue;
      node.full_workers = its.workers;
      node.full_queue = its.queue;
    }
    result.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 0; i < edges; ++i) {
    const GraphShape::Edge& edge = shape_.edges[i];
    double attempts = 0, during = 0;
    for (const GraphInterval& each : windows_) {
      attempts += each.edges[i].calls.attempts;
      if (phase_of(each) == 1) during += each.edges[i].calls.attempts;
    }
    NodeResult& called = result.nodes[edge.to];
    if (requests_during > 0) called.during = called.during.value_or(0) + during / requests_during;
    result.edges.push_back({.from = shape_.caller(edge), .to = called.name});
    if (requests <= 0) continue;
    result.edges.back().amplification = attempts / requests;
    called.amplification += attempts / requests;
  }
  for (std::size_t i = 0; i < edges; ++i) {
    const double all = result.nodes[shape_.edges[i].to].amplification;
    if (all > 0) result.edges[i].share = result.edges[i].amplification / all;
  }
  const auto rank = [&](std::size_t node) { return std::pair(is_idle(node), *states_[node].died); };
  for (std::size_t i = 0; i < result.nodes.size(); ++i) {
    if (!states_[i].died) continue;
    if (!result.first || rank(i) <= rank(*result.first)) result.first = i;
  }
  if (result.first) result.why = why(*result.first);
  return result;
}

const GraphInterval* GraphWatch::death_of(std::size_t node) const {
  const auto then = std::find_if(windows_.begin(), windows_.end(), [&](const GraphInterval& each) {
    return each.t == *states_[node].died + static_cast<std::int64_t>(kWindowsToDie) * each.window;
  });
  return then == windows_.end() ? nullptr : &*then;
}

bool GraphWatch::is_idle(std::size_t node) const {
  const GraphInterval* const then = death_of(node);
  if (then == nullptr) return false;
  const NodeInterval& state = then->nodes[node];
  const double taken = state.busy + (shape_.nodes[node].holds ? state.calling : 0);
  return state.queue == 0 && 2 * taken < static_cast<double>(state.workers);
}

Statements GraphWatch::why(std::size_t node) const {
  const GraphInterval* const then = death_of(node);
  if (then == nullptr) return {};
  const NodeInterval& state = then->nodes[node];
  const std::size_t dead = states_[node].dead_in_queue;
  Statements all{
      {dead == 0             ? "died-queue"
       : dead == state.queue ? "died-queue-all-dead"
                             : "died-queue-dead",
       {{"queue", static_cast<double>(state.queue)}, {"dead", static_cast<double>(dead)}}}};
  if (state.worked > 0) {
    all.push_back(
        {id_of_part({"died-works", "died-works-for-nobody", "died-works-for-callers"},
                    state.for_nobody_share()),
         {{"rate", std::round(state.worked)}, {"nobody", rounded(state.for_nobody_share())}}});
  }
  // The service that most of its calls wait for, and the one behind which there is none.
  std::size_t waited_for = node, last = node;
  double most = 0;
  for (std::size_t i = 0; i < shape_.edges.size(); ++i) {
    const GraphShape::Edge& edge = shape_.edges[i];
    // Edges come in the order of their callers.
    if (edge.from == last) last = edge.to;
    const double under_way = then->edges[i].under_way;
    if (edge.from != node || under_way <= most) continue;
    most = under_way;
    waited_for = edge.to;
  }
  const auto workers = static_cast<double>(state.workers);
  if (shape_.nodes[node].holds && waited_for != node) {
    all.push_back({"died-waits",
                   {{"workers", workers},
                    {"calling", std::round(state.calling)},
                    {"called", shape_.nodes[waited_for].name}}});
  } else if (workers > 0) {
    all.push_back({"died-busy", {{"busy", rounded(state.busy / workers)}}});
  }
  // That one is alive. What does it do?
  if (last != node) {
    const NodeInterval& its = then->nodes[last];
    all.push_back({id_of_part({"died-behind", "died-behind-for-nobody", "died-behind-for-callers"},
                              its.for_nobody_share()),
                   {{"name", shape_.nodes[last].name},
                    {"busy", rounded(its.busy / static_cast<double>(its.workers))},
                    {"nobody", rounded(its.for_nobody_share())}}});
  }
  return all;
}

}  // namespace retrystorm
