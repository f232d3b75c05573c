#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "common/output/answer.h"
#include "model/run/disturbance.h"
#include "model/run/outlook.h"
#include "simulate/program.h"
#include "simulator/simulation.h"
#include "study/cell_answer.h"
#include "study/study.h"
#include "study/sweep.h"
#include "study/trials.h"
#include "words/words.h"

namespace retrystorm {
namespace {

constexpr std::size_t kMostRows = 12;   // more are not tried
constexpr std::size_t kMostTrials = 6;  // more lines nobody reads

struct Candidate {
  std::string option, value;
  bool of_clients = true;  // and of what they do where all is well, too
  bool of_hosts = false;   // keeps attempts away from those that the outage hits
};

// What may get a service back, what costs the least first.
std::vector<Candidate> candidates_for(const ScenarioOptions& options) {
  const RetrySettings& retry = options.workload.retry;
  const bool retries = retry.limit.max_retries > 0;
  const bool unlimited = retry.process.budget.kind == BudgetSettings::Kind::kNone;
  std::vector<Candidate> all;
  if (options.graph.on()) {  // all others are about one service
    if (retries && unlimited) all.push_back({"retry-budget", "10%"});
    return all;
  }
  const Outlook ahead = look_ahead(options);
  if (loses_connections(options.timeline.outage)) {
    // The window in which all clients come back without a queue.
    if (ahead.herd && ahead.herd->base_for_room > Duration::zero()) {
      all.push_back({"reconnect-base", readable(ahead.herd->base_for_room)});
    }
    return all;
  }
  const HostSettings& hosts = options.hosts;
  if (hosts.hit() < hosts.replicas) {
    const std::size_t percent = (100 * hosts.hit() + hosts.replicas - 1) / hosts.replicas;
    const std::string ejection = "5:30s:" + std::to_string(percent) + '%';
    const bool any = retries && hosts.retry_host == RetryHost();
    if (any) all.push_back({"retry-host", "other", true, true});
    if (!hosts.eject.on()) all.push_back({"eject", ejection, true, true});
  }
  const HedgeSettings& hedge = retry.hedge;
  const bool hedged = hedge.any() && hedge.on == HedgeOn::kDelay;
  if (hedged && hedge.budget == HedgeSettings::kNoBudget) all.push_back({"hedge-budget", "0.05"});
  const bool grows = retry.pacer.on || retry.backoff.jitter.is_growth() ||
                     retry.backoff.growth == Growth::kExponential ||
                     retry.backoff.growth == Growth::kTable;
  // Longer waits help clients that wait for their answers. Where new requests come anyway, only fewer retries do.
  if (retries && !grows && options.workload.arrivals != Arrivals::kOpen) {
    all.push_back({"strategy", "exponential"});
  } else if (retries && unlimited) {
    all.push_back({"retry-budget", "10%"});
  }
  if (const auto length = advised_queue_length(ahead); length && options.scale == 1) {
    all.push_back({"queue-length", std::to_string(*length), false});
  }
  if (retries) all.push_back({"max-retries", "0", false});
  if (hedged) all.push_back({"hedge", "none", false});
  return all;
}

class Answers {
 public:
  Answers(const SimulatorOptions& options, const NamedOptions& given, const Grid& grid,
          Study& study)
      : options_(options),
        given_(given),
        grid_(grid),
        study_(study),
        evaluator_(study.evaluator()),
        teller_(options.look.color) {}

  void tell(const std::map<std::size_t, AnsweredCell>& cells, bool complete) {
    std::vector<AnsweredRow> rows;
    for (const auto& [cell, answered] : cells)
      rows.push_back({grid_.values(cell), answered.result});
    const Table table = answers_of(grid_.names(), rows);
    write_markdown(study_.markdown(), table);
    if (cells.empty()) return;
    if (grid_.size() == 1) return tell_one(cells.begin()->second);
    std::size_t left_out = 0;
    if (options_.look.verbose) {
      print_all_figures(rows);
    } else {
      left_out = print(std::cout, table, teller_.style());
    }
    tell_rows(cells, rows, complete);
    teller_.dim(left_out > 0 ? Statement{"below-rows-left-out", {counted("count", left_out)}}
                             : Statement{"below-rows"});
  }

