#include "study/cell_answer.h"

#include <algorithm>

#include "study/statistics.h"
#include "words/words.h"

namespace retrystorm {
namespace {

const PhaseResult& phase_of(const CellResult& cell, RunPhase phase) {
  return cell.phases[static_cast<std::size_t>(phase)];
}

bool has_phases(const CellResult& cell) {
  return phase_of(cell, RunPhase::kDuring).attempts_per_s.has_value();
}

// The whole answer hangs on so many requests that are left out, or never sent.
constexpr double kMany = 0.05;

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 == names.size() ? words_of("and") : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace

RunAnswer answer_of(const CellResult& cell, bool turned) {
  const std::size_t decided = cell.decided(), down = cell.down_runs();
  const auto of_runs = [&](std::string_view id, std::string_view name, std::size_t number) {
    return Statement{id, {counted(name, number), counted("runs", decided)}};
  };
  RunAnswer answer;
  if (cell.has_open_jobs()) {
    return {
        Tone::kBad,
        {"runs-job-open",
         {counted("done", cell.jobs_done), counted("runs", cell.jobs), {"time", *cell.observed}}}};
  }
  if (decided == 0) return {Tone::kDoubt, {"runs-undecided", {counted("runs", cell.runs)}}};
  if (!cell.had_outage()) {
    if (down > 0) return {Tone::kBad, of_runs("runs-down-by-themselves", "down", down)};
    const double success = cell.success_share;
    answer = {tone_of_calm(success, cell.doubtful),
              {cell.jobs > 0 ? "runs-job" : "answer-no-outage", {{"share", ShareOf{success}}}}};
    if (cell.makespan) answer.headline.values.push_back({"time", *cell.makespan});
    return answer;
  }
  if (cell.mostly_down() || (cell.mostly_not_back() && down > cell.recovering)) {
    const bool answers =
        cell.relapsed == 0 &&
        phase_of(cell, RunPhase::kAfter).success.value_or(0) >= RecoveryTracker::kWell;
    answer = {Tone::kBad, of_runs(down < decided ? "runs-down"
                                  : answers      ? "runs-all-overloaded"
                                                 : "runs-all-down",
                                  "down", down)};
  } else if (cell.mostly_not_back()) {
    answer = {Tone::kDoubt, of_runs("runs-not-back", "open", cell.recovering)};
  } else {
    const std::size_t back = cell.back_runs();
    answer = {back == decided ? Tone::kGood : Tone::kDoubt,
              of_runs(back == decided ? "runs-all-back" : "runs-back", "back", back)};
    if (!turned) {  // where it is only just, that is said
      look_at_failures(answer,
                       {cell.phases[0].success, cell.phases[1].success, cell.phases[2].success});
    }
  }
  if (turned) {
    answer.tone = Tone::kDoubt;
    answer.headline = {"only-just", {{"answer", words_of(answer.headline)}}};
  }
  return answer;
}

Statements remarks_of(const CellResult& cell) {
  Statements all;
  const auto of_runs = [&](std::string_view id, std::size_t number) {
    all.push_back({id, {counted("count", number), counted("runs", cell.runs)}});
  };
  if (cell.has_open_jobs()) {
    all.push_back({"remark-calls", {{"done", cell.calls_done}, {"calls", cell.calls}}});
  }
  if (cell.had_outage() && cell.makespan) {
    all.push_back({"run-job-done", {{"time", *cell.makespan}}});
  }
  if (!cell.held.empty()) {
    all.push_back({"remark-held", {{"what", cell.held}}});
  } else if (cell.recovering > 0) {
    of_runs("remark-recovering", cell.recovering);
    if (cell.to_watch) all.back().values.push_back({"until", *cell.to_watch});
    if (cell.to_watch) all.back().id = "remark-recovering-until";
  }
  if (cell.queued > 0) {
    of_runs("remark-queued", cell.queued);
    all.back().values.push_back({"wait", *cell.queue_wait});
  }
  if (cell.killed.value_or(0) > 0) {
    all.push_back(
        {"remark-probe-kills",
         {{"count", *cell.killed}, {"share", ShareOf{*cell.killed_busy / *cell.killed}}}});
  }
  if (cell.cut_runs > 0) of_runs("remark-cut", cell.cut_runs);
  if (cell.undecided > 0 && cell.held.empty()) of_runs("remark-undecided", cell.undecided);
  if (cell.back_in_vain()) {
    all.push_back({"remark-in-vain",
                   {{"share", ShareOf{phase_of(cell, RunPhase::kAfter).success.value_or(0)}}}});
  }
  const bool left_out =
      cell.unfinished >= Counts::kManyLeftOut && !has_phases(cell) && !cell.has_open_jobs();
  if (cell.never_sent >= kMany && !cell.has_open_jobs() && (left_out || cell.back_in_vain())) {
    all.push_back({cell.not_sent_share > 0 ? "remark-held-back" : "remark-own-queue",
                   {{"share", ShareOf{cell.never_sent}}}});
  } else if (left_out) {
    all.push_back({"remark-left-out", {{"share", ShareOf{cell.unfinished}}}});
  }
  if (cell.nothing_retried > 0) {
    all.push_back({"remark-not-retried", {{"what", to_string(cell.not_retryable)}}});
  }
  if (cell.unserved()) all.push_back({"remark-unserved", {}});
  if (cell.down_runs() > 0 && !cell.had_outage()) all.push_back({"remark-by-itself", {}});
  if (cell.alike) all.push_back({"remark-alike", {}});
  return all;
}

double answered_in_fault(const CellResult& cell) {
  const auto& during = phase_of(cell, RunPhase::kDuring).success;
  return cell.had_outage() && during ? *during : cell.success_share;
}

std::string back_words(const CellResult& cell, double share) {
  if (!cell.had_outage()) return "-";
  const auto& back = share == 0.5 ? cell.time_to_recovery : cell.recovery_p90;
  if (!back) return std::string(cell.not_back(share));
  return *back == Duration::zero() ? words_of("at-once") : time_words(*back);
}

std::string down_words(const CellResult& cell) {
  if (!cell.unsettled().empty()) return words_of("not-decided");
  if (cell.decided() == 0) return "-";
  if (cell.down_runs() == 0) return "0";
  return words_of({"of", {counted("part", cell.down_runs()), counted("all", cell.decided())}});
}

namespace {

std::string share_or(const std::optional<double>& share) {
  return share ? share_words(*share) : "-";
}

std::string time_or(const std::optional<TimeBound>& time) {
  return time ? (time->or_more ? "> " : "") + time_words(time->time) : "-";
}

// What is the same in all of several rows is said once, below them.
Statements common_remarks(const std::vector<AnsweredRow>& rows) {
  Statements common = rows.size() > 1 ? remarks_of(rows.front().result) : Statements();
  for (const AnsweredRow& row : rows) {
    const Statements own = remarks_of(row.result);
    std::erase_if(common, [&own](const Statement& each) {
      return std::ranges::find(own, each) == own.end();
    });
  }
  return common;
}

std::string answered_in(const CellResult& cell, RunPhase phase) {
  return share_or(phase_of(cell, phase).success);
}

}  // namespace

Statement block_of(const CellResult& cell) {
  if (!has_phases(cell)) return {"block-whole", {{"share", ShareOf{cell.success_share}}}};
  return {cell.time_to_recovery ? "block" : "block-not-back",
          {{"back", back_words(cell)},
           {"during", answered_in(cell, RunPhase::kDuring)},
           {"after", answered_in(cell, RunPhase::kAfter)}}};
}

Statement below_of(const CellResult& cell, bool with_interval) {
  const double attempts = cell.amplification;
  const auto down = cell.down();
  if (!with_interval || !down || !cell.unsettled().empty())
    return {"below-runs", {{"attempts", attempts}}};
  return {"below-runs-down",
          {{"share", ShareOf{down->value}},
           {"low", ShareOf{down->interval.low}},
           {"high", ShareOf{down->interval.high}},
           {"attempts", attempts}}};
}

Table answers_of(const std::vector<std::string>& axes, const std::vector<AnsweredRow>& rows) {
  struct Figure {
    const char* group;
    const char* title;
    int rank;
    std::string (*text)(const CellResult&);
    bool (*shown)(const CellResult&) = nullptr;  // for which cells it is; null: where it is known
  };
  using C = CellResult;
  static const Figure kFigures[] = {
      {"stays", "down", 0, down_words},
      {"back", "after", 1, [](const C& c) { return back_words(c); },
       [](const C& c) { return c.had_outage(); }},
      {"all", "connected", 3,
       [](const C& c) {
         return c.all_back ? time_words(*c.all_back) : c.back_share ? "never" : "-";
       }},
      {"", "job takes", 1,
       [](const C& c) {
         return c.makespan ? time_words(*c.makespan) : c.jobs > 0 ? "not done" : "-";
       }},
      {"answered in", "the outage", 2, [](const C& c) { return answered_in(c, RunPhase::kDuring); },
       has_phases},
      {"answered", "after it", 4, [](const C& c) { return answered_in(c, RunPhase::kAfter); },
       has_phases},
      {"", "answered", 2, [](const C& c) { return share_words(c.success_share); },
       [](const C& c) { return !has_phases(c); }},
      {"attempts", "per request", 3, [](const C& c) { return number_words(c.amplification); }},
      {"calls of the", "last service", 2,
       [](const C& c) { return c.last_calls ? number_words(*c.last_calls) : "-"; }},
      {"", "throttled", 5, [](const C& c) { return share_or(c.throttled_share); },
       [](const C& c) { return c.throttled_share.value_or(0) > 0; }},
      {"its hosts get", "of attempts", 5, [](const C& c) { return share_or(c.hit_share); }},
      {"hedges", "per request", 5,
       [](const C& c) { return c.hedges ? number_words(*c.hedges) : "-"; }},
      {"request p99", "before it", 4,
       [](const C& c) { return time_or(phase_of(c, RunPhase::kBefore).request_p99); },
       [](const C& c) { return c.hedges.has_value() && has_phases(c); }},
      {"request", "p99", 4, [](const C& c) { return time_or(c.request_p99); },
       [](const C& c) { return !has_phases(c) && c.jobs == 0; }},
      {"longest without", "an answer", 5,
       [](const C& c) { return c.longest_without_ok ? time_words(*c.longest_without_ok) : "-"; }},
  };
  Table table;
  for (const std::string& axis : axes) table.columns.push_back({.title = axis, .code = true});
  table.rows.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.rows[i] = rows[i].values;
    table.tones.push_back(answer_of(rows[i].result).tone);
  }
  for (const Figure& each : kFigures) {
    const bool shown = std::ranges::any_of(rows, [&each](const AnsweredRow& row) {
      return each.shown != nullptr ? each.shown(row.result) : each.text(row.result) != "-";
    });
    if (!shown) continue;
    table.columns.push_back({.title = each.title, .group = each.group, .rank = each.rank});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      table.rows[i].push_back(each.text(rows[i].result));
    }
  }
  if (!rows.empty()) {
    for (const ClientsFigures& kind : rows.front().result.clients) {
      table.columns.push_back({.title = kind.name, .group = "answered", .rank = 5});
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const ClientsFigures* clients = find_clients(rows[i].result.clients, kind.name);
        table.rows[i].push_back(clients != nullptr ? share_words(clients->success) : "-");
      }
    }
  }
  const Statements common = common_remarks(rows);
  for (const AnsweredRow& row : rows) {
    const Statements own = remarks_of(row.result);
    const auto first = std::ranges::find_if(
        own, [&common](const Statement& each) { return !says(common, each.id); });
    table.remarks.push_back(first == own.end() ? "" : words_of(*first));
  }
  return table;
}

