// What `retrystorm recommend` prints.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iostream>
#include <limits>
#include <utility>

#include "common/output/json_text.h"
#include "model/base/text.h"
#include "retrystorm/disturbances.h"
#include "retrystorm/policy_cells.h"
#include "retrystorm/policy_files.h"
#include "retrystorm/policy_runs.h"
#include "retrystorm/recommend.h"
#include "study/fitted_table.h"

namespace retrystorm {
namespace {

// The outage of which the table has the success: frozen for 10 s. A mean over outages of other lengths says little.
constexpr std::size_t kShownOutage = 1;

// The names whose first letters are marks in the picture.
bool has_mark(std::string_view name) {
  return name == kRecommended || name == kSafer || name == kCheaper || name == kYours;
}

// A value as the claim about it has it.
std::string value_text(const Expectation& claim, double value) {
  if (!std::isfinite(value)) return "never";
  if (claim.percent) return fixed(100 * value, 2) + '%';
  if (claim.time_unit > 0) return format_duration(from_seconds(rounded(value * claim.time_unit)));
  return print_number(rounded(value));
}

std::string share_text(double share) {
  return percent(share, 2);
}

// Of a named strategy: its name first, then what differs from it.
std::vector<std::pair<std::string, std::string>> sorted_settings(const PolicySpace& space,
                                                                 const Settings& settings) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& each : space.settings_of(settings[0])) {
    all.insert(each.first == "strategy" ? all.begin() : all.end(), each);
  }
  return all;
}

std::string seconds_text(const std::optional<Duration>& time) {
  return time ? print_number(rounded(to_seconds(*time))) + " s" : "not in time";
}

}  // namespace

// Why these settings are not the recommended ones.
std::string Recommendation::why_not(const Row& row, const Settings& recommended) const {
  const Standing standing = fresh_.standing(row.settings);
  for (std::size_t i = 0; i < standing.down.size(); ++i) {
    const DownRuns& down = standing.down[i];
    if (down.hits > certificate_.most_for) {
      return "down, or not back in time, in " + std::to_string(down.hits) + " of " +
             std::to_string(down.runs) + " runs (" + question_.situations[i].title + ')';
    }
  }
  if (!passes(certificate_, standing)) return "its runs were interrupted";
  std::string claims;
  for (const auto& [claim, miss] : fresh_.missed(row.settings, 2 * misses_)) {
    claims += (claims.empty() ? "misses " : " and ") + missed_text(claim, miss);
  }
  if (!claims.empty()) return claims;
  const SituationFigures ours = fresh_.figures(recommended), its = fresh_.figures(row.settings);
  std::string worse, better;
  const auto add = [&](bool is_worse, const std::string& what) {
    std::string& text = is_worse ? worse : better;
    text += (text.empty() ? "" : " and ") + what;
  };
  const auto compare = [&](double difference, double least, const char* more, const char* fewer,
                           const std::string& amount) {
    if (std::abs(difference) < least) return;
    add(difference > 0, (difference > 0 ? more : fewer) + (" (" + amount + ')'));
  };
  const double failed = its.failed - ours.failed, attempts = its.attempts - ours.attempts;
  std::string brief;
  for (const auto& each : question_.situations) {
    if (each.brief) brief += (brief.empty() ? "" : " and ") + each.title;
  }
  compare(failed, 0.001, "more requests fail in brief trouble",
          "fewer requests fail in brief trouble",
          percent(std::abs(failed), 1) + ", the mean of " + brief);
  compare(attempts, 0.01, "more attempts are sent", "fewer attempts are sent",
          fixed(std::abs(attempts), 2) + " a request");
  if (ours.back && its.back) {
    const double back = to_seconds(*its.back) - to_seconds(*ours.back);
    compare(back, 0.5, "it is back later", "it is back sooner",
            print_number(rounded(std::abs(back))) + " s");
  } else if (ours.back || its.back) {
    add(ours.back.has_value(), its.back ? "it is back in time" : "it is not back in time");
  }
  const auto only_down = [&](const Settings& one, const Settings& other) {
    std::string where;
    for (const Variation& each : variations_) {
      const DownRuns its_runs = varied_trials_.worst_of(one, each);
      const DownRuns others = varied_trials_.worst_of(other, each);
      if (its_runs.runs == 0 || others.runs == 0 || its_runs.hits <= others.hits) continue;
      where += (where.empty() ? "" : ", ") + each.title;
    }
    return where;
  };
  if (const std::string where = only_down(row.settings, recommended); !where.empty()) {
    add(true, "it is down more often with other conditions (" + where + ')');
  }
  if (const std::string where = only_down(recommended, row.settings); !where.empty()) {
    add(false, "it is down less often with other conditions (" + where + ')');
  }
  if (worse.empty() && better.empty()) return "nothing tells them apart";
  return better + (worse.empty() || better.empty() ? "" : ", but ") + worse;
}

