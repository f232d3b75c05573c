#include "simulator/campaign.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <iomanip>
#include <mutex>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "common/cli/options.h"
#include "common/output/report.h"

namespace retrystorm {
namespace {

constexpr int kColumnGap = 2;

struct Column {
  const char* title;
  int width;
};
constexpr Column kColumns[] = {{"runs", 8},          {"recovered", 11},   {"relapsed", 10},
                               {"recovering", 12},   {"undecided", 11},   {"collapsed", 11},
                               {"95% interval", 14}, {"errors gone", 13}, {"p90", 8},
                               {"recovery", 10},     {"p90", 8},          {"amplif.", 9},
                               {"OK lost", 10},      {"peak conc.", 12}};

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string percent(double share) {
  return fixed(share * 100, 1) + "%";
}

std::string time_text(const std::optional<Duration>& time) {
  return time ? format_duration(*time) : "never";
}

std::string seconds_csv(const std::optional<Duration>& time) {
  return time ? fixed(to_seconds(*time), 3) : "";
}

// What is common to all threads of a campaign.
struct Work {
  std::mutex mutex;
  std::size_t next_task = 0;
  std::size_t done = 0;
  std::map<std::size_t, std::pair<std::vector<RunResult>, std::size_t>> cells;  // results, missing
};

std::string progress_bar(std::size_t done, std::size_t total, Duration elapsed) {
  constexpr std::size_t kWidth = 40;
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const auto full = static_cast<std::size_t>(share * kWidth);
  const Duration left = scale(elapsed, done == 0 ? 0 : (1 - share) / share);
  return "\r[" + std::string(full, '#') + std::string(kWidth - full, '.') + "] " +
         std::to_string(done) + "/" + std::to_string(total) + " runs, " +
         format_duration(std::chrono::round<std::chrono::seconds>(left)) + " left  ";
}

}  // namespace

CellResult summarize(const std::vector<RunResult>& runs) {
  CellResult cell;
  cell.runs = runs.size();
  cell.amplification = 0;
  std::vector<std::optional<Duration>> errors_gone, recovery;
  for (const RunResult& run : runs) {
    const auto when = [&run](std::initializer_list<Verdict> verdicts,
                             const std::optional<Duration>& time) {
      const bool counts =
          std::find(verdicts.begin(), verdicts.end(), run.verdict) != verdicts.end();
      return counts ? time : std::nullopt;
    };
    cell.recovered += run.verdict == Verdict::kRecovered ? 1 : 0;
    cell.relapsed += run.verdict == Verdict::kRelapsed ? 1 : 0;
    cell.recovering += run.verdict == Verdict::kRecovering ? 1 : 0;
    cell.undecided += run.verdict == Verdict::kUndecided ? 1 : 0;
    cell.collapsed += run.verdict == Verdict::kCollapsed ? 1 : 0;
    errors_gone.push_back(when({Verdict::kRecovered, Verdict::kRecovering}, run.errors_gone));
    recovery.push_back(when({Verdict::kRecovered}, run.time_to_recovery));
    cell.amplification += run.amplification / static_cast<double>(runs.size());
    cell.ok_lost += run.ok_lost / static_cast<double>(runs.size());
    cell.peak_concurrency = std::max(cell.peak_concurrency, run.peak_concurrency);
  }
  cell.collapse_interval = wilson_interval(cell.collapsed, cell.runs);
  cell.errors_gone_median = censored_quantile(errors_gone, 0.5);
  cell.errors_gone_p90 = censored_quantile(errors_gone, 0.9);
  cell.recovery_median = censored_quantile(recovery, 0.5);
  cell.recovery_p90 = censored_quantile(recovery, 0.9);
  return cell;
}

CellTable::CellTable(const Grid& grid, std::ostream& out, JsonLines& json, const std::string& csv)
    : grid_(grid), out_(out), json_(json), csv_path_(csv) {
  if (!csv.empty()) {
    csv_.open(csv);
    if (!csv_) {
      throw std::runtime_error("cannot write to " + csv + ": " +
                               std::generic_category().message(errno));
    }
    for (const Axis& axis : grid.axes()) csv_ << underscored(axis.name) << ',';
    csv_ << "runs,recovered,relapsed,recovering,undecided,collapsed,collapsed_low,collapsed_high,"
            "errors_gone_median_s,errors_gone_p90_s,recovery_median_s,recovery_p90_s,"
            "amplification,ok_lost,peak_concurrency\n"
         << std::flush;
  }
  for (const Axis& axis : grid.axes()) {
    std::size_t width = axis.name.size();
    for (const std::string& value : axis.values) width = std::max(width, value.size());
    widths_.push_back(static_cast<int>(width) + kColumnGap);
    out_ << std::setw(widths_.back()) << axis.name;
  }
  for (const Column& column : kColumns) out_ << std::setw(column.width) << column.title;
  out_ << std::endl;
}

void CellTable::add(std::size_t cell, const CellResult& result) {
  finished_.emplace(cell, result);
  for (; !finished_.empty() && finished_.begin()->first == next_; ++next_) {
    print(next_, finished_.begin()->second);
    finished_.erase(finished_.begin());
  }
}

void CellTable::flush() {
  for (const auto& [cell, result] : finished_) print(cell, result);
  finished_.clear();
}

void CellTable::print(std::size_t cell, const CellResult& result) {
  const auto values = grid_.values(cell);
  const auto share = [&result](std::size_t count) {
    return percent(static_cast<double>(count) / static_cast<double>(result.runs));
  };
  const Interval& interval = result.collapse_interval;

  for (std::size_t i = 0; i < values.size(); ++i) out_ << std::setw(widths_[i]) << values[i];
  const std::string texts[] = {std::to_string(result.runs),
                               share(result.recovered),
                               share(result.relapsed),
                               share(result.recovering),
                               share(result.undecided),
                               share(result.collapsed),
                               fixed(interval.low * 100, 1) + "-" + percent(interval.high),
                               time_text(result.errors_gone_median),
                               time_text(result.errors_gone_p90),
                               time_text(result.recovery_median),
                               time_text(result.recovery_p90),
                               fixed(result.amplification, 2),
                               fixed(result.ok_lost, 0),
                               std::to_string(result.peak_concurrency)};
  for (std::size_t i = 0; i < std::size(texts); ++i) {
    out_ << std::setw(kColumns[i].width) << texts[i];
  }
  out_ << std::endl;

  if (csv_.is_open()) {
    for (const std::string& value : values) csv_ << value << ',';
    csv_ << result.runs << ',' << result.recovered << ',' << result.relapsed << ','
         << result.recovering << ',' << result.undecided << ',' << result.collapsed << ','
         << fixed(interval.low, 4) << ',' << fixed(interval.high, 4) << ','
         << seconds_csv(result.errors_gone_median) << ',' << seconds_csv(result.errors_gone_p90)
         << ',' << seconds_csv(result.recovery_median) << ',' << seconds_csv(result.recovery_p90)
         << ',' << fixed(result.amplification, 3) << ',' << fixed(result.ok_lost, 1) << ','
         << result.peak_concurrency << '\n'
         << std::flush;
    if (!csv_) throw std::runtime_error("writing to " + csv_path_ + " failed");
  }

  nlohmann::ordered_json row{{"type", "cell"}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    row[underscored(grid_.axes()[i].name)] = values[i];
  }
  row.update({{"runs", result.runs},
              {"recovered", result.recovered},
              {"relapsed", result.relapsed},
              {"recovering", result.recovering},
              {"undecided", result.undecided},
              {"collapsed", result.collapsed},
              {"collapsed_low", rounded(interval.low)},
              {"collapsed_high", rounded(interval.high)},
              {"errors_gone_median_s", seconds_json(result.errors_gone_median)},
              {"errors_gone_p90_s", seconds_json(result.errors_gone_p90)},
              {"recovery_median_s", seconds_json(result.recovery_median)},
              {"recovery_p90_s", seconds_json(result.recovery_p90)},
              {"amplification", rounded(result.amplification)},
              {"ok_lost", rounded(result.ok_lost)},
              {"peak_concurrency", result.peak_concurrency}});
  json_.write(row);
}

bool run_campaign(const Grid& grid, const CampaignOptions& options,
                  const std::function<Scenario(std::size_t cell)>& scenario, CellTable& table,
                  const std::function<bool()>& stop, std::ostream* progress) {
  const std::size_t total = static_cast<std::size_t>(grid.size()) * options.runs;
  const TimePoint start = Clock::now();
  TimePoint drawn = start;
  Work work;

  const auto worker = [&] {
    // Of the cell at hand: to read the options again for each run would take as long as a short
    // one.
    std::size_t made_for = total;
    Scenario one;
    std::unique_lock lock(work.mutex);
    while (work.next_task < total && !stop()) {
      const std::size_t task = work.next_task++;
      const std::size_t cell = task / options.runs;
      const std::size_t run = task % options.runs;
      lock.unlock();
      if (std::exchange(made_for, cell) != cell) one = scenario(cell);
      one.seed = options.seed + run;
      Simulation simulation(one, {});
      const SimulationResult result = simulation.run(stop);
      lock.lock();
      if (stop()) return;  // the run may have ended early

      auto& [results, missing] = work.cells[cell];
      if (results.empty()) {
        results.resize(options.runs);
        missing = options.runs;
      }
      const Recovery& recovery = result.summary.recovery;
      results[run] = {.verdict = recovery.verdict,
                      .errors_gone = recovery.errors_gone,
                      .time_to_recovery = recovery.time_to_recovery,
                      .amplification = result.summary.counts.amplification(),
                      .ok_lost = recovery.ok_lost,
                      .peak_concurrency = result.peak_concurrency};
      ++work.done;
      if (--missing == 0) {
        if (progress != nullptr) *progress << "\r\033[K" << std::flush;
        table.add(cell, summarize(results));
        work.cells.erase(cell);
      }
      const TimePoint now = Clock::now();
      if (progress != nullptr && now - drawn >= std::chrono::milliseconds(200)) {
        drawn = now;
        *progress << progress_bar(work.done, total, now - start) << std::flush;
      }
    }
  };

  std::exception_ptr failure;
  const auto worker_that_may_fail = [&] {
    try {
      worker();
    } catch (...) {
      const std::scoped_lock lock(work.mutex);
      if (!failure) failure = std::current_exception();
      work.next_task = total;
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t wanted = std::min(options.threads, total);
    try {
      for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(worker_that_may_fail);
    } catch (const std::system_error& error) {
      const std::scoped_lock lock(work.mutex);
      failure = std::make_exception_ptr(std::system_error(
          error.code(), "cannot start " + std::to_string(wanted) + " threads (see --threads)"));
      work.next_task = total;  // before the others do all of it
    }
    worker_that_may_fail();
  }
  if (progress != nullptr) *progress << "\r\033[K" << std::flush;
  if (failure) std::rethrow_exception(failure);
  table.flush();
  return work.done == total;
}

}  // namespace retrystorm
