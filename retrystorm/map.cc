// Where does the collapse begin? A grid of any two options, for each strategy.
#include "retrystorm/map.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <span>
#include <string_view>

#include "common/output/answer.h"
#include "model/base/text.h"
#include "retrystorm/study_command.h"
#include "study/cell_answer.h"
#include "study/named_options.h"
#include "study/statistics.h"
#include "study/sweep.h"
#include "words/words.h"

namespace retrystorm {
namespace {

constexpr double kMore = 1e300;  // for "none": more than any number

bool is_bare(const std::string& text) {
  return text.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace

HeatMap::HeatMap(const Grid& grid, const std::vector<CellResult>& cells)
    : runs_(cells.front().runs),
      across_(labels_of(grid.axes().back())),
      up_(labels_of(grid.axes().at(grid.axes().size() - 2))) {
  panels_ = grid.axes().size() > 2 ? grid.axes()[0].values : std::vector<std::string>{""};
  const std::size_t rows = up_.order.size(), columns = across_.order.size();
  const auto share_of = [](const CellResult& cell) {
    const auto down = cell.down();
    return down ? std::optional(down->value) : std::nullopt;
  };
  for (std::size_t panel = 0; panel < panels_.size(); ++panel) {
    const std::size_t first = panel * rows * columns;
    auto& shown = shown_.emplace_back();
    for (const std::size_t row : up_.order) {
      shown.emplace_back();
      for (const std::size_t column : across_.order) {
        const CellResult& cell = cells[first + row * columns + column];
        shown.back().push_back(
            {share_of(cell), 2 * (cell.recovering + cell.undecided) >= cell.runs});
      }
    }
    // Highest if half of the runs have each outcome.
    const auto doubt = [&](const CellResult& cell) {
      const double down = share_of(cell).value_or(0);
      return std::min(down, 1 - down);
    };
    const auto of_panel = std::span(cells).subspan(first, rows * columns);
    const auto most = std::ranges::max_element(of_panel, {}, doubt);
    least_certain_.push_back(first + static_cast<std::size_t>(most - of_panel.begin()));
  }
}

HeatMap::Labels HeatMap::labels_of(const Axis& axis) {
  const ListedScenario any;
  Labels labels{.name = axis.name, .texts = {}, .order = {}};
  std::vector<double> numbers;
  const Option& option = *any.list.find(axis.name);
  for (const std::string& value : axis.values) {
    if (!is_measured(option)) break;
    numbers.push_back(value == kNoneWord ? kMore : measured(option, value));
  }
  labels.order.resize(axis.values.size());
  std::iota(labels.order.begin(), labels.order.end(), std::size_t{0});
  if (numbers.size() == axis.values.size()) {
    std::ranges::stable_sort(labels.order, {}, [&](std::size_t each) { return numbers[each]; });
    labels.numbers = true;
  }
  // Plain numbers of an option that is a duration are seconds.
  const bool seconds = option.kind == Option::Kind::kDuration;
  for (const std::size_t place : labels.order) {
    const std::string& value = axis.values[place];
    labels.texts.push_back(seconds && is_bare(value) ? value + 's' : value);
  }
  return labels;
}

std::size_t HeatMap::Labels::longest() const {
  return std::ranges::max(texts, {}, &std::string::size).size();
}

// The labels for gnuplot: all of them, or as many as there is room for.
std::string HeatMap::Labels::tics(double size, bool backwards) const {
  constexpr double kRoom = 14;
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(kRoom / size)));
  std::string list;
  for (std::size_t i = 0; i < texts.size(); i += step) {
    list += (i == 0 ? "\"" : ", \"") + texts[i] + "\" " +
            std::to_string(backwards ? texts.size() - 1 - i : i);
  }
  return '(' + list + ')';
}

std::vector<Table> HeatMap::tables() const {
  std::vector<Table> tables;
  for (std::size_t panel = 0; panel < panels_.size(); ++panel) {
    Table& table = tables.emplace_back();
    table.columns.push_back(
        {.title = (panels_[panel].empty() ? "" : panels_[panel] + ": ") + up_.name});
    for (const std::string& text : across_.texts) {
      table.columns.push_back({.title = text, .group = across_.name});
    }
    for (std::size_t row = 0; row < up_.texts.size(); ++row) {
      auto& texts = table.rows.emplace_back(1, up_.texts[row]);
      for (const auto& [down, open] : shown_[panel][row]) {
        texts.push_back((down ? fixed(100 * *down, 0) : "-") + (open ? "+" : ""));
      }
    }
  }
  return tables;
}

void HeatMap::print(std::ostream& out, const Style& style, bool numbers) const {
  numbers ? print_numbers(out, style) : print_marks(out, style);
  out << std::flush;
}

// Where most runs are down: from which value of the horizontal axis on, in each line.
Statement HeatMap::where_down(std::size_t panel) const {
  const std::size_t columns = across_.texts.size();
  std::size_t down = 0, cells = 0;
  bool one_limit = true;  // in each line, and there only
  std::optional<std::size_t> least, most;
  for (const auto& row : shown_[panel]) {
    std::size_t first = columns;
    for (std::size_t i = 0; i < columns; ++i) {
      const bool is_down = row[i].down.value_or(0) > 0.5;
      cells += row[i].down ? 1 : 0;
      down += is_down ? 1 : 0;
      if (is_down) first = std::min(first, i);
      if (!is_down && first < columns) one_limit = false;
    }
    if (first == columns) continue;
    least = std::min(least.value_or(first), first);
    most = std::max(most.value_or(first), first);
  }
  const StatementValue of_axis{"option", across_.name};
  if (down == 0) return {"map-back"};
  if (down == cells) return {"map-down"};
  if (!one_limit || *most == 0) {
    return {"map-some", {counted("down", down), counted("cells", cells)}};
  }
  if (least == most) return {"map-from", {of_axis, {"from", across_.texts[*least]}}};
  return {"map-from-to", {of_axis, {"from", across_.texts[*least]}, {"to", across_.texts[*most]}}};
}

void HeatMap::print_marks(std::ostream& out, const Style& style) const {
  const auto mark = [&style](const Shown& shown) -> std::pair<std::string_view, Tone> {
    const bool plain = !style.unicode;
    if (!shown.down || shown.open) return {"?", Tone::kDim};
    const double share = *shown.down;
    if (share <= 0) return {plain ? "." : "·", Tone::kGood};
    if (share >= 1) return {plain ? "#" : "█", Tone::kBad};
    if (share < 1.0 / 3) return {plain ? "-" : "░", Tone::kDoubt};
    if (share <= 2.0 / 3) return {plain ? "+" : "▒", Tone::kDoubt};
    return {plain ? "*" : "▓", Tone::kDoubt};
  };
  const int width = static_cast<int>(up_.longest());
  for (std::size_t panel = 0; panel < panels_.size(); ++panel) {
    const std::string sentence = words_of(where_down(panel));
    out << fitted("",
                  panels_[panel].empty()
                      ? sentence
                      : words_of({"of-policy", {{"policy", panels_[panel]}, {"answer", sentence}}}),
                  style);
    for (std::size_t row = 0; row < up_.texts.size(); ++row) {
      out << "  " << std::string(row == 0 ? up_.name : std::string(up_.name.size(), ' ')) << ' '
          << std::setw(width) << up_.texts[row] << "  ";
      for (const Shown& each : shown_[panel][row]) {
        const auto [text, tone] = mark(each);
        out << painted(text, tone, style);
      }
      out << '\n';
    }
  }
  print_dim(out,
            words_of({style.unicode ? "map-marks" : "map-marks-ascii",
                      {{"option", across_.name},
                       {"first", across_.texts.front()},
                       {"last", across_.texts.back()},
                       {"runs", count_words(static_cast<double>(runs_), "run")}}}),
            style);
}

void HeatMap::print_numbers(std::ostream& out, const Style& style) const {
  const auto all = tables();
  for (std::size_t panel = 0; panel < all.size(); ++panel) {
    const Statement title{"map-title",
                          {{"runs", count_words(static_cast<double>(runs_), "run")},
                           {"up", up_.name},
                           {"across", across_.name}}};
    out << fitted(panels_[panel].empty() ? "" : panels_[panel] + ": ", words_of(title), style);
    retrystorm::print(out, all[panel]);
  }
  const Interval none = wilson_interval(0, runs_), half = wilson_interval(runs_ / 2, runs_);
  out << fitted("",
                words_of({"map-intervals",
                          {{"most", ShareOf{none.high}},
                           {"low", ShareOf{half.low}},
                           {"high", ShareOf{half.high}}}}),
                style);
}

void HeatMap::write_picture_data(const std::string& folder) const {
  const std::size_t rows = up_.texts.size(), columns = across_.texts.size();
  const bool upside_down = !up_.numbers;
  bool any_open = false, any_missing = false;
  for (std::size_t panel = 0; panel < panels_.size(); ++panel) {
    LineFile map(folder + '/' + std::to_string(panel + 1) + ".map");
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        const auto& [down, open] = shown_[panel][row][column];
        map.write(std::to_string(column) + ' ' +
                  std::to_string(upside_down ? rows - 1 - row : row) + ' ' +
                  (down ? print_number(100 * *down) : "NaN") + (open ? " 1" : " 0") +
                  (down ? " 0" : " 1"));
        any_missing |= !down;
        any_open |= down && open;
      }
    }
  }

  const auto wide = static_cast<double>(columns), tall = static_cast<double>(rows);
  // Leave room for the title of the scale beside it.
  const double cell_x = std::max(columns > 30 ? 780 / wide : 26, 300 / wide);
  const double cell_y = std::max(rows < 10 ? 42 : rows <= 25 ? 31 : 650 / tall, 160 / tall);

  const auto number = [](const auto& value) { return print_number(static_cast<double>(value)); };
  const auto quoted = [](const std::string& text) { return '\'' + text + '\''; };
  LineFile facts(folder + "/facts");
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"maps", number(panels_.size())},
           {"columns", number(columns)},
           {"rows", number(rows)},
           // With a decimal point: gnuplot would divide integers without a remainder.
           {"cell_x", fixed(cell_x, 3)},
           {"cell_y", fixed(cell_y, 3)},
           {"left", number(58 + 7 * up_.longest())},
           {"bottom", number(50 + 7 * across_.longest())},
           {"x_tics", quoted(across_.tics(cell_x, false))},
           {"y_tics", quoted(up_.tics(cell_y, upside_down))},
           {"x_title", quoted(across_.name)},
           {"y_title", quoted(up_.name)},
           {"any_missing", number(any_missing)},
           {"any_open", number(any_open)}}) {
    facts.write(std::string(name) + " = " + value);
  }
  facts.write("array title[" + std::to_string(panels_.size()) + ']');
  for (std::size_t panel = 0; panel < panels_.size(); ++panel) {
    facts.write("title[" + std::to_string(panel + 1) + "] = " + quoted(panels_[panel]));
  }
}