// "success>99% (errors 10 %): 98.4 %"
std::string Recommendation::missed_text(std::size_t claim, const MissedClaim& miss) const {
  const SituationClaim& missed = question_.claims[claim];
  return missed.claim.text + " (" + question_.situations[miss.situation].title +
         "): " + value_text(missed.claim, miss.value);
}

void Recommendation::print_plan(bool complete) const {
  std::cout << search_.tried().size() << " settings were tried in " << question_.situations.size()
            << " disturbances: " << question_.down.text << " in each";
  for (const SituationClaim& each : question_.claims) {
    std::cout << ", " << claim_text(each, question_.situations);
  }
  const auto passing = [this](double share) {
    return percent(binomial_at_most(certificate_.most_for, certificate_.runs, share), 1);
  };
  const double bound = question_.down.bound;
  std::cout << ".\n";
  if (question_.multiplexed) std::cout << kRunMultiplexed << '\n';
  print_wrapped(
      std::cout, "",
      "The best ones had fresh seeds. Certified is what is down, or not back in time, in at most " +
          std::to_string(certificate_.most_for) + " of " + std::to_string(certificate_.runs) +
          " runs in each: settings for which that is so in " + print_number(100 * bound) +
          " % of all runs pass with a probability of " + passing(bound) + ", in " +
          print_number(20 * bound) + " % with " + passing(bound / 5) +
          (complete
               ? ". All that is certified is right, and all bounds of the table hold, with 95 %."
               : ". The runs were interrupted, so nothing is certified that has not all of "
                 "them: `unfinished` in the table."));
  std::cout << '\n';
}

Table Recommendation::table_of(const std::vector<Row>& rows) const {
  Table table{.columns = {{.title = "setting", .code = true},
                          {.title = "down"},
                          {.title = "at most"},
                          {.title = "p90", .group = "back after"},
                          {.title = question_.situations[kShownOutage].title, .group = "success"},
                          {.title = "errors 10 %", .group = "success"},
                          {.title = "50 %", .group = "success"},
                          {.title = "mean", .group = "load"},
                          {.title = "worst outage", .group = "load"}},
              .rows = {}};
  if (parting_ != nullptr) {
    table.columns.back().title = "worst";  // for room
    table.columns.insert(table.columns.begin() + 4,
                         {.title = parting_->title, .group = "back after"});
  }
  for (const Row& row : rows) {
    const Standing standing = fresh_.standing(row.settings);
    const auto worst = std::max_element(
        standing.down.begin(), standing.down.end(), [](const DownRuns& a, const DownRuns& b) {
          return a.hits < b.hits || (a.hits == b.hits && a.runs > b.runs);
        });
    if (worst->runs == 0) continue;
    std::vector<std::string> texts{
        row.name, std::to_string(worst->hits) + " of " + std::to_string(worst->runs),
        share_text(greatest_share(worst->hits, worst->runs, misses_))};
    if (standing.costs.empty()) {
      texts.resize(table.columns.size(), "-");
    } else {
      const SituationFigures figures = fresh_.figures(row.settings);
      texts.push_back(seconds_text(figures.back));
      if (parting_ != nullptr) {
        texts.push_back(seconds_text(varied_trials_.back_of(row.settings, *parting_)));
      }
      texts.push_back(success_text(figures.in_outage[kShownOutage]));
      for (const double each : figures.in_errors) texts.push_back(success_text(each));
      texts.push_back(fixed(figures.attempts, 2));
      texts.push_back(fixed(figures.most_attempts, 2));
    }
    table.rows.push_back(std::move(texts));
  }
  return table;
}

