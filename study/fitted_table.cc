#include "study/fitted_table.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <sstream>
#include <utility>

#include "common/output/fixed.h"
#include "model/base/text.h"
#include "model/run/outlook.h"
#include "study/table.h"

namespace retrystorm {
namespace {

// In a mixture of both no median tells of the runs that are down.
bool is_mixed(const CellResult& cell) {
  return cell.down_runs() > 0 && cell.down_runs() < cell.decided();
}

constexpr const char* kNothing = "-";

std::string share_of(const std::optional<double>& share) {
  return share ? narrow_percent(*share, 2) : kNothing;
}

std::string tenths(const std::optional<double>& value) {
  return value ? fixed(*value, 1) : kNothing;
}

// A rate below 1 with its digits: many processes share few requests.
std::string rate_of_process(const std::optional<double>& rate) {
  return rate && *rate < 1 ? readable(*rate) : tenths(rate);
}

std::string interval_of_share(const Share& share) {
  return fixed(share.interval.low * 100, 1) + "-" + narrow_percent(share.interval.high, 1);
}

std::string back_after(const CellResult& cell) {
  if (!cell.had_outage()) return kNothing;
  return cell.recovery_median ? readable(*cell.recovery_median) : std::string(cell.not_back(0.5));
}

bool has_phases(const CellResult& cell) {
  return cell.phases[1].attempts_per_s.has_value();
}

// A column: its two titles, one above the other, its name in a sentence, and its text.
struct Figure {
  const char* group;
  const char* title;
  const char* name;
  std::string (*text)(const CellResult&);
  // Of figures after the outage: its title and name where no row has one.
  const char* of_whole = nullptr;
};

std::string time_or_never(const std::optional<Duration>& time) {
  return time ? readable(*time) : "never";
}

using C = CellResult;
constexpr std::array kFigures{
    Figure{"down", "share", "down",
           [](const C& c) {
             if (!c.unsettled().empty()) return std::string(c.unsettled());
             return c.down() ? narrow_percent(c.down()->value, 1) : kNothing;
           }},
    Figure{"", "95 %", "its interval",
           [](const C& c) {
             return c.down() && c.unsettled().empty() ? interval_of_share(*c.down()) : kNothing;
           }},
    Figure{"back", "after", "back after", back_after},
    Figure{"all", "connected", "all connected after",
           [](const C& c) { return c.back_share ? time_or_never(c.all_back_median) : kNothing; }},
    Figure{"success", "during", "success in the outage",
           [](const C& c) { return share_of(c.phases[1].success); }},
    Figure{"success", "after", "success after it",
           [](const C& c) {
             return share_of(has_phases(c) ? c.phases[2].success : c.success_share.value);
           },
           "success"},
    Figure{"", "makespan", "makespan",
           [](const C& c) {
             if (c.jobs == 0) return std::string(kNothing);
             return c.makespan_median ? readable(*c.makespan_median) : std::string("not done");
           }},
    Figure{"attempts", "/request", "attempts a request",
           [](const C& c) { return fixed(c.amplification.value, 2); }},
    Figure{"OK/s", "after", "OK/s after the outage",
           [](const C& c) { return tenths(has_phases(c) ? c.phases[2].ok_per_s : c.ok_per_s); },
           "OK/s"},
    Figure{"request", "p99", "request p99", [](const C& c) { return request_time(c.request_p99); }},
    Figure{"", "throttled", "attempts throttled",
           [](const C& c) { return share_of(c.throttled_share); }},
    Figure{"", "not sent", "attempts not sent",
           [](const C& c) {
             return c.not_sent_share > 0 ? narrow_percent(c.not_sent_share, 2) : kNothing;
           }},
    Figure{"longest", "without OK", "longest without OK",
           [](const C& c) {
             return c.longest_without_ok ? readable(*c.longest_without_ok) : kNothing;
           }},
};

// A column of the table being printed.
struct Column {
  Table::Column title;
  std::string name;
  std::vector<std::string> texts;