 private:
  AnswerTrials trials_of(const ScenarioOptions& options, const NamedOptions& row,
                         const AnsweredCell& cell) const {
    return AnswerTrials({options, row, cell.result, cell.holding}, evaluator_, study_.seed(),
                        options_.runs);
  }

  // "down in 60 of 60 runs with  --backlog=511  nginx ... ask for 511": the first part only where it is another one
  // than that of the line before.
  void print_trial(const AnswerTrials::Outcome& outcome) {
    const std::string how = words_of(outcome.how);
    const std::string shown = how == last_how_ ? std::string(columns_of(how), ' ') : how;
    last_how_ = how;
    Statement note{outcome.edge ? "trial-note-edge" : "trial-note",
                   {{"note", words_of(outcome.trial.note)}}};
    if (outcome.edge) note.values.push_back(counted("edge", *outcome.edge));
    constexpr std::size_t kOption = 16;
    std::string what = what_of(outcome.trial);
    what.resize(std::max(what.size() + 2, kOption), ' ');
    teller_.text(what + words_of(note), tone_of(outcome), "  " + shown + "  ");
  }

  // By the names that they have in the files for programs.
  void print_all_figures(const std::vector<AnsweredRow>& rows) const {
    Table table;
    for (const std::string& name : cell_names(grid_.names(), study_.more())) {
      table.columns.push_back({.title = name});
    }
    for (const AnsweredRow& row : rows) {
      table.rows.emplace_back();
      for (const auto& value : cell_values(row.values, row.result, study_.more())) {
        table.rows.back().push_back(value.is_null() ? "-" : cell_text(value));
      }
    }
    print(std::cout, table);
  }

  std::string tell_strip(const ScenarioOptions& options, const CellResult& result) const {
    // That of the first run which ends as most do.
    CurveRecorder curve;
    double full = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(options_.runs, 20); ++i) {
      CurveRecorder one;
      const Scenario scenario = make_scenario(options, study_.seed() + i);
      const SimulationResult run =
          Simulation(scenario, {.run = {&one}}).run([this] { return study_.is_over(); });
      const bool down = is_down(run.summary.recovery.verdict);
      if (i == 0 || down == result.mostly_down()) {
        curve = one;
        full = run.summary.recovery.baseline_ok.value_or(0);
      }
      if (down == result.mostly_down()) break;
    }
    return print_strip(std::cout, curve.curve(), full, words_of(block_of(result)), teller_.style());
  }

  void tell_one(const AnsweredCell& cell) {
    const CellResult& result = cell.result;
    const NamedOptions row = with_values(given_, grid_, grid_.values(0));
    const ScenarioOptions options = scenario_of(row);
    const AnswerTrials trials = trials_of(options, row, cell);
    const bool tries = !options_.no_trials && options_.runs > 1;
    std::vector<AnswerTrials::Outcome> turned;
    const auto note = [&](const std::vector<AnswerTrials::Outcome>& outcomes) {
      for (const AnswerTrials::Outcome& each : outcomes) {
        study_.json().write(trial_json("", each));
        if (each.turn != AnswerTrials::Turn::kNone) turned.push_back(each);
      }
    };
    const auto of_a_tenth = tries ? trials.of_a_tenth() : std::vector<AnswerTrials::Outcome>();
    note(of_a_tenth);
    RunAnswer answer = answer_of(result, std::ranges::any_of(turned, turns_verdict));
    if (const auto span = within_measured(result, of_a_tenth)) {
      answer.headline = {"within-measured",
                         {{"answer", words_of(answer.headline)},
                          {"low", ShareOf{span->low}},
                          {"high", ShareOf{span->high}}}};
    }
    teller_.headline(answer);
    const std::string legend = tell_strip(options, result);
    for (const Statement& each : remarks_of(result)) teller_.below(each, Tone::kDoubt);
    if (result.hit_share) {
      teller_.below({"remark-hosts", {{"share", ShareOf{*result.hit_share}}}}, Tone::kDoubt);
    }
    std::vector<AnswerTrials::Outcome> shown = turned;
    // Load and capacity that do the same are one line.
    if (shown.size() == 2 && shown[0].how == shown[1].how) {
      shown.pop_back();
      shown[0].trial.note.id = "if-load-or-capacity";
    }
    for (const AnswerTrials::Outcome& each : shown) print_trial(each);
    if (tries) {
      std::size_t lines = shown.size();
      ProgressBar progress(progress_stream(), 0);
      note(trials.others([&](const AnswerTrials::Outcome& outcome) {
        progress.clear();
        if (++lines <= kMostTrials || options_.look.verbose) print_trial(outcome);
      }));
      progress.clear();
      const auto worst = std::ranges::max_element(turned, {}, &AnswerTrials::Outcome::weight);
      tell_help(options, row, result, worst == turned.end() ? nullptr : &*worst);
    }
    if (options_.look.verbose) {
      for (const CellColumn& column : cell_columns(study_.more())) {
        std::string name = column.name;
        name.resize(std::max<std::size_t>(name.size() + 1, 28), ' ');
        const auto value = column.value(result);
        std::cout << "  " << name << (value.is_null() ? "-" : cell_text(value)) << '\n';
      }
    }
    const std::uint64_t first = study_.seed(), end = first + result.runs - 1;
    std::string below = words_of(below_of(result, options_.expectations.empty()));
    const auto& [before, during, after] = result.phases;
    const auto p99 = latency_of(result.had_outage() ? before.request_p99 : result.request_p99,
                                during.request_p99, during.success, after.request_p99);
    if (p99) below += " · " + words_of(*p99);
    teller_.dim({"below-many",
                 {{"below", below},
                  {"seeds", "seeds " + std::to_string(first) + " to " + std::to_string(end)},
                  {"legend", legend}}});
    std::cout << std::flush;
  }