// A row for each variation: how many of the runs are down in the worst outage.
void Recommendation::print_variations(const std::vector<Row>& rows) const {
  Table table{.columns = {{.title = "what differs"}}, .rows = {}};
  std::vector<const Row*> shown;
  for (const Row& row : rows) {
    if (robust_.runs(row.settings, 0).empty()) continue;
    shown.push_back(&row);
    table.columns.push_back({.title = row.name});
  }
  for (const Variation& variation : variations_) {
    std::vector<std::string> texts{variation.title};
    for (const Row* row : shown) {
      const DownRuns worst = varied_trials_.worst_of(row->settings, variation);
      texts.push_back(std::to_string(worst.hits) + " of " + std::to_string(worst.runs));
    }
    table.rows.push_back(std::move(texts));
  }
  std::cout << "\nDown where something differs, in the worst of the outages:\n";
  print(std::cout, table);
}

// What is recommended, in a sentence.
void Recommendation::print_choice(const std::vector<Row>& rows) const {
  const Settings& settings = rows.front().settings;
  const std::string& base = space_.name(settings[0]);
  std::string what = base;
  for (const auto& [name, value] : space_.changes(settings)) {
    what += (what == base ? " with " : ", ") + name + " = " + value;
  }
  if (settings == space_.strategy(0)) {
    what +=
        " as it is: of " + std::to_string(search_.tried().size()) +
        " settings that were tried none stays up where this is down, and none costs clearly less "
        "(1 % of failures in brief trouble, a tenth of an attempt a request, or 10 s until it "
        "is back)";
  } else if (settings[0] == 0) {
    what += ", and " + base + " in all else";
  }
  print_wrapped(std::cout, std::string(kRecommended) + ": ", what);
}

// What is certified holds for what was given only.
void Recommendation::print_warning(const Settings& recommended) const {
  std::string where;
  for (const Variation& variation : variations_) {
    const DownRuns worst = varied_trials_.worst_of(recommended, variation);
    if (worst.hits == 0) continue;
    where += (where.empty() ? "" : ", ") + variation.title + " (" + std::to_string(worst.hits) +
             " of " + std::to_string(worst.runs) + " runs)";
  }
  if (where.empty()) return;
  std::cout << '\n';
  print_wrapped(std::cout, "Warning: ",
                "the recommended settings are down where this differs: " + where + '.');
}

// What half and twice the timeout would do to the recommended settings. It is no setting of retries, and is not searched.
void Recommendation::print_timeouts(const Settings& recommended) {
  const Duration timeout = scenario_in(question_.situations.front(), recommended).workload.timeout;
  if (timeout == Duration::max()) return;
  for (const Duration other : {timeout / 2, 2 * timeout}) {
    const std::string text = format_duration(other);
    std::vector<Situation> situations = question_.situations;
    for (Situation& each : situations) each.options["timeout"] = text;
    SimulatedTrials tried = trials(situations, no_claims_, kFreshSeeds);
    for (std::size_t i = 0; i < situations.size(); ++i) {
      if (!tried.run({recommended}, i, kBesideRuns)) return;
    }
    bar_.clear();
    std::size_t hits = 0;
    for (const DownRuns& each : tried.standing(recommended).down) hits = std::max(hits, each.hits);
    const SituationFigures figures = tried.figures(recommended);
    std::string errors;
    for (const double each : figures.in_errors) {
      errors += (errors.empty() ? "" : " and ") + success_text(each);
    }
    print_wrapped(std::cout, "with --timeout=" + text + ": ",
                  std::to_string(hits) + " of " + std::to_string(kBesideRuns) +
                      " runs down, back after " + seconds_text(figures.back) + ", success " +
                      success_text(figures.in_outage[kShownOutage]) + " in " +
                      situations[kShownOutage].title + " and " + errors + " with errors, load " +
                      fixed(figures.attempts, 2));
  }
}