namespace {

struct MapOptions : StudyOptions {
  MapOptions() { runs = 20; }

  std::string x = "outage-for=2s,5s,7s,10s,15s,20s,25s,30s,40s,50s,60s";
  std::string y =
      "backlog=5,64,128,160,192,208,224,240,256,272,288,304,320,352,384,448,512,768,1024,2048,4096";
  std::string strategies = "fixed,exponential,responsive";
  std::string picture_data;
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
  add_picture_data(*study, options.picture_data);
}

// The axes: strategies, the vertical one and the horizontal one. With --cell=N the grid has only this cell.
Grid grid_of(const Invocation& invocation, const MapOptions& options) {
  std::vector<Axis> axes{parse_axis(options.y, "--y"), parse_axis(options.x, "--x")};
  const bool among = axes[0].name == "strategy" || axes[1].name == "strategy";
  if (!among) {
    axes.insert(axes.begin(), axis_of(compared(invocation, options.strategies, {}, {}).strategies));
  } else if (find_option(invocation.app, "strategies")->count() > 0) {
    refuse("the strategies are an axis already: --strategies has no place");
  }
  for (Axis& axis : axes) {
    std::vector<std::string> values;
    for (const std::string& value : axis.values) {
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    }
    axis.values = std::move(values);
  }
  constexpr double kMostCells = 1e5;
  Grid grid = make_grid(std::move(axes));
  if (grid.size() > kMostCells) refuse("a map has at most 100000 cells: choose fewer values");
  return options.cell.is_part() ? grid : grid.part(options.cell);
}

void write_picture_data(const std::string& folder, const HeatMap& map, const Grid& grid,
                        const NamedOptions& given, std::uint64_t seed) {
  if (folder.empty()) return;
  map.write_picture_data(folder);
  LineFile runs(folder + "/runs");
  for (const std::size_t cell : map.least_certain()) {
    const auto values = grid.values(cell);
    runs.write(run_line(list_words(values, "-"), with_values(given, grid, values), seed));
  }
}

int map(const Invocation& invocation, const MapOptions& options) {
  const NamedOptions given = given_to_study(invocation.app, {});
  const Grid grid = grid_of(invocation, options);
  refuse_other_forms(grid, invocation);
  std::vector<StudyCell> cells;
  const auto count = static_cast<std::size_t>(grid.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto values = grid.values(i);
    cells.push_back({values, cell_options(given, grid, values)});
  }
  const bool alone = options.cell.number > 0 && !options.cell.is_part();
  Study study(invocation, options,
              {.labels = grid.labels(), .cells = std::move(cells), .alone = alone});
  if (!alone) {
    study.tell_outlook(invocation, {0, count - 1}, grid.names());  // the corners
  }
  const auto results = study.run();
  if (!results) return study.finish();
  print_overruling(given);
  const HeatMap map(grid, *results);
  map.print(std::cout, style_of(1, options.look.color), options.look.verbose);
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