  void tell_help(const ScenarioOptions& options, const NamedOptions& row, const CellResult& result,
                 const AnswerTrials::Outcome* worst) const {
    const bool turned = worst != nullptr && worst->weight > 1 && !worst->trial.with.empty();
    constexpr double kServed = 0.9;
    const auto during = [](const CellResult& cell) { return cell.phases[1].success; };
    // Is it back, but not there for some meanwhile, although some hosts are?
    const bool serves =
        result.hit_share && !turned && !result.mostly_down() && during(result) < kServed;
    if (result.decided() == 0 || !result.had_outage()) return;
    if (!result.mostly_down() && !turned && !serves) return;
    constexpr std::size_t kRuns = 20;
    const auto comes_back = [&](const NamedOptions& with) -> std::optional<CellResult> {
      try {
        const auto tried =
            evaluator_.summary(scenario_of(with), study_.seed(), std::min(options_.runs, kRuns));
        return tried && tried->down_runs() + tried->recovering == 0 ? tried : std::nullopt;
      } catch (const std::invalid_argument&) {
        return std::nullopt;  // it contradicts another option
      }
    };
    const bool beside = turned && !result.mostly_down();
    for (const Candidate& help : candidates_for(options)) {
      if (row.contains(help.option) || (beside && !help.of_clients)) continue;
      if (serves && !help.of_hosts) continue;
      NamedOptions with = row;
      with[help.option] = help.value;
      const auto helped = comes_back(with);
      if (!helped || helped->decided() == 0) continue;
      if (beside) {
        for (const auto& [name, value] : worst->trial.with) with[name] = value;
        if (!comes_back(with)) continue;
      }
      if (serves && !(during(*helped) >= kServed)) continue;
      std::string text = words_of({serves   ? "try-served"
                                   : beside ? "try-also"
                                            : "try",
                                   {{"what", "--" + help.option + '=' + help.value},
                                    {"down", 0.0},
                                    counted("runs", helped->decided()),
                                    {"share", ShareOf{during(*helped).value_or(0)}},
                                    {"asked", ShareOf{during(result).value_or(0)}},
                                    {"also", turned ? "with " + what_of(worst->trial) : ""}}});
      if (during(*helped) && during(result) && *during(*helped) < *during(result) - 0.005) {
        text +=
            "; " +
            words_of({"try-price",
                      {{"share", ShareOf{*during(*helped)}}, {"asked", ShareOf{*during(result)}}}});
      }
      text += " · " + words_of(options.graph.on() ? "try-first" : "try-more");
      teller_.text(text, Tone::kGood);
      return;
    }
  }