  bool is_alike() const {
    return std::all_of(texts.begin(), texts.end(),
                       [this](const std::string& each) { return each == texts.front(); });
  }
};

Table table_of(const std::vector<Column>& columns, std::size_t rows) {
  Table table;
  for (const Column& each : columns) table.columns.push_back(each.title);
  table.rows.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    for (const Column& each : columns) table.rows[row].push_back(each.texts[row]);
  }
  return table;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

void append(std::string& list, const std::string& what) {
  list += (list.empty() ? "" : ", ") + what;
}

// Do many requests have no answer because of the clients themselves?
bool many_never_sent(const CellResult& cell) {
  constexpr double kMany = 0.05;
  const bool left_out = cell.unfinished >= Counts::kManyLeftOut && !has_phases(cell);
  return cell.never_sent >= kMany && !cell.has_open_jobs() && (left_out || cell.back_in_vain());
}

constexpr const char* kOwnQueue = "the clients' own queue grows (--client-rate, --pool-size)";
constexpr const char* kHeldBack = "the clients hold them back (--concurrency-limit, --breaker)";

// "0 of 5 runs done within 5s (68 of 2,000 calls)"
std::string jobs_done(const CellResult& cell) {
  return std::to_string(cell.jobs_done) + " of " + std::to_string(cell.jobs) +
         " runs done within " + readable(cell.observed) + " (" +
         readable(std::round(cell.calls_done)) + " of " + readable(cell.calls) + " calls)";
}

std::string alike_text(const CellResult& cell) {
  return std::to_string(cell.runs) + " runs alike: nothing random changed a figure";
}

// "strategy=fixed timeout=2s"
std::string row_name(const std::vector<std::string>& axes, const FittedRow& row) {
  std::string name;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    name += (name.empty() ? "" : " ") + axes[axis] + '=' + row.values[axis];
  }
  return name;
}

void print_rows(std::ostream& out, const std::vector<std::string>& axes,
                const std::vector<FittedRow>& rows) {
  std::vector<Column> columns;
  std::string same, no_room;
  const auto add_column = [&](Column column) {
    if (!column.is_alike()) {
      columns.push_back(std::move(column));
    } else if (column.texts.front() != kNothing) {
      append(same, column.name + ' ' + column.texts.front());
    }
  };
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    Column column{.title = {.title = axes[axis]}, .name = axes[axis], .texts = {}};
    for (const FittedRow& row : rows) column.texts.push_back(row.values[axis]);
    add_column(std::move(column));
  }
  const std::size_t labels = columns.size();
  const auto phases = std::count_if(rows.begin(), rows.end(),
                                    [](const FittedRow& row) { return has_phases(row.result); });
  const bool some_phases = phases > 0 && static_cast<std::size_t>(phases) < rows.size();
  for (const Figure& figure : kFigures) {
    Column column{
        .title = {.title = figure.title, .group = figure.group}, .name = figure.name, .texts = {}};
    if (phases == 0 && figure.of_whole != nullptr) {
      column.name = figure.of_whole;
      column.title = {.title = figure.of_whole};
    }
    for (const FittedRow& row : rows) column.texts.push_back(figure.text(row.result));
    add_column(std::move(column));
  }
  for (const ClientsFigures& kind : rows.front().result.clients) {
    Column column{.title = {.title = kind.name, .group = "success"},
                  .name = "success of " + kind.name,
                  .texts = {}};
    for (const FittedRow& row : rows) {
      const ClientsFigures* clients = find_clients(row.result.clients, kind.name);
      column.texts.push_back(clients != nullptr ? narrow_percent(clients->success, 2) : kNothing);
    }
    add_column(std::move(column));
  }
  const auto text = [&] {
    std::ostringstream printed;
    print(printed, table_of(columns, rows.size()));
    return printed.str();
  };
  while (columns.size() > labels + 1 && widest_line(text()) > kLineWidth) {
    append(no_room, columns.back().name);
    columns.pop_back();
  }
  out << text();
  print_note(out, "the same in all rows", same);
  print_note(out, "no room for (see --wide)", no_room);
  if (some_phases) out << "rows without an outage: success and OK/s of the whole run\n";
  std::string alike, not_retried, mixed, of_itself, not_done, open, in_vain, queue, held_back;
  for (const FittedRow& row : rows) {
    const CellResult& cell = row.result;
    if (cell.has_open_jobs()) append(not_done, row_name(axes, row) + ' ' + jobs_done(cell));
    if (cell.unfinished >= Counts::kManyLeftOut && !has_phases(cell) && !cell.has_open_jobs()) {
      append(open, row_name(axes, row) + ' ' + narrow_percent(cell.unfinished, 2));
    }
    if (cell.back_in_vain()) {
      append(in_vain, row_name(axes, row) + ' ' + share_of(cell.phases[2].success));
    }
    if (many_never_sent(cell)) {
      append(cell.not_sent_share > 0 ? held_back : queue,
             row_name(axes, row) + ' ' + narrow_percent(cell.never_sent, 2));
    }
    if (is_mixed(row.result)) append(mixed, row_name(axes, row));
    if (row.result.down_runs() > 0 && !row.result.had_outage()) {
      append(of_itself, row_name(axes, row));
    }
    if (row.result.alike) append(alike, row_name(axes, row));
    if (row.result.nothing_retried > 0) {
      append(not_retried, row_name(axes, row) + " (" + to_string(row.result.not_retryable) + ")");
    }
  }
  print_note(out, "not done, --time-limit", not_done);
  print_note(out, "left out of the success, not ended at the end of the run", open);
  print_note(out, "back, but most requests fail or are not answered (success after the outage)",
             in_vain);
  print_note(out, std::string("requests never sent, ") + kOwnQueue, queue);
  print_note(out, std::string("requests never sent, ") + kHeldBack, held_back);
  print_note(out, "nothing was retried, these failures are not retryable", not_retried);
  print_note(out, "request p99 is a median of the runs, longer in those that are down", mixed);
  print_note(out, "down without any outage, so more often in longer runs (--observe)", of_itself);
  const bool all =
      std::all_of(rows.begin(), rows.end(), [](const FittedRow& row) { return row.result.alike; });
  if (all) {
    out << "in each row " << alike_text(rows.front().result) << '\n';
  } else {
    print_note(out, "runs alike, nothing random changed a figure, at", alike);
  }
  std::vector<std::pair<std::string, CellResult>> cells;
  for (const FittedRow& row : rows) cells.emplace_back(row_name(axes, row), row.result);
  print_unsettled(out, cells);
}