// Which of the recommended settings save fewer requests than the usual ones where retries can still save many: in a
// freeze that is hardly longer than a timeout, and among many errors.
void Recommendation::print_prices(const std::vector<Row>& rows) {
  constexpr double kClearlyFewer = 0.01;
  const auto begin = std::find_if(question_.strategies.begin(), question_.strategies.end(),
                                  [](const ListedStrategy& each) { return each.name == "begin"; });
  if (begin == question_.strategies.end()) return;
  const Settings usual =
      space_.strategy(static_cast<std::size_t>(begin - question_.strategies.begin()));
  std::vector<Settings> all{usual};
  for (const Row& row : rows) {
    if (row.settings != usual && is_certified(row.settings)) all.push_back(row.settings);
  }
  const std::vector<Situation> situations{
      {kShortFreeze.title, kShortFreeze.outage, kShortFreeze.options}, question_.situations.back()};
  SimulatedTrials tried = trials(situations, no_claims_, kFreshSeeds);
  for (std::size_t i = 0; i < situations.size() && all.size() > 1; ++i) {
    if (!tried.run(all, i, kBesideRuns)) return;
  }
  bar_.clear();
  for (const Row& row : rows) {
    if (std::find(all.begin() + 1, all.end(), row.settings) == all.end()) continue;
    const SituationFigures its = tried.figures(row.settings), others = tried.figures(usual);
    std::string fewer;
    const auto compare = [&](double share, double other, const Situation& situation) {
      if (other - share < kClearlyFewer) return;
      fewer += (fewer.empty() ? "success " : " and ") + success_text(share) + " in " +
               situation.title + " (begin " + success_text(other) + ')';
    };
    compare(its.in_outage.front(), others.in_outage.front(), situations.front());
    compare(its.in_errors.front(), others.in_errors.front(), situations.back());
    if (!fewer.empty()) print_wrapped(std::cout, "price of " + row.name + ": ", fewer);
  }
}

// Each setting that went through the whole race, by its load and its recovery.
void Recommendation::print_picture(const std::vector<Row>& rows) const {
  constexpr std::size_t kWidth = 72, kHeight = 12;
  struct Point {
    double x, y;
    char mark;
  };
  std::vector<Point> points;
  const auto add = [&](const SituationFigures& figures, char mark) {
    if (figures.back) points.push_back({figures.attempts, to_seconds(*figures.back), mark});
  };
  const std::vector<Settings> front = search_.front();
  for (const Settings& each : search_.ranked()) {
    const Standing standing = trials_.standing(each);
    if (standing.costs.empty() || standing.missed > 0) continue;
    const bool on_front = std::find(front.begin(), front.end(), each) != front.end();
    add(trials_.figures(each), standing.most_down() > 0 ? 'x' : on_front ? 'o' : '.');
  }
  for (const Row& row : rows) {
    if (!fresh_.standing(row.settings).costs.empty()) {
      add(fresh_.figures(row.settings),
          has_mark(row.name) ? static_cast<char>(std::toupper(row.name.front())) : 'D');
    }
  }
  if (points.empty()) return;
  double left = points.front().x, right = left, top = 1;
  for (const Point& each : points) {
    left = std::min(left, each.x);
    right = std::max(right, each.x);
    top = std::max(top, each.y);
  }
  std::vector<std::string> lines(kHeight, std::string(kWidth, ' '));
  const auto place = [](double share, std::size_t size) {
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(size - 1)));
  };
  for (const Point& each : points) {  // the rows last, above all others
    const double across = right > left ? (each.x - left) / (right - left) : 0;
    lines[place(1 - each.y / top, kHeight)][place(across, kWidth)] = each.mark;
  }
  std::cout
      << "\nBack after, of 90 % of the runs, over the load. o: not dominated; .: dominated; x: "
         "down in some runs;\nR, S, C, Y, D: recommended, safer, cheaper, yours, and the default below it in the table.\n";
  for (std::size_t i = 0; i < kHeight; ++i) {
    std::string label = i == 0 ? seconds_text(from_seconds(top)) : i + 1 == kHeight ? "0 s" : "";
    label.insert(0, 8 - std::min<std::size_t>(label.size(), 8), ' ');
    lines[i].erase(lines[i].find_last_not_of(' ') + 1);
    std::cout << label << " |" << lines[i] << '\n';
  }
  const std::string low = fixed(left, 2), high = fixed(right, 2);
  std::cout << std::string(9, ' ') << '+' << std::string(kWidth, '-') << '\n'
            << std::string(10, ' ') << low << std::string(kWidth - low.size() - high.size(), ' ')
            << high << '\n';
}

