// The share of runs that are down over the grid of two options, with a panel for each strategy: as text, and as the data
// of a picture.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "common/output/style.h"
#include "model/base/statement.h"
#include "study/cell_result.h"
#include "study/rows.h"
#include "study/sweep.h"

namespace retrystorm {

class HeatMap {
 public:
  // The last two axes of the grid are the vertical and the horizontal one. If there is an axis before
  // them, each of its values is a panel. All cells have as many runs.
  HeatMap(const Grid& grid, const std::vector<CellResult>& cells);

  // A block for each panel: a sentence, and a mark for each cell; or as `numbers`, the shares. Names keep their order
  // from the top down. Numbers are sorted.
  void print(std::ostream& out, const Style& style, bool numbers) const;

  // In which places of a panel most runs are down.
  Statement where_down(std::size_t panel) const;

  // A table with the same texts for each panel.
  std::vector<Table> tables() const;

  // For scripts/lib/map.gp: N.map for each panel (place across, place up, percent, 1 if the run's end
  // is open, 1 if there is no verdict), and facts, variables of gnuplot. Names go from the top down,
  // numbers from the bottom up. Throws std::runtime_error when a file cannot be written.
  void write_picture_data(const std::string& folder) const;

  // In each panel, the cell whose outcome is the least certain.
  const std::vector<std::size_t>& least_certain() const { return least_certain_; }

 private:
  struct Labels {
    std::string name;
    std::vector<std::string> texts;
    std::vector<std::size_t> order;  // for each text, the index of its value on the axis
    bool numbers = false;            // or else names

    std::size_t longest() const;
    std::string tics(double size, bool backwards) const;
  };
  struct Shown {
    std::optional<double> down;  // a share
    bool open = false;           // half or more of the runs are still recovering or undecided
  };

  void print_numbers(std::ostream& out, const Style& style) const;
  void print_marks(std::ostream& out, const Style& style) const;
  static Labels labels_of(const Axis& axis);

  std::size_t runs_;
  Labels across_, up_;
  std::vector<std::string> panels_;
  std::vector<std::vector<std::vector<Shown>>>
      shown_;  // by panel, up and across, as they are shown
  std::vector<std::size_t> least_certain_;
};

}  // namespace retrystorm