Table compared_in(
    const std::vector<ComparedIn>& cases, Table::Column what, const std::vector<std::string>& names,
    const std::function<const CellResult*(std::size_t one, std::size_t name)>& result) {
  Table table{.columns = {std::move(what)}};
  for (const std::string& name : names) table.rows.push_back({name});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const ComparedIn::Figure& figure : cases[i].figures) {
      table.columns.push_back({figure.title, cases[i].title, false, figure.rank});
      for (std::size_t row = 0; row < names.size(); ++row) {
        const CellResult* of = result(i, row);
        table.rows[row].push_back(of != nullptr ? figure.text(*of) : "-");
      }
    }
  }
  return table;
}

namespace {

// Which row has the least of a figure, and which the most, where they differ by a fifth or more. A row without this
// figure is left out.
template <typename Figure>
std::optional<Statement> spread_of(std::string_view id, const std::vector<std::string>& names,
                                   const std::vector<AnsweredRow>& rows, const Figure& figure) {
  std::optional<Duration> least, most;
  std::string first, last;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::optional<Duration> its = figure(rows[i].result);
    if (!its) continue;
    if (!least || *its < *least) least = its, first = names[i];
    if (!most || *its > *most) most = its, last = names[i];
  }
  if (!least || 5 * (*most - *least) < *most) return std::nullopt;
  return Statement{id, {{"first", first}, {"least", *least}, {"last", last}, {"most", *most}}};
}