void Recommendation::print_settings(const std::vector<Row>& rows) const {
  const Settings& settings = rows.front().settings;
  const NamedOptions changes = space_.changes(settings);
  const std::string& strategy = space_.name(settings[0]);
  std::cout << "\nThe recommended settings"
            << (strategy == kYours ? " are yours" : ", for --config:")
            << (strategy == kYours && !changes.empty() ? " with\n" : "\n");
  if (strategy != kYours) {
    for (const auto& [name, value] : sorted_settings(space_, settings)) {
      std::cout << name << " = " << value << '\n';
    }
  }
  for (const auto& [name, value] : changes) {
    std::cout << name << " = " << value << "  # not " << space_.unchanged(name) << '\n';
  }
  if (settings[0] == 0 && !changes.empty()) {
    std::cout
        << changes.size() << " of " << space_.names().size()
        << " settings that were varied differ; a change of the others brings next to nothing.\n";
  }
  std::string full;
  for (const auto& [name, value] : space_.in_full(settings)) {
    full += (full.empty() ? "" : ", ") + name + " = " + value;
  }
  print_wrapped(std::cout, "In full: ", full);
  for (const Row& row : rows) {
    if (row.name == kSafer || row.name == kCheaper) {
      print_wrapped(std::cout, "The " + row.name + " ones: ", settings_text(row.settings));
    }
  }
  const ScenarioOptions options = scenario_of(space_.options_of(settings, question_.given));
  if (const auto length =
          options.graph.on() ? std::nullopt : advised_queue_length(look_ahead(options))) {
    print_wrapped(
        std::cout, "The service's part: ",
        "bound its queue, for example --queue-length=" + std::to_string(*length) +
            ", half of what can wait and still be answered in time. With that, search again: "
            "other settings may be enough.");
  }
  if (!question_.format) return;
  std::cout << '\n';
  print_exported(export_policy(options.workload, *question_.format, question_.names));
}

// As options, in one line.
std::string Recommendation::settings_text(const Settings& settings) const {
  std::string text;
  if (space_.name(settings[0]) == kYours) {
    text = kYours;
  } else {
    for (const auto& [name, value] : sorted_settings(space_, settings)) {
      text += (text.empty() ? "--" : " --") + name + '=' + value;
    }
  }
  for (const auto& [name, value] : space_.changes(settings)) text += " --" + name + '=' + value;
  return text;
}

// Whether it is the retries that keep the service down, and what the service could do about it.
void Recommendation::print_beyond_retries(const Settings& nearest) const {
  std::vector<TitledScenario> all;
  for (const Situation& each : question_.situations) {
    all.push_back({each.title, scenario_in(each, nearest)});
  }
  const bool hedged = all.front().options.workload.retry.hedge.any();
  print_wrapped(std::cout, hedged ? "without any retries or hedges: " : "without any retries: ",
                "down, or not back in time, " + down_with(study_, all, send_once));
  print_service_changes(study_, "", all, question_.given);
  std::cout << "`retrystorm remedies` has more that a service can do.\n";
}

