// What `retrystorm recommend` prints.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <utility>

#include "common/output/json_text.h"
#include "model/base/text.h"
#include "retrystorm/policy_files.h"
#include "retrystorm/policy_runs.h"
#include "retrystorm/recommend.h"
#include "study/notes.h"

namespace retrystorm {
namespace {

// The outage of which the table has the success: frozen for 10 s. A mean over outages of other lengths says little.
constexpr std::size_t kShownOutage = 1;

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
  return distance(row.settings, recommended);
}

// What differs clearly in the certificate's runs and in the variations.
std::string Recommendation::distance(const Settings& settings, const Settings& recommended) const {
  const SituationFigures ours = fresh_.figures(recommended), its = fresh_.figures(settings);
  std::string text;
  const auto add = [&text](double difference, double least, const std::string& what,
                           const std::string& amount) {
    if (std::abs(difference) < least) return;
    text += (text.empty() ? "" : ", ") + what + (difference > 0 ? " +" : " -") + amount;
  };
  const double failed = its.failed - ours.failed, attempts = its.attempts - ours.attempts;
  add(failed, 0.001, "failed requests", percent(std::abs(failed), 1));
  add(attempts, 0.01, "attempts of a request", fixed(std::abs(attempts), 2));
  if (ours.back && its.back) {
    const double back = to_seconds(*its.back) - to_seconds(*ours.back);
    add(back, 0.5, "back after", print_number(rounded(std::abs(back))) + " s");
  } else if (ours.back || its.back) {
    text +=
        (text.empty() ? "" : ", ") + std::string(its.back ? "back in time" : "not back in time");
  }
  const double down = static_cast<double>(down_when_varied(settings)) -
                      static_cast<double>(down_when_varied(recommended));
  add(down, 1, "down where something differs", print_number(std::abs(down)) + " runs");
  return text.empty() ? "nothing tells them apart" : text;
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
  std::cout << ".\n";
  if (question_.multiplexed) std::cout << kRunMultiplexed << '\n';
  std::cout << "Certified: down, or not back in time, in at most " << certificate_.most_for
            << " of " << certificate_.runs << " runs of each with fresh seeds (95 %).\n";
  if (!complete) std::cout << "Interrupted: what is unfinished is not certified.\n";
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

// What is recommended, why not what the search started from, and how far away the second is.
void Recommendation::print_choice(const std::vector<Row>& rows) const {
  const Settings& settings = rows.front().settings;
  const std::string& base = space_.name(settings[0]);
  std::string what = base;
  for (const auto& [name, value] : space_.changes(settings)) {
    what += (what == base ? " with " : ", ") + name + " = " + value;
  }
  if (settings == space_.strategy(0)) {
    what += " as it is: of " + std::to_string(search_.tried().size()) +
            " settings none stays up where this is down, and none costs clearly less";
  }
  print_wrapped(std::cout, std::string(kRecommended) + ": ", what);
  bool second = false;
  for (const Row& row : rows) {
    const bool start = row.settings == space_.strategy(0);
    if (row.settings == settings || (second && !start)) continue;
    print_wrapped(std::cout, row.name + ": ", why_not(row, settings));
    second = second || !start;
  }
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
  print_wrapped(std::cout, "Warning: ",
                "the recommended settings are down where this differs: " + where + '.');
}

void Recommendation::print_settings(const Settings& settings) const {
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
  std::string full;
  for (const auto& [name, value] : space_.in_full(settings)) {
    full += (full.empty() ? "" : ", ") + name + " = " + value;
  }
  print_wrapped(std::cout, "In full: ", full);
  const ScenarioOptions options = scenario_of(space_.options_of(settings, question_.given));
  if (const auto length =
          options.graph.on() ? std::nullopt : advised_queue_length(look_ahead(options))) {
    print_wrapped(std::cout, "The service's part: ",
                  "bound its queue, such as --queue-length=" + std::to_string(*length) +
                      ", and search again: other settings may be enough.");
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

// What stands in the way.
void Recommendation::print_nearest() const {
  std::cout << "No settings meet all claims.\n";
  const std::vector<Settings> ranked = search_.ranked();
  if (ranked.empty()) {
    std::cout << question_.down.text << " is in the way: all settings are down too often.\n";
  } else {
    std::string misses;
    for (const auto& [claim, miss] : trials_.missed(ranked.front())) {
      misses += (misses.empty() ? "" : ", ") + missed_text(claim, miss);
    }
    const Standing standing = trials_.standing(ranked.front());
    for (std::size_t i = 0; i < standing.down.size(); ++i) {
      const DownRuns& down = standing.down[i];
      if (down.hits == 0) continue;
      misses += (misses.empty() ? "" : ", ") + question_.down.text + " (" +
                question_.situations[i].title + "): " + std::to_string(down.hits) + " of " +
                std::to_string(down.runs) + " runs";
    }
    print_wrapped(std::cout, "The nearest: ", settings_text(ranked.front()) + " misses " + misses);
  }
  std::cout << "`retrystorm remedies` has what a service can do.\n";
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
      print_wrapped(std::cout, "",
                    "The best of " + std::to_string(search_.tried().size()) +
                        " settings by then: " + settings_text(ranked.front()) + ": down in " +
                        down_text(standing) + ". Claim nothing before the rest has run.");
    } else {
      std::cout << "Nothing can be said: not every disturbance has been tried by then.\n";
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
  if (certified) {
    print_choice(all);
    if (complete) print_warning(all.front().settings);
  } else {
    print_wrapped(std::cout, all.front().name + ": ", why_not(all.front(), all.front().settings));
  }
  // The others are known by their names.
  for (const Row& row : all) {
    if (row.name == kSafer || row.name == kCheaper || row.name.starts_with(kRefused) ||
        row.name.starts_with(kUnfinished)) {
      print_wrapped(std::cout, "The settings of " + row.name + ": ", settings_text(row.settings));
    }
  }
  if (certified) print_settings(all.front().settings);
  const int code = study_.finish();
  return code != 0 || certified ? code : kExitUndecided;
}

}  // namespace retrystorm
