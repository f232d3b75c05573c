// Where does the collapse begin? A grid of any two options, for each strategy.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <stdexcept>

#include "model/base/text.h"
#include "retrystorm/heat_map.h"
#include "retrystorm/study_command.h"
#include "study/cell_answer.h"
#include "study/cell_result.h"
#include "study/sweep.h"
#include "words/words.h"

namespace retrystorm {
namespace {

struct MapOptions : StudyOptions {
  MapOptions() { runs = 20; }

  std::string x = "outage-for=2s,5s,7s,10s,15s,20s,25s,30s,40s,50s,60s";
  std::string y =
      "backlog=5,64,128,160,192,208,224,240,256,272,288,304,320,352,384,448,512,768,1024,2048,4096";
  std::string strategies = "fixed,exponential,responsive";
  std::string show = "down";
  std::string picture_data;
  bool list_cells = false;
};

void declare(CLI::App& app, MapOptions& options) {
  add_study_options(app, options);
  auto* study = option_group(app, "Study");
  add_text(*study, "--x", options.x,
           "the horizontal option: NAME=V1,V2,... or NAME=FROM:TO:STEP, as in simulate --sweep")
      ->group("Study");
  add_text(*study, "--y", options.y, "the vertical option, likewise")->group("Study");
  add_strategies(*study, options.strategies,
                 "the strategies, a panel each; `strategy` can be one of the two options instead");
  add_text(*study, "--show", options.show,
           "the column of --csv to show, for example success_share, recovery_median_s or "
           "amplification; down = collapsed or relapsed, in % of the runs with a verdict")
      ->group("Study");
  study->add_flag("--list-cells", options.list_cells,
                  "print the cells with their numbers as CSV, and run nothing");
  add_cell(*study, options.cell);
  add_picture_data(*study, options.picture_data);
}

// The axes: strategies, the vertical one and the horizontal one. With --cell=N the grid has only this cell.
Grid grid_of(const Invocation& invocation, const MapOptions& options, const OptionList& list) {
  std::vector<Axis> axes{parse_axis(list, options.y, "--y"), parse_axis(list, options.x, "--x")};
  const bool among = axes[0].name == "strategy" || axes[1].name == "strategy";
  if (!among) {
    Axis axis{.name = "strategy", .values = {}};
    for (const ListedStrategy& each : compared(invocation, options.strategies, {}, {}).strategies) {
      axis.values.push_back(each.name);
      if (each.settings) axis.files.emplace(each.name, *each.settings);
    }
    axes.insert(axes.begin(), std::move(axis));
  } else {
    for (const char* each : {"strategies", "strategies-from"}) {
      if (find_option(invocation.app, each)->count() == 0) continue;
      throw std::invalid_argument("the strategies are an axis already: --" + std::string(each) +
                                  " has no place");
    }
  }
  for (Axis& axis : axes) {
    std::vector<std::string> values;
    for (const std::string& value : axis.values) {
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    }
    axis.values = std::move(values);
  }
  constexpr double kMostCells = 1e5;
  Grid grid = make_grid(list, std::move(axes));
  if (grid.size() > kMostCells) {
    throw std::invalid_argument("a map has at most 100000 cells: choose fewer values");
  }
  return options.cell.is_part() ? grid : grid.part(options.cell);
}

void list_cells(const std::vector<std::string>& labels, const Grid& grid,
                const std::vector<std::size_t>& cells) {
  std::cout << "cell," << csv_row(labels) << '\n';
  for (const std::size_t cell : cells) {
    std::cout << cell + 1 << ',' << csv_row(grid.values(cell)) << '\n';
  }
}

void write_picture_data(const std::string& folder, const HeatMap& map, const Grid& grid,
                        const NamedOptions& given, std::uint64_t seed) {
  if (folder.empty()) return;
  map.write_picture_data(folder);
  LineFile runs(folder + "/runs");
  for (const std::size_t cell : map.least_certain()) {
    const auto values = grid.values(cell);
    std::string name;
    for (const std::string& value : values) name += (name.empty() ? "" : "-") + value;
    runs.write(run_line(name, with_values(given, grid, values), seed));
  }
}

int map(const Invocation& invocation, const MapOptions& options) {
  const ListedScenario any;
  const OptionList& list = any.list;
  const NamedOptions given = given_to_study(invocation.app, {});
  const Grid grid = grid_of(invocation, options, list);
  check_show(options.show);
  refuse_other_forms(list, grid, [&](const std::string& name) {
    return is_typed(*find_option(invocation.app, name), invocation.arguments);
  });
  std::vector<StudyCell> cells;
  const auto count = static_cast<std::size_t>(grid.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto values = grid.values(i);
    cells.push_back({values, cell_options(given, grid, values)});
  }
  std::vector<std::string> labels;
  for (const Axis& axis : grid.axes()) labels.push_back(underscored(axis.name));
  const bool alone = options.cell.number > 0 && !options.cell.is_part();
  Study study(invocation, options, {.labels = labels, .cells = std::move(cells), .alone = alone});
  if (options.list_cells) {
    list_cells(labels, grid, study.own_cells());
    study.end_work(true);
    return study.finish();
  }
  if (!alone) {
    const std::vector<std::string> swept = grid.names();
    study.tell_outlook(invocation, {0, count - 1}, swept);  // the corners
  }
  const auto results = study.run();
  if (!results) return study.finish();
  std::vector<CellValues> figures;
  for (const CellResult& each : *results) figures.push_back(cell_values({}, each));
  print_overruling(given);
  const HeatMap map(list, grid, options.show, figures);
  map.print(std::cout, style_of(STDOUT_FILENO, options.look.color), options.look.verbose);
  // It may be down with some timeouts, and neither with shorter nor with longer ones.
  bool striped = false;
  for (std::size_t panel = 0; panel < map.least_certain().size(); ++panel) {
    striped |= map.where_down(panel).id == "map-some";
  }
  if (striped && grid.axes().back().name == "timeout" &&
      look_ahead(cell_options(given, grid, grid.values(count - 1))).repeats_syns) {
    say({"map-stripes"});
  }
  for (const Table& table : map.tables()) {
    write_markdown(study.markdown(), table);
    study.markdown().write("");
  }
  write_picture_data(options.picture_data, map, grid, given, study.seed());
  return study.finish();
}

}  // namespace

const Command kMapStudy{
    "map",
    "Where does the collapse begin? Simulates the grid of any two options for each strategy, and "
    "prints\nthe chance that the service is down at the end.",
    "retrystorm map --x=clients=250:2000:250 --y=rate-limit=0:200:20 --strategies=fixed,grpc",
    run_command<MapOptions, declare, map>};

}  // namespace retrystorm
