// What `retrystorm recommend` prints.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <utility>

#include "common/output/answer.h"
#include "common/output/json_text.h"
#include "model/base/text.h"
#include "retrystorm/policy_files.h"
#include "retrystorm/recommend.h"
#include "words/words.h"

namespace retrystorm {
namespace {

// A value as the claim about it has it.
std::string value_text(const Expectation& claim, double value) {
  if (!std::isfinite(value)) return "never";
  if (claim.percent) return fixed(100 * value, 2) + '%';
  if (claim.time_unit > 0) return format_duration(from_seconds(rounded(value * claim.time_unit)));
  return print_number(rounded(value));
}

const char* more_or_less(double difference, const char* more, const char* less) {
  return difference > 0 ? more : less;
}

}  // namespace

// Why these settings are not the recommended ones.
Statements Recommendation::why_not(const Row& row, const Settings& recommended) const {
  const Standing standing = fresh_.standing(row.settings);
  for (std::size_t i = 0; i < standing.down.size(); ++i) {
    const DownRuns& down = standing.down[i];
    if (down.hits > certificate_.most_for) {
      return {{"setting-down",
               {counted("down", down.hits),
                counted("runs", down.runs),
                {"fault", question_.situations[i].title}}}};
    }
  }
  if (!passes(certificate_, standing)) return {{"setting-interrupted"}};
  Statements claims;
  for (const auto& [claim, miss] : fresh_.missed(row.settings, 2 * misses_)) {
    claims.push_back(missed(claim, miss));
  }
  return claims.empty() ? distance(row.settings, recommended) : claims;
}

// What differs clearly in the certificate's runs and in the variations.
Statements Recommendation::distance(const Settings& settings, const Settings& recommended) const {
  const SituationFigures ours = fresh_.figures(recommended), its = fresh_.figures(settings);
  Statements all;
  if (const double failed = its.failed - ours.failed; std::abs(failed) >= 0.001) {
    all.push_back({more_or_less(failed, "setting-more-failed", "setting-less-failed"),
                   {{"share", ShareOf{std::abs(failed)}}}});
  }
  if (const double attempts = its.attempts - ours.attempts; std::abs(attempts) >= 0.01) {
    all.push_back({more_or_less(attempts, "setting-more-attempts", "setting-less-attempts"),
                   {{"attempts", std::abs(attempts)}}});
  }
  if (ours.back && its.back) {
    const Duration later = *its.back - *ours.back;
    if (std::chrono::abs(later) >= std::chrono::milliseconds(500)) {
      all.push_back({later > Duration::zero() ? "setting-later" : "setting-sooner",
                     {{"time", std::chrono::abs(later)}}});
    }
  } else if (ours.back || its.back) {
    all.push_back({its.back ? "setting-back" : "setting-not-back"});
  }
  const double down = static_cast<double>(down_when_varied(settings)) -
                      static_cast<double>(down_when_varied(recommended));
  if (down != 0) {
    all.push_back(
        {more_or_less(down, "setting-more-down", "setting-less-down"), {{"runs", std::abs(down)}}});
  }
  return all.empty() ? Statements{{"setting-same"}} : all;
}

Statement Recommendation::missed(std::size_t claim, const MissedClaim& miss) const {
  const SituationClaim& missed = question_.claims[claim];
  return {"setting-misses",
          {{"claim", missed.claim.text},
           {"fault", question_.situations[miss.situation].title},
           {"value", value_text(missed.claim, miss.value)}}};
}

// A remark behind a row says why it is not the recommended one: of the first two that are not.
Table Recommendation::table_of(const std::vector<Row>& rows) const {
  // The outage of which the table has the success: one's own, or frozen for 10 s. A mean over outages of other lengths
  // says little.
  const std::size_t shown = question_.outages / 2;
  Table table{.columns = {{.title = "setting", .code = true},
                          {.title = "down", .group = "stays"},
                          {.title = "at most", .group = "stays", .rank = 2},
                          {.title = "after", .group = "back"},
                          {.title = question_.situations[shown].title, .group = "answered"},
                          {.title = "errors 10 %", .group = "answered"},
                          {.title = "50 %", .group = "answered"},
                          {.title = "per request", .group = "attempts"},
                          {.title = "in an outage", .group = "attempts", .rank = 1}},
              .rows = {}};
  if (parting_ != nullptr) {
    table.columns.insert(table.columns.begin() + 4, {.title = parting_->title, .group = "back"});
  }
  std::size_t reasons = 0;
  for (const Row& row : rows) {
    const Standing standing = fresh_.standing(row.settings);
    const auto worst = std::max_element(
        standing.down.begin(), standing.down.end(), [](const DownRuns& a, const DownRuns& b) {
          return a.hits < b.hits || (a.hits == b.hits && a.runs > b.runs);
        });
    if (worst->runs == 0) continue;
    std::vector<std::string> texts{
        row.name, words_of({"of", {counted("part", worst->hits), counted("all", worst->runs)}}),
        share_words(greatest_share(worst->hits, worst->runs, misses_))};
    if (standing.costs.empty()) {
      texts.resize(table.columns.size(), "-");
    } else {
      const SituationFigures figures = fresh_.figures(row.settings);
      const auto time_text = [](const std::optional<Duration>& time) {
        return time ? time_words(*time) : words_of("not-in-time");
      };
      const auto answered = [](const std::optional<double>& share) {
        return share ? share_words(*share) : "-";
      };
      texts.push_back(time_text(figures.back));
      if (parting_ != nullptr) {
        texts.push_back(time_text(back_of(row.settings, *parting_)));
      }
      texts.push_back(answered(figures.in_outage[shown]));
      for (const double each : figures.in_errors) texts.push_back(answered(each));
      texts.push_back(number_words(figures.attempts));
      texts.push_back(number_words(figures.most_attempts));
    }
    const bool is_choice = row.name == kRecommended;
    const bool has_reason = !is_choice && (row.name == kYours || reasons++ == 0);
    table.rows.push_back(std::move(texts));
    table.tones.push_back(is_choice                    ? Tone::kGood
                          : is_certified(row.settings) ? Tone::kPlain
                                                       : Tone::kDoubt);
    table.remarks.push_back(has_reason ? words_of(why_not(row, rows.front().settings)) : "");
  }
  return table;
}

// What is recommended: in one sentence, and as options.
void Recommendation::print_choice(const Settings& settings) const {
  const bool as_it_is = settings == space_.strategy(0);
  const auto tried = static_cast<double>(search_.tried().size());
  print_headline(std::cout,
                 {Tone::kGood,
                  {as_it_is ? "recommend-start" : "recommend-found",
                   {{"what", as_it_is ? space_.name(settings[0]) : settings_text(settings)},
                    {"count", tried}}}},
                 style());
  std::vector<std::string> full;
  for (const auto& [name, value] : space_.in_full(settings)) full.push_back(name + "=" + value);
  std::cout << fitted("  ", list_words(full, "  "), style());
}

// What is certified holds for what was given only.
void Recommendation::print_beside(const Settings& recommended, bool complete) const {
  std::vector<std::string> where;
  std::size_t up = 0;
  for (const Variation& variation : variations_) {
    const DownRuns worst = worst_of(recommended, variation);
    if (worst.runs > 0 && worst.hits == 0) ++up;
    if (worst.hits == 0) continue;
    where.push_back(words_of(
        {"variation-down",
         {{"what", variation.title}, counted("down", worst.hits), counted("runs", worst.runs)}}));
  }
  const auto tell = [this](const Statement& what, Tone tone) {
    print_below(std::cout, words_of(what), tone, style());
  };
  if (!complete) return tell({"recommend-interrupted"}, Tone::kDoubt);
  if (where.empty()) {
    tell({"recommend-varied", {counted("count", up)}}, Tone::kPlain);
  } else {
    tell({"recommend-varied-down", {{"list", list_words(where)}}}, Tone::kDoubt);
  }
  const ScenarioOptions options = scenario_of(space_.options_of(recommended, question_.given));
  if (const auto length =
          options.graph.on() ? std::nullopt : advised_queue_length(look_ahead(options))) {
    tell({"recommend-queue", {{"length", std::to_string(*length)}}}, Tone::kPlain);
  }
  const double most = greatest_share(certificate_.most_for, certificate_.runs, misses_);
  tell({options_.start.empty() ? "recommend-below" : "recommend-below-start",
        {{"share", ShareOf{most}}, {"seed", std::to_string(study_.seed())}}},
       Tone::kDim);
}

// Of a named strategy its name first, then what differs from it; and the changes. Yours are known.
std::vector<std::pair<std::string, std::string>> Recommendation::own_settings(
    const Settings& settings) const {
  std::vector<std::pair<std::string, std::string>> all;
  if (space_.name(settings[0]) != kYours) {
    for (const auto& each : space_.settings_of(settings[0])) {
      all.insert(each.first == "strategy" ? all.begin() : all.end(), each);
    }
  }
  const NamedOptions changes = space_.changes(settings);
  all.insert(all.end(), changes.begin(), changes.end());
  return all;
}

// As options, in one line.
std::string Recommendation::settings_text(const Settings& settings) const {
  std::vector<std::string> words;
  if (space_.name(settings[0]) == kYours) words.emplace_back(kYours);
  for (const auto& [name, value] : own_settings(settings)) {
    words.push_back("--" + name + '=' + value);
  }
  return list_words(words, " ");
}

// What stands in the way.
void Recommendation::print_nearest() const {
  const std::vector<Settings> ranked = search_.ranked();
  Statements why;
  if (ranked.empty()) {
    why.push_back({"recommend-all-down", {{"claim", question_.down.text}}});
  } else {
    for (const auto& [claim, miss] : trials_.missed(ranked.front()))
      why.push_back(missed(claim, miss));
    const Standing standing = trials_.standing(ranked.front());
    for (std::size_t i = 0; i < standing.down.size(); ++i) {
      if (standing.down[i].hits == 0) continue;
      why.push_back({"setting-down",
                     {counted("down", standing.down[i].hits),
                      counted("runs", standing.down[i].runs),
                      {"fault", question_.situations[i].title}}});
    }
  }
  print_headline(
      std::cout,
      {Tone::kBad,
       {"recommend-none", {counted("count", search_.tried().size()), {"why", words_of(why)}}}},
      style());
  if (!ranked.empty()) {
    std::cout << fitted(
        "  ", words_of({"recommend-nearest", {{"what", settings_text(ranked.front())}}}), style());
  }
  print_dim(std::cout, words_of("recommend-what-else"), style());
}

void Recommendation::write(const std::vector<Row>& rows) {
  const auto options_json = [this](const Settings& settings) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    json["strategy"] = space_.name(settings[0]);
    for (const auto& [name, value] : own_settings(settings)) json[underscored(name)] = value;
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

// Interrupted before any settings were certified: the best by then.
void Recommendation::print_best_so_far() const {
  const std::vector<Settings> ranked = search_.ranked();
  const std::string best = !found_.empty()   ? settings_text(found_.front())
                           : !ranked.empty() ? settings_text(ranked.front())
                                             : "";
  print_headline(std::cout,
                 {Tone::kDoubt,
                  {best.empty() ? "recommend-nothing-yet" : "recommend-best-so-far",
                   {{"what", best}, counted("count", search_.tried().size())}}},
                 style());
}

int Recommendation::run() {
  const bool complete = work();
  bar_.clear();
  study_.end_work(complete);
  const std::vector<Row> all = rows();
  write(all);
  if (found_.empty()) {
    if (complete) {
      print_nearest();
    } else {
      print_best_so_far();
    }
    const int code = study_.finish();
    return code == 0 ? kExitBroken : code;
  }
  const bool certified = !all.empty() && all.front().name == kRecommended;
  const Table table = table_of(all);
  if (table.rows.empty()) {  // interrupted before its first fresh run
    print_best_so_far();
    const int code = study_.finish();
    return code == 0 ? kExitUndecided : code;
  }
  if (certified) {
    print_choice(all.front().settings);
  } else {
    print_headline(std::cout,
                   {Tone::kDoubt,
                    {"recommend-not-certified",
                     {{"row", all.front().name},
                      {"why", words_of(why_not(all.front(), all.front().settings))}}}},
                   style());
  }
  study_.show(table);
  // The others are known by their names.
  for (const Row& row : all) {
    if (!row.is_found || row.name == kRecommended) continue;
    std::cout << fitted("  " + row.name + ": ", settings_text(row.settings), style());
  }
  if (certified) {
    print_beside(all.front().settings, complete);
    if (question_.format) {
      const ScenarioOptions options =
          scenario_of(space_.options_of(all.front().settings, question_.given));
      std::cout << '\n';
      print_exported(export_policy(options.workload, *question_.format, question_.names));
    }
  }
  const int code = study_.finish();
  return code != 0 || certified ? code : kExitUndecided;
}

}  // namespace retrystorm
