// What do the named strategies do to a service, and to the requests? Each is tried in the same
// disturbances. The best ones come first.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "common/output/json_text.h"
#include "model/base/text.h"
#include "retrystorm/disturbances.h"
#include "retrystorm/study_command.h"
#include "simulate/options.h"
#include "study/cell_answer.h"
#include "words/words.h"

namespace retrystorm {
namespace {

struct StrategiesOptions : StudyOptions {
  std::string strategies = "all";
};

void declare(CLI::App& app, StrategiesOptions& options) {
  add_study_options(app, options, {});
  auto* study = option_group(app, "Study");
  add_strategies(*study, options.strategies);
  add_cell(*study, options.cell);
}

int strategies(const Invocation& invocation, const StrategiesOptions& options) {
  auto [listed, given] = compared(invocation, options.strategies, {}, kSetByDisturbances);
  const std::vector<StudyDisturbance> disturbances = with_own_outage(given);
  std::vector<StudyCell> cells;
  for (const StudyDisturbance& disturbance : disturbances) {
    for (const ListedStrategy& strategy : listed) {
      NamedOptions of_cell = disturbance.options;
      of_cell.insert(given.begin(), given.end());
      set_strategy(of_cell, strategy);
      cells.push_back({{disturbance.title, strategy.name}, scenario_of(of_cell)});
    }
  }
  Study study(invocation, options,
              {.labels = {"disturbance", "strategy"}, .cells = std::move(cells)});
  std::vector<std::size_t> outages;
  for (std::size_t d = 0; d < disturbances.size(); ++d) {
    if (!disturbances[d].outage) continue;
    for (std::size_t s = 0; s < listed.size(); ++s) outages.push_back(d * listed.size() + s);
  }
  std::vector<std::string> set_here = kSetByDisturbances;
  RetrySettings settings;
  OptionList of_strategy;
  declare_options(of_strategy, settings);
  for (const Option& option : of_strategy.all()) set_here.push_back(option.name);
  study.tell_outlook(invocation, outages, set_here);
  const auto results = study.run();
  if (!results) return study.finish();
  for (const std::size_t each : study.own_cells()) study.write_row(each, (*results)[each]);
  if (study.is_share()) return study.finish();
  const auto cell_of = [count = listed.size()](std::size_t disturbance, std::size_t strategy) {
    return disturbance * count + strategy;
  };

  // The best come first: by how rarely the service is down after an outage, then by the requests that
  // succeeded.
  struct Rank {
    std::size_t strategy;
    double down = 0, success = 0;
  };
  std::vector<Rank> ranks;
  for (std::size_t s = 0; s < listed.size(); ++s) {
    Rank rank{.strategy = s};
    for (std::size_t d = 0; d < disturbances.size(); ++d) {
      const CellResult& cell = (*results)[cell_of(d, s)];
      if (const auto down = cell.down()) rank.down += down->value;
      rank.success += cell.success_share;
    }
    // A difference that is smaller than the shown digits does not count.
    rank.down = std::round(1e5 * rank.down);
    rank.success = std::round(1e5 * rank.success);
    ranks.push_back(rank);
  }
  std::stable_sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) {
    return a.down != b.down ? a.down < b.down : a.success > b.success;
  });

  Table table{.columns = {{.title = "strategy", .code = true}}, .rows = {}};
  for (const StudyDisturbance& disturbance : disturbances) {
    const auto add = [&](const char* title, int rank) {
      table.columns.push_back({.title = title, .group = disturbance.title, .rank = rank});
    };
    if (disturbance.outage) {
      add("stays down", 1);
      add("back after", 3);
    }
    add("answered", 2);
    add("attempts", 4);
  }
  for (const Rank& rank : ranks) {
    table.rows.push_back({listed[rank.strategy].name});
    table.tones.push_back(rank.down == 0     ? Tone::kGood
                          : rank.down >= 1e5 ? Tone::kBad
                                             : Tone::kDoubt);
  }
  for (std::size_t d = 0; d < disturbances.size(); ++d) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const CellResult& cell = (*results)[cell_of(d, ranks[i].strategy)];
      std::vector<std::string>& row = table.rows[i];
      if (disturbances[d].outage) {
        row.push_back(down_words(cell));
        row.push_back(back_words(cell));
      }
      row.push_back(share_words(cell.success_share));
      row.push_back(number_words(cell.amplification));
    }
  }
  print_overruling(given, listed);
  study.show(table);
  const bool any_down =
      std::any_of(ranks.begin(), ranks.end(), [](const Rank& each) { return each.down > 0; });
  if (ranks.size() > 1 && !any_down) {
    say({"strategies-none-down",
         {{"option", std::string(given.contains("rate") ? "--rate" : "--clients")}}},
        style_of(1, options.look.color));
  }
  return study.finish();
}

}  // namespace

const Command kStrategies{
    "strategies",
    "Compares the named strategies in the same disturbances: the server frozen for 1 s, 10 s and "
    "60 s\n(or your --outage), and a server that answers a tenth and half of its requests with an error.",
    "retrystorm strategies fixed exponential grpc --clients=300 --timeout=500ms",
    [](const Command& command, int argc, const char* const* argv) {
      return run_command<StrategiesOptions>(command, argc, argv, declare, strategies);
    }};

}  // namespace retrystorm