// Which claims stand in the way.
void Recommendation::print_nearest() const {
  const std::vector<Settings> ranked = search_.ranked();
  std::cout << "No settings meet all claims.\n";
  const auto misses = [&](const Settings& settings) {
    std::string text;
    for (const auto& [claim, miss] : trials_.missed(settings)) {
      text += (text.empty() ? "" : ", ") + missed_text(claim, miss);
    }
    const Standing standing = trials_.standing(settings);
    for (std::size_t i = 0; i < standing.down.size(); ++i) {
      const DownRuns& down = standing.down[i];
      if (down.hits == 0) continue;
      text += (text.empty() ? "" : ", ") + question_.down.text + " (" +
              question_.situations[i].title + "): " + std::to_string(down.hits) + " of " +
              std::to_string(down.runs) + " runs";
    }
    return text;
  };
  if (!ranked.empty()) {
    print_wrapped(std::cout, "The nearest: ",
                  settings_text(ranked.front()) + " misses " + misses(ranked.front()));
  }
  std::string dropped;
  for (std::size_t i = 0; i < question_.situations.size(); ++i) {
    if (search_.dropped()[i] == 0) continue;
    dropped += (dropped.empty() ? "" : ", ") + std::to_string(search_.dropped()[i]) + " (" +
               question_.situations[i].title + ')';
  }
  if (!dropped.empty()) {
    print_wrapped(std::cout, "Dropped as down too often: ",
                  dropped + " of " + std::to_string(search_.tried().size()));
  }
  // Claims without which there are settings. The last one is that about `down`.
  bool freed = false;
  for (std::size_t c = 0; c <= question_.claims.size(); ++c) {
    const bool about_down = c == question_.claims.size();
    const auto only = std::find_if(ranked.begin(), ranked.end(), [&](const Settings& each) {
      const auto missed = trials_.missed(each);
      const bool down = trials_.standing(each).most_down() > 0;
      return about_down ? down && missed.empty()
                        : !down && missed.size() == 1 && missed.contains(c);
    });
    if (only == ranked.end()) continue;
    print_wrapped(
        std::cout,
        "Without " + (about_down ? question_.down.text : question_.claims[c].claim.text) + ": ",
        settings_text(*only) + " misses only " + misses(*only));
    freed = true;
  }
  if (ranked.empty()) {
    std::cout << question_.down.text << " alone is in the way.\n";
  } else if (!freed) {
    std::cout << "No claim alone is in the way.\n";
  }
  print_beyond_retries(ranked.empty() ? space_.strategy(0) : ranked.front());
  std::cout << "What is retried (--retry-on) and --timeout were not changed.\n";
}

void Recommendation::write(const std::vector<Row>& rows) {
  const auto options_json = [this](const Settings& settings) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    json["strategy"] = space_.name(settings[0]);
    if (space_.name(settings[0]) != kYours) {
      for (const auto& [name, value] : sorted_settings(space_, settings)) {
        json[underscored(name)] = value;
      }
    }
    for (const auto& [name, value] : space_.changes(settings)) json[underscored(name)] = value;
    return json;
  };
  for (const Settings& each : search_.ranked()) {
    if (trials_.standing(each).costs.empty()) continue;
    const SituationFigures figures = trials_.figures(each);
    nlohmann::ordered_json line{{"type", "candidate"},
                                {"settings", options_json(each)},
                                {"down", trials_.standing(each).most_down()},
                                {"claims_missed", trials_.missed(each).size()},
                                {"back_s", nullptr},
                                {"failed", rounded(figures.failed)},
                                {"attempts", rounded(figures.attempts)}};
    if (figures.back) line["back_s"] = rounded(to_seconds(*figures.back));
    study_.json().write(line);
  }
  for (const Row& row : rows) {
    study_.json().write({{"type", "setting"},
                         {"setting", row.name},
                         {"settings", options_json(row.settings)},
                         {"certified", is_certified(row.settings)}});
    for (std::size_t i = 0; i < question_.situations.size(); ++i) {
      const auto& runs = fresh_.runs(row.settings, i);
      if (!runs.empty())
        study_.write_row({row.name, question_.situations[i].title}, summarize(runs));
    }
  }
}

