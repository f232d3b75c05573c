// What do the named strategies do to a service, and to the requests? Each is tried in the same
// disturbances. The best ones come first.
#include <algorithm>
#include <cmath>
#include <utility>

#include "common/output/json_text.h"
#include "model/base/text.h"
#include "retrystorm/study_command.h"
#include "study/cell_answer.h"
#include "words/words.h"

namespace retrystorm {
namespace {

struct StrategiesOptions : StudyOptions {
  std::string strategies = "all";
};

void declare(CLI::App& app, StrategiesOptions& options) {
  add_study_options(app, options, {});
  add_strategies(*option_group(app, "Study"), options.strategies);
}

// How rarely the service is down after an outage, then by the requests that succeeded.
struct Rank {
  std::size_t strategy;
  double down = 0, success = 0;

  // A difference that is smaller than the shown digits does not count.
  auto key() const { return std::pair(std::round(1e5 * down), -std::round(1e5 * success)); }
};

// `results`: of all strategies in the first disturbance, then in the next one, ... The best come first.
std::vector<Rank> ranked(const std::vector<CellResult>& results, std::size_t strategies) {
  std::vector<Rank> ranks;
  for (std::size_t s = 0; s < strategies; ++s) ranks.push_back({.strategy = s});
  for (std::size_t i = 0; i < results.size(); ++i) {
    Rank& rank = ranks[i % strategies];
    if (const auto down = results[i].down()) rank.down += down->value;
    rank.success += results[i].success_share;
  }
  std::ranges::stable_sort(ranks, {}, &Rank::key);
  return ranks;
}

Table table_of(const std::vector<StudyDisturbance>& disturbances,
               const std::vector<ListedStrategy>& listed, const std::vector<CellResult>& results,
               const std::vector<Rank>& ranks) {
  const std::vector<ComparedIn::Figure> of_outage{
      {"stays down", 1, down_words},
      {"back after", 3, [](const CellResult& cell) { return back_words(cell); }}};
  const std::vector<ComparedIn::Figure> of_all{
      {"answered", 2, [](const CellResult& cell) { return share_words(answered_in_fault(cell)); }},
      {"attempts", 4, [](const CellResult& cell) { return number_words(cell.amplification); }}};
  std::vector<ComparedIn> cases;
  for (const StudyDisturbance& each : disturbances) {
    auto& figures = cases.emplace_back(ComparedIn{each.title}).figures;
    if (each.outage) figures = of_outage;
    figures.insert(figures.end(), of_all.begin(), of_all.end());
  }
  std::vector<std::string> names;
  for (const Rank& each : ranks) names.push_back(listed[each.strategy].name);
  Table table = compared_in(cases, {.title = "strategy", .code = true}, names,
                            [&](std::size_t disturbance, std::size_t row) {
                              return &results[disturbance * listed.size() + ranks[row].strategy];
                            });
  for (const Rank& each : ranks) {
    table.tones.push_back(each.key().first == 0     ? Tone::kGood
                          : each.key().first >= 1e5 ? Tone::kBad
                                                    : Tone::kDoubt);
  }
  return table;
}

int strategies(const Invocation& invocation, const StrategiesOptions& options) {
  auto [listed, given] = compared(invocation, options.strategies, {}, kSetByDisturbances);
  const std::vector<StudyDisturbance> disturbances = with_own_outage(given);
  std::vector<StudyCell> cells;
  std::vector<std::size_t> outages;
  for (const StudyDisturbance& disturbance : disturbances) {
    for (const ListedStrategy& strategy : listed) {
      NamedOptions of_cell = disturbance.options;
      of_cell.insert(given.begin(), given.end());
      if (disturbance.outage) outages.push_back(cells.size());
      cells.push_back({{disturbance.title, strategy.name},
                       scenario_of(with_strategy(std::move(of_cell), strategy))});
    }
  }
  Study study(invocation, options,
              {.labels = {"disturbance", "strategy"}, .cells = std::move(cells)});
  std::vector<std::string> set_here = kSetByDisturbances;
  const Listed<RetrySettings> of_strategy;
  for (const Option& option : of_strategy.list.all()) set_here.push_back(option.name);
  study.tell_outlook(invocation, outages, set_here);
  const auto results = study.run();
  if (!results) return study.finish();
  const std::vector<Rank> ranks = ranked(*results, listed.size());
  print_overruling(given, listed);
  study.show(table_of(disturbances, listed, *results, ranks));
  // They are sorted.
  if (ranks.size() > 1 && ranks.back().key().first == 0) {
    say({"strategies-none-down",
         {{"option", std::string(given.contains("rate") ? "--rate" : "--clients")}}});
  }
  return study.finish();
}

}  // namespace

const Command kStrategies{
    "strategies",
    "Compares the named strategies in the same disturbances: the server frozen for 1 s, 10 s and "
    "60 s\n(or your --outage), and a server that answers a tenth and half of its requests with an error.",
    "retrystorm strategies fixed exponential grpc --clients=300 --timeout=500ms",
    run_command<StrategiesOptions, declare, strategies>};

}  // namespace retrystorm
