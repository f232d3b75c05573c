#include "study/backlog_trial.h"

#include <algorithm>
#include <cmath>

#include "common/output/fixed.h"
#include "study/bisection.h"

namespace retrystorm {
namespace {

// Steps of equal ratios from one backlog to the other.
constexpr std::size_t kSteps = 16;
constexpr std::size_t kTries = 4;  // log2 of the steps

std::size_t at_step(const BacklogTrial::Edge& edge, double step) {
  const auto low = static_cast<double>(edge.below.backlog);
  const auto high = static_cast<double>(edge.above.backlog);
  return static_cast<std::size_t>(std::llround(low * std::pow(high / low, step / kSteps)));
}

std::size_t with_two_digits(std::size_t number) {
  std::size_t unit = 1;
  while (number / unit >= 100) unit *= 10;
  return (number + unit / 2) / unit * unit;
}

constexpr const char* kAsk =
    ": ask what your server listens with (nginx and Node.js 511, Go 4096, Tomcat 100, or 8,292 if it hangs "
    "but still accepts)";

std::string down_of(const TriedBacklog& tried, const char* noun) {
  return std::to_string(tried.down) + " of " + std::to_string(tried.runs) + noun + " down at " +
         std::to_string(tried.backlog) +
         (tried.recovering > 0 ? " (" + std::to_string(tried.recovering) + " still recovering)"
                               : "");
}

}  // namespace

bool hangs_on_backlog(const ScenarioOptions& options, const NamedOptions& given) {
  const bool is_known = given.contains("backlog") && options.service.backlog != kBacklogOfTomcat;
  return !is_known && options.scale == 1 && !options.graph.on() &&
         !options.workload.connections.multiplexed() &&
         options.timeline.outage.kind == Disturbance::Kind::kFreeze &&
         options.outage_length() > Duration::zero();
}

std::optional<BacklogTrial> try_backlogs(
    const TriedBacklog& asked, std::size_t runs,
    const std::function<std::optional<TriedBacklog>(std::size_t, std::size_t)>& run) {
  // The order in which another answer is likely: a service that comes back may not do so with a larger
  // backlog.
  std::vector<std::size_t> larger, smaller;
  for (const std::size_t each : kUsualBacklogs) {
    (each > asked.backlog ? larger : smaller).push_back(each);
  }
  std::reverse(smaller.begin(), smaller.end());
  std::vector<std::size_t> order = asked.is_down() ? smaller : larger;
  const auto& rest = asked.is_down() ? larger : smaller;
  order.insert(order.end(), rest.begin(), rest.end());

  const auto by_backlog = [](const TriedBacklog& a, const TriedBacklog& b) {
    return a.backlog < b.backlog;
  };
  BacklogTrial trial;
  TriedBacklog near = asked;  // the last one tried in this direction
  for (const std::size_t backlog : order) {
    if ((backlog > asked.backlog) != (near.backlog > asked.backlog)) near = asked;
    const auto tried = run(backlog, runs);
    if (!tried) return std::nullopt;
    trial.usual.push_back(*tried);
    if (tried->is_down() != asked.is_down()) {
      const auto [below, above] = std::minmax(near, *tried, by_backlog);
      trial.edge = {.below = below, .above = above};
      break;
    }
    near = *tried;
  }
  std::sort(trial.usual.begin(), trial.usual.end(), by_backlog);
  if (!trial.edge) return trial;

  const std::size_t few = std::max<std::size_t>(runs / kTries, 1);
  bool stopped = false;
  const auto comes_back = [&](std::size_t step) {
    const auto tried = run(at_step(*trial.edge, static_cast<double>(step)), few);
    stopped = !tried;
    return tried && !tried->is_down();
  };
  const bool up_below = !trial.edge->below.is_down();
  const Bracket bracket = bisect(up_below ? 0 : kSteps, up_below ? kSteps : 0, comes_back,
                                 [&stopped] { return stopped; });
  if (stopped) return std::nullopt;
  const double middle = static_cast<double>(bracket.good + bracket.bad) / 2;
  trial.edge->about = with_two_digits(at_step(*trial.edge, middle));
  return trial;
}

std::string other_backlog_text(const TriedBacklog& asked, const BacklogTrial& trial, bool titled) {
  if (!trial.edge) return "";
  const auto& [below, above, about] = *trial.edge;
  const TriedBacklog& other = below.is_down() == asked.is_down() ? above : below;
  return std::to_string(other.down) + " of " + std::to_string(other.runs) +
         (titled ? " runs" : " runs down") + " with --backlog=" + std::to_string(other.backlog);
}

std::string backlog_trial_text(const BacklogTrial& trial) {
  if (trial.edge) {
    const auto& [below, above, about] = *trial.edge;
    const bool up_below = !below.is_down();
    return std::string("backlog: comes back ") + (up_below ? "below" : "above") + " about " +
           std::to_string(about) + ", not " + (up_below ? "above" : "below") + " (" +
           down_of(below, "") + "; " + down_of(above, "") + ')' + kAsk;
  }
  const TriedBacklog& first = trial.usual.front();
  const bool alike =
      std::all_of(trial.usual.begin(), trial.usual.end(), [&first](const TriedBacklog& each) {
        return each.down == first.down && each.runs == first.runs &&
               each.recovering == first.recovering;
      });
  std::string text = "backlog: " + down_of(first, " runs");
  for (std::size_t i = 1; i < trial.usual.size(); ++i) {
    text += i + 1 < trial.usual.size() ? ", " : " and ";
    text += alike ? std::to_string(trial.usual[i].backlog) : down_of(trial.usual[i], "");
  }
  // Not down, but what had piled up took long to drain.
  const auto [worst, best] = std::minmax_element(
      trial.usual.begin(), trial.usual.end(),
      [](const TriedBacklog& a, const TriedBacklog& b) { return a.success < b.success; });
  if (!first.is_down() && best->success - worst->success >= kClearlyLess) {
    text += "; after the outage " + percent(best->success, 0) + " succeed at " +
            std::to_string(best->backlog) + " and " + percent(worst->success, 0) + " at " +
            std::to_string(worst->backlog) + kAsk;
  }
  return text;
}

}  // namespace retrystorm