// Which of the rows that come back answers the most requests of the outage, by five percent of them or more.
std::optional<Statement> most_answered(const std::vector<std::string>& names,
                                       const std::vector<AnsweredRow>& rows) {
  constexpr double kClearly = 0.05;
  double most = 0, second = 0;
  std::size_t best = 0, count = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CellResult& cell = rows[i].result;
    const auto& during = phase_of(cell, RunPhase::kDuring).success;
    if (cell.decided() == 0 || cell.mostly_down() || cell.mostly_not_back() || !during) continue;
    ++count;
    if (*during > most) best = i;
    second = std::max(second, std::min(*during, most));
    most = std::max(most, *during);
  }
  if (count < 2 || most < second + kClearly) return std::nullopt;
  return Statement{"rows-answers-most", {{"row", names[best]}, {"share", ShareOf{most}}}};
}

}  // namespace

Statements summary_of(const std::vector<std::string>& names, const std::vector<AnsweredRow>& rows) {
  std::vector<std::string> down, sometimes, whole;
  std::size_t undecided = 0, most_runs = 0;
  bool none_down = false, outage = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CellResult& cell = rows[i].result;
    outage |= cell.had_outage();
    most_runs = std::max(most_runs, cell.decided());
    if (cell.decided() == 0 || cell.mostly_not_back()) ++undecided;
    if (cell.mostly_down()) {
      down.push_back(names[i]);
      --undecided;
      continue;
    }
    none_down |= cell.decided() > 0 && cell.down_runs() == 0;
    if (cell.down_runs() > 0) sometimes.push_back(names[i]);
    const double during = phase_of(cell, RunPhase::kDuring).success.value_or(0);
    if (has_phases(cell) && during > 0.995) whole.push_back(names[i]);
  }
  Statements all;
  const std::size_t count_down = down.size();
  if (count_down == rows.size()) {
    all.push_back({"rows-all-down", {}});
  } else if (count_down == 0 && undecided == 0 && sometimes.empty() && outage) {
    all.push_back({"rows-all-back", {}});
  } else if (count_down == 1) {
    all.push_back({"rows-one-down", {{"row", down[0]}}});
  } else if (count_down > 0 && count_down <= 4) {
    all.push_back({"rows-down", {{"rows", list_of(down)}}});
  } else if (count_down > 0) {
    all.push_back({"rows-many-down", {counted("down", count_down), counted("rows", rows.size())}});
  }
  if (!sometimes.empty() && sometimes.size() <= 4) {
    all.push_back({"rows-sometimes-down", {{"rows", list_of(sometimes)}}});
  }
  if (!whole.empty() && whole.size() < rows.size() && whole.size() <= 3) {
    all.push_back({whole.size() == 1 ? "rows-one-answers-all" : "rows-answer-all",
                   {{"rows", list_of(whole)}}});
  } else if (const auto best = most_answered(names, rows)) {
    all.push_back(*best);
  }
  if (!outage && rows.size() > 1 && sometimes.empty()) {
    // Fast refusals are no fast answers.
    constexpr double kAnswered = 0.99;
    const auto done = spread_of("rows-job-first", names, rows,
                                [](const CellResult& cell) { return cell.makespan; });
    const auto fast = spread_of("rows-fastest", names, rows, [](const CellResult& cell) {
      const bool answers = cell.request_p99 && !cell.request_p99->or_more &&
                           cell.success_share >= kAnswered && cell.jobs == 0;
      return answers ? std::optional<Duration>(cell.request_p99->time) : std::nullopt;
    });
    if (done || fast) all.push_back(done ? *done : *fast);
  }
  if (none_down && most_runs > 0) {
    all.push_back(
        {"zero-may-be",
         {counted("runs", most_runs), {"share", ShareOf{wilson_interval(0, most_runs).high}}}});
  }
  for (const Statement& each : common_remarks(rows)) {
    all.push_back({"in-each-row", {{"remark", words_of(each)}}});
  }
  return all;
}

void Teller::below(const Statement& what, Tone tone, const std::string& head) const {
  text(words_of(what), tone, head);
}

void Teller::dim(const Statement& what) const {
  print_dim(std::cout, words_of(what), style_);
}

void say(const Statement& statement, const Style& style, const std::string& head,
         std::ostream& out) {
  out << fitted(head, words_of(statement), style);
}

void print_remarks(std::ostream& out,
                   const std::vector<std::pair<std::string, CellResult>>& cells) {
  nlohmann::ordered_map<std::string, std::string>
      all;  // the remark, and the cells of which it is true
  for (const auto& [name, cell] : cells) {
    const Statements remarks = remarks_of(cell);
    if (remarks.empty()) continue;
    const auto [same, is_new] = all.emplace(words_of(remarks.front()), std::string(name));
    if (!is_new) same->second += ", " + name;
  }
  for (const auto& [text, names] : all) {
    out << fitted(names.empty() ? "" : names + ": ", text, style_of(1));
  }
}

}  // namespace retrystorm