void print_line(std::ostream& out, const std::string& label, const std::string& text) {
  constexpr std::size_t kIndent = 18;
  print_wrapped(out, label + std::string(kIndent - label.size(), ' '), text);
}

// "20: 19 recovered, 1 collapsed"
std::string verdicts(const CellResult& cell) {
  std::string text;
  for (const auto& [count, name] :
       {std::pair(cell.no_outage, "without an outage"), std::pair(cell.recovered, "recovered"),
        std::pair(cell.relapsed, "relapsed"), std::pair(cell.recovering, "recovering"),
        std::pair(cell.undecided, "undecided"), std::pair(cell.collapsed, "collapsed")}) {
    if (count > 0) append(text, std::to_string(count) + ' ' + name);
  }
  return std::to_string(cell.runs) + (text.empty() ? "" : ": " + text);
}

void print_upright(std::ostream& out, const std::vector<std::string>& axes, const FittedRow& row) {
  const CellResult& cell = row.result;
  for (std::size_t i = 0; i < axes.size(); ++i) print_line(out, axes[i], row.values[i]);
  print_line(out, "runs", verdicts(cell));
  if (cell.alike) print_line(out, "", alike_text(cell));
  if (const auto down = cell.down()) {
    const std::string state(cell.unsettled());
    // One that was back may be back again at the end.
    print_line(out, cell.relapsed > 0 ? "down or relapsed" : "down at the end",
               state.empty() ? narrow_percent(down->value, 1) + " (95 % interval " +
                                   interval_of_share(*down) + ")" +
                                   (down->value > 0 && !cell.had_outage()
                                        ? ", without any outage: more in longer runs (--observe)"
                                        : "")
                             : state);
  }
  for (const std::string& other : row.others) print_line(out, "", other);
  if (cell.down() && cell.had_outage()) {
    print_line(
        out, "back after",
        back_after(cell) +
            (cell.recovery_p90 ? ", 90 % of the runs after " + readable(*cell.recovery_p90) : ""));
  }
  if (cell.back_share) {
    print_line(out, "connected again",
               narrow_percent(*cell.back_share, 2) + " of the clients, all after " +
                   time_or_never(cell.all_back_median));
  }
  const std::string whole = narrow_percent(cell.success_share.value, 2);
  print_line(out, "success",
             has_phases(cell)
                 ? "after the outage " + share_of(cell.phases[2].success) + ", in it " +
                       share_of(cell.phases[1].success) + ", in the whole run " + whole
                 : whole);
  if (cell.unfinished >= Counts::kManyLeftOut && !cell.has_open_jobs()) {
    print_line(out, "",
               "the whole run leaves out the requests under way at its end that have not failed, " +
                   narrow_percent(cell.unfinished, 2));
  }
  if (cell.back_in_vain()) {
    print_line(out, "", "OK/s are back, but most requests fail or are not answered by the end");
  }
  if (many_never_sent(cell)) {
    print_line(out, "",
               narrow_percent(cell.never_sent, 2) + " of the requests are never sent: " +
                   (cell.not_sent_share > 0 ? kHeldBack : kOwnQueue));
  }
  if (cell.has_open_jobs()) {
    print_line(out, "", "of the calls that were made, for the job is not done: " + jobs_done(cell));
  }
  print_line(out, "attempts/request", fixed(cell.amplification.value, 2));
  print_line(out, "OK/s",
             has_phases(cell) ? "after the outage " + tenths(cell.phases[2].ok_per_s) +
                                    ", before it " + tenths(cell.phases[0].ok_per_s)
                              : fixed(cell.ok_per_s, 1));
  print_line(out, "request time",
             "p50 " + request_time(cell.request_p50) + ", p99 " + request_time(cell.request_p99) +
                 (is_mixed(cell) ? " (medians; longer in the runs that are down)" : ""));
  if (cell.longest_without_ok) {
    print_line(out, "longest without",
               readable(*cell.longest_without_ok) + " without an OK, the client that waited most");
  }
  for (const ClientsFigures& each : cell.clients) {
    print_line(out, each.name,
               "success " + narrow_percent(each.success, 2) + ", attempts/request " +
                   fixed(each.attempts, 2));
  }
  const auto print_positive = [&out](const char* label, double value, const char* what = "") {
    if (value > 0) print_line(out, label, fixed(value, value < 10 ? 1 : 0) + what);
  };
  print_positive("given up", cell.gave_up);
  if (cell.nothing_retried > 0) {
    print_line(out, "",
               "nothing was retried: " + fixed(cell.nothing_retried, 0) + " were not retryable (" +
                   to_string(cell.not_retryable) + ")");
  }
  print_positive("not sent", cell.not_sent,
                 (", " + narrow_percent(cell.not_sent_share, 2) + " of the attempts").c_str());
  print_positive("OK lost", cell.ok_lost);
  print_positive("peak concurrency", static_cast<double>(cell.peak_concurrency),
                 (std::string(cell.peak_is_bound ? " (--max-connections)" : "") +
                  (cell.runs > 1 ? ", the most in any run" : ""))
                     .c_str());
  if (cell.jobs > 0) {
    print_line(out, "makespan",
               (cell.makespan_median ? readable(*cell.makespan_median) : "never") +
                   (cell.has_open_jobs() ? ", " + jobs_done(cell) : ""));
  }
  if (cell.throttled_share) print_line(out, "throttled", share_of(cell.throttled_share));
  if (cell.idle_share) print_line(out, "capacity idle", share_of(cell.idle_share));
  if (cell.hedges) {
    print_line(
        out, "hedges/request",
        fixed(*cell.hedges, 2) + ", " + narrow_percent(*cell.hedges_won, 1) + " of them won");
  }
  if (cell.processes) {
    print_line(
        out, "processes",
        fixed(*cell.processes, 0) + ", " + rate_of_process(cell.process_rate) + " requests/s each");
  }
  print_unsettled(out, {{"", cell}});
}

}  // namespace