// "0 of 36 runs of a disturbance, 9.6 % at most (95 %)"
std::string Recommendation::down_text(const Standing& standing) const {
  DownRuns worst{.runs = std::numeric_limits<std::size_t>::max()};
  for (const DownRuns& each : standing.down) {
    if (each.runs > 0 && std::pair(each.hits, worst.runs) > std::pair(worst.hits, each.runs)) {
      worst = each;
    }
  }
  return std::to_string(worst.hits) + " of " + std::to_string(worst.runs) +
         " runs of a disturbance, " +
         narrow_percent(wilson_interval(worst.hits, worst.runs, kUsualMisses).high, 1) +
         " at most (95 %)";
}

// What is known where not every disturbance has been tried.
std::string Recommendation::found_in_part() const {
  std::string tried;
  std::size_t up = 0;
  const Settings* best = nullptr;
  for (const Settings& each : search_.tried()) {
    const Standing standing = trials_.standing(each);
    if (standing.down.empty() || standing.most_down() > 0) continue;
    if (std::none_of(standing.down.begin(), standing.down.end(),
                     [](const DownRuns& one) { return one.runs > 0; })) {
      continue;
    }
    ++up;
    if (best == nullptr) best = &each;
  }
  if (best == nullptr) return "Nothing can be said: hardly anything has been tried by then.";
  const Standing standing = trials_.standing(*best);
  for (std::size_t i = 0; i < standing.down.size(); ++i) {
    if (standing.down[i].runs == 0) continue;
    tried += (tried.empty() ? "" : ", ") + question_.situations[i].title;
  }
  return "Not every disturbance has been tried by then, but " + tried + ": " + std::to_string(up) +
         " of " + std::to_string(search_.tried().size()) +
         " settings were not down in it. The plainest of them: " + settings_text(*best) +
         ": down in " + down_text(standing) + '.';
}

int Recommendation::run() {
  const bool complete = work();
  bar_.clear();
  study_.end_work(complete);
  const std::vector<Row> all = rows();
  write(all);
  const bool certified = !all.empty() && all.front().name == kRecommended;
  if (found_.empty()) {
    if (complete) {
      print_nearest();
    } else if (const auto ranked = search_.ranked(); !ranked.empty()) {
      const Standing standing = trials_.standing(ranked.front());
      print_wrapped(
          std::cout, "",
          "The best of " + std::to_string(search_.tried().size()) + " settings by then: " +
              settings_text(ranked.front()) + ": down in " + down_text(standing) +
              ". It was chosen for its luck, too, so claim nothing before the rest has run.");
    } else {
      print_wrapped(std::cout, "", found_in_part());
    }
    const int code = study_.finish();
    return code == 0 ? kExitBroken : code;
  }
  print_plan(complete);
  const Table table = table_of(all);
  if (table.rows.empty()) {  // interrupted before its first fresh run
    print_wrapped(
        std::cout, "",
        "None of the " + std::to_string(found_.size()) +
            " best settings has had a run with a fresh seed yet. The best by then, of which no "
            "claim can be made: " +
            settings_text(found_.front()));
    const int code = study_.finish();
    return code == 0 ? kExitUndecided : code;
  }
  study_.show(table);
  std::cout << '\n';
  if (certified) print_choice(all);
  for (const Row& row : all) {
    if (row.name != kRecommended) {
      const bool refused = row.name.starts_with(kRefused) || row.name.starts_with(kUnfinished);
      print_wrapped(
          std::cout, row.name + ": ",
          (refused ? settings_text(row.settings) + ": " : "") + why_not(row, all.front().settings));
    }
  }
  if (complete && certified) {
    print_prices(all);
    print_timeouts(all.front().settings);
  }
  if (complete) {
    print_variations(all);
    if (certified) print_warning(all.front().settings);
    print_picture(all);
  }
  if (certified) print_settings(all);
  const int code = study_.finish();
  return code != 0 || certified ? code : kExitUndecided;
}

}  // namespace retrystorm