  void tell_rows(const std::map<std::size_t, AnsweredCell>& cells,
                 const std::vector<AnsweredRow>& rows, bool complete) const {
    std::vector<std::string> names;
    const bool one_axis = grid_.axes().size() == 1;
    for (const auto& [cell, answered] : cells) {
      names.push_back(one_axis ? grid_.values(cell).front()
                               : row_text(grid_.names(), grid_.values(cell)));
    }
    // Nobody chooses his outage, so none of them is the best.
    const bool of_outages = std::ranges::any_of(
        grid_.axes(), [](const Axis& axis) { return axis.name.starts_with("outage"); });
    std::vector<std::string> summary;
    for (const Statement& each : summary_of(names, rows)) {
      if (of_outages && each.id == "rows-answers-most") continue;
      summary.push_back(words_of(each) + '.');
    }
    if (!summary.empty()) teller_.text(list_words(summary, " "), Tone::kPlain, "");
    const bool tries =
        complete && !options_.no_trials && options_.runs > 1 && !options_.cell.is_part();
    if (tries && cells.size() <= kMostRows) tell_turned_rows(cells, names);
    if (tries && cells.size() > kMostRows) {
      teller_.dim({"rows-not-tried", {counted("most", kMostRows)}});
    }
  }

  // A line for each trial that turns a row.
  void tell_turned_rows(const std::map<std::size_t, AnsweredCell>& cells,
                        const std::vector<std::string>& names) const {
    struct Told {
      AnswerTrials::Outcome outcome{};
      std::vector<std::pair<std::string, std::string>> rows{};  // how, and the row
      double weight = 0;
    };
    std::vector<Told> all;
    ProgressBar progress(progress_stream(), 0);
    std::size_t index = 0;
    for (const auto& [cell, answered] : cells) {
      const NamedOptions row = with_values(given_, grid_, grid_.values(cell));
      const ScenarioOptions options = scenario_of(row);
      const AnswerTrials trials = trials_of(options, row, answered);
      std::vector<AnswerTrials::Outcome> outcomes = trials.of_a_tenth();
      const auto others = trials.others();
      outcomes.insert(outcomes.end(), others.begin(), others.end());
      progress.see_trial();
      for (const AnswerTrials::Outcome& each : outcomes) {
        study_.json().write(trial_json(row_text(grid_.names(), grid_.values(cell)), each));
        if (each.turn == AnswerTrials::Turn::kNone) continue;
        auto told = std::ranges::find_if(all, [&each](const Told& one) {
          return one.outcome.trial.note.id == each.trial.note.id &&
                 one.outcome.trial.with == each.trial.with && tone_of(one.outcome) == tone_of(each);
        });
        if (told == all.end()) told = all.insert(all.end(), Told{.outcome = each});
        std::string name = names[index];
        if (each.edge) name += " from " + number_words(static_cast<double>(*each.edge));
        told->rows.emplace_back(words_of(each.how), name);
        told->weight += each.weight;
      }
      ++index;
    }
    progress.clear();
    std::ranges::stable_sort(all, [](const Told& a, const Told& b) { return a.weight > b.weight; });
    const std::size_t shown =
        options_.look.verbose ? all.size() : std::min<std::size_t>(all.size(), 4);
    for (std::size_t i = 0; i < shown; ++i) {
      const Told& told = all[i];
      std::string list, how;
      for (const auto& [each, row] : told.rows) {
        list += (list.empty()  ? ""
                 : how == each ? ", "
                               : "; ") +
                (how == each ? row : each + ' ' + what_of(told.outcome.trial) + ": " + row);
        how = each;
      }
      teller_.text(list + " (" + words_of(told.outcome.trial.note) + ')', tone_of(told.outcome),
                   "");
    }
  }

  const SimulatorOptions& options_;
  const NamedOptions& given_;
  const Grid& grid_;
  Study& study_;
  const Evaluator evaluator_;
  const Teller teller_;
  std::string last_how_{};  // see `print_trial`
};

}  // namespace

void tell_answers(const SimulatorOptions& options, const NamedOptions& given, const Grid& grid,
                  Study& study, const std::map<std::size_t, AnsweredCell>& cells, bool complete) {
  Answers(options, given, grid, study).tell(cells, complete);
}

}  // namespace retrystorm