std::vector<std::string> fitted_heads() {
  std::vector<std::string> heads;
  for (const Figure& figure : kFigures) {
    const std::string group = figure.group, title = figure.title;
    heads.push_back(title);
    if (figure.of_whole != nullptr) heads.emplace_back(figure.of_whole);
    if (!group.empty()) heads.insert(heads.end(), {group, group + ' ' + title});
  }
  return heads;
}

void print_note(std::ostream& out, const std::string& label, const std::string& text) {
  if (text.empty()) return;
  const auto print = [&out](const std::string& line) {
    const bool first = line[0] != ' ';
    out << wrapped(first ? "" : "  ", std::string_view(line).substr(first ? 0 : 2), 2);
  };
  std::string line = label + ": ";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(", ", at), text.size());
    const std::string part = text.substr(at, end - at) + (end < text.size() ? "," : "");
    if (line.size() + 1 + part.size() > kLineWidth) {
      print(line);
      line = "  ";
    }
    line += (line.back() == ' ' ? "" : " ") + part;
    at = end + 2;
  }
  print(line);
}

void print_wrapped(std::ostream& out, const std::string& head, const std::string& text) {
  out << wrapped(head, text, head.size());
}

void print_unsettled(std::ostream& out,
                     const std::vector<std::pair<std::string, CellResult>>& cells) {
  std::string recovering, held, undecided, queued, cut;
  const auto add = [](std::string& list, const std::string& name, std::size_t count,
                      const CellResult& cell) {
    append(list, name + (name.empty() ? "" : " ") + std::to_string(count) + " of " +
                     std::to_string(cell.runs));
  };
  for (const auto& [name, cell] : cells) {
    if (!cell.held.empty()) {
      append(held, name + ' ' + cell.held);
    } else if (cell.recovering > 0) {
      add(recovering, name, cell.recovering, cell);
      if (cell.to_watch) recovering += " (--observe=" + brief_duration(*cell.to_watch) + ')';
    }
    if (cell.queued > 0) {
      add(queued, name, cell.queued, cell);
      queued += " (a request waits for up to " + readable(*cell.queue_wait) + ')';
    }
    if (cell.cut > 0) add(cut, name, cell.cut, cell);
    if (cell.undecided > 0 && cell.held.empty()) add(undecided, name, cell.undecided, cell);
  }
  print_note(out, "still recovering (a longer --observe decides)", recovering);
  print_note(out, "held below its load by the remedy itself", held);
  print_note(out, "recovered, but the queue is not empty at the end", queued);
  print_note(out, "cut, clients that ask again at once fail without end (--lambda)", cut);
  print_note(out, "undecided (--runs=1 says why)", undecided);
}

void print_fitted(std::ostream& out, const std::vector<std::string>& axes,
                  const std::vector<FittedRow>& rows) {
  if (rows.size() == 1) {
    print_upright(out, axes, rows.front());
  } else {
    print_rows(out, axes, rows);
  }
  out << std::flush;
}

}  // namespace retrystorm
