// The service has collapsed: which remedy brings it back, and how soon? Each is tried in the same storms.
#include "retrystorm/remedies.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <optional>

#include "common/output/json_text.h"
#include "common/output/style.h"
#include "model/base/text.h"
#include "model/run/outlook_formulas.h"
#include "retrystorm/study_command.h"
#include "simulator/graph/topology_options.h"
#include "simulator/scenario_options.h"
#include "study/cell_answer.h"
#include "words/words.h"

namespace retrystorm {
namespace {

// The least number of a remedy that suits all cases. Infinite if it cannot be computed.
struct Bound {
  double value = kUnlimited;
  double has = kUnlimited;  // the least that a service has already

  void see(double its_value, double its_own) {
    value = std::min(value, its_value);
    has = std::min(has, its_own);
  }
};

struct Bounds {
  Bound rate, shed_above, places, age;  // `age` in seconds
};

ServiceOptions service_of(const ScenarioOptions& scenario) {
  if (!scenario.graph.on()) return scenario.service;
  const Topology topology = topology_of(scenario);
  return topology.nodes[find_node(topology, scenario.graph.outage_of, "--outage-of")].service;
}

// Up to two digits, so that 119.2 is 120.
double rounded_up(double value) {
  if (!(value > 0 && std::isfinite(value))) return value;
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return to_digits(std::ceil(to_digits(value / unit, 9)) * unit, 2);
}

// Of requests or workers: a whole number.
double whole(double count) {
  return std::ceil(rounded_up(count));
}

// Takes a case by the rules. With a number that is half of the timeout or less, a request that is let in can still be
// answered in time.
void see(const ScenarioOptions& scenario, Bounds& bounds) {
  const ServiceOptions service = service_of(scenario);
  const double capacity = capacity_of(service);
  // How much of the load comes to one of several services is not computed. Each host has its own part and limits.
  ScenarioOptions unscaled = scenario;
  unscaled.scale = 1;
  const double load = scenario.graph.on() ? kUnlimited
                                          : look_ahead(unscaled).wanted /
                                                static_cast<double>(scenario.hosts.replicas);
  double rate = kUnlimited, shed_above = kUnlimited, places = kUnlimited, age = kUnlimited;
  if (load < capacity && capacity != kUnlimited) {
    const double above = load + (capacity - load) / 5;
    rate = rounded_up(above) < capacity ? rounded_up(above) : above;
  }
  if (scenario.workload.has_timeout()) {
    const Duration half = scale(scenario.workload.timeout, 0.5);
    age = to_seconds(half);
    if (service.capacity == Capacity::kCurve) {
      shed_above = whole(late_from(service, half));
      places = whole(late_from(service, half) / 2);
    } else if (capacity != kUnlimited) {
      const double answered = capacity * age;
      shed_above = whole(std::max(answered, static_cast<double>(service.workers.workers)));
      places = whole(answered / 2);
    }
  }
  bounds.rate.see(rate, service.rate_limit.rate > 0 ? service.rate_limit.rate : kUnlimited);
  bounds.shed_above.see(shed_above, or_unlimited(service.shed_above, 0));
  bounds.places.see(places, or_unlimited(service.workers.queue_length, WorkerSettings::kUnbounded));
  const QueueDrop& drop = service.workers.drop;
  bounds.age.see(age, drop.kind == QueueDrop::Kind::kAge ? to_seconds(drop.time) : kUnlimited);
}

}  // namespace

std::vector<UsualRemedy> usual_remedies(const std::vector<ScenarioOptions>& cases) {
  Bounds bounds;
  for (const ScenarioOptions& each : cases) see(each, bounds);
  std::vector<UsualRemedy> all{{"nothing", ""},
                               {"a tenth of the load for 60 s", "60s load 0.1; 120s load 1"},
                               {"hardly any load and then steps",
                                "60s load 0.01; 80s load 0.25; 100s load 0.5; 120s load 1"},
                               {"twice the capacity", "60s capacity 2"},
                               {"ten times the capacity", "60s capacity 10"}};
  // `%` stands for the number.
  const auto add = [&](const Bound& bound, const std::string& unknown, const std::string& title,
                       const std::string& actions, const std::string& unit = "",
                       const std::string& typed_unit = "") {
    const auto with = [](std::string text, const std::string& number) {
      return text.replace(text.find('%'), 1, number);
    };
    if (bound.value == kUnlimited || bound.value < 1e-6) {
      all.push_back({with(title, "..."), "", unknown});
      return;
    }
    const std::string number = print_number(to_digits(bound.value, 6));
    UsualRemedy remedy{with(title, number + unit), with(actions, number + typed_unit)};
    if (bound.has <= bound.value) {
      remedy.left_out =
          "it is not below the limit that the service has, " + print_number(bound.has) + unit;
    }
    all.push_back(std::move(remedy));
  };
  const std::string no_answers =
      "what is answered within half of the timeout is not known (--timeout, --service-time)";
  add(bounds.rate, "the load is not known to be below the capacity", "rate limit of %",
      "60s set rate-limit=%", "/s");
  add(bounds.shed_above, no_answers, "shed above %", "60s set shed-above=%");
  all.push_back({"restart", "60s restart"});
  add(bounds.shed_above, no_answers, "restart and shed above %",
      "60s restart; 60s set shed-above=%");
  add(bounds.places, no_answers, "a queue of % places", "60s set queue-length=%");
  add(bounds.age, "there is no timeout", "drop what has waited %", "60s set queue-drop=age:%", " s",
      "s");
  all.push_back({"newest first (LIFO)", "60s set queue-order=lifo"});
  return all;
}

namespace {

struct RemediesOptions : StudyOptions {
  RemediesOptions() {
    runs = 20;
    observe = std::chrono::seconds(190);
  }

  std::vector<std::string> remedies;
  std::string strategies, picture_data;
};

void declare(CLI::App& app, RemediesOptions& options) {
  add_study_options(app, options);
  auto* study = option_group(app, "Study");
  add_repeated(*study, "--remedy", "TEXT", options.remedies,
               "'TITLE: TIME ACTION; TIME ACTION ...': this remedy instead of the usual ones, with "
               "actions as --at has them; repeated: these")
      ->group("Study");
  add_strategies(*study, options.strategies, "a case for each of these strategies",
                 "; not given: the three usual cases");
  add_picture_data(*study, options.picture_data);
}

UsualRemedy parse_remedy(const std::string& text) {
  const std::size_t end = text.find_first_of(":,'\"");
  if (end == 0 || end == std::string::npos || text[end] != ':') {
    refuse("a remedy is 'TITLE: TIME ACTION; ...', with no comma or quote in its title, not " +
           text);
  }
  return {text.substr(0, end), std::string(trimmed(text.substr(end + 1)))};
}

Duration end_of_outage(const ScenarioOptions& scenario) {
  const auto outage = scenario.outage();
  return saturating_add(outage.at, outage.length);
}

// A usual remedy's actions as long after the end of this outage as after that of the usual one, and at the load that
// there is then.
std::string moved(const std::string& actions, const ScenarioOptions& scenario) {
  const Duration later = std::chrono::floor<std::chrono::milliseconds>(
      end_of_outage(scenario) - end_of_outage(ScenarioOptions()));
  double load = 1;
  for (const TimedAction& each : scenario.timeline.at) {
    if (each.action.kind == Action::Kind::kLoad) load = each.action.factor;
  }
  if ((later == Duration::zero() && load == 1) || actions.empty()) return actions;
  const std::vector<TimedAction> at = scenario_of({{"at", actions}}).timeline.at;
  std::vector<std::string> all;
  for (TimedAction each : at) {
    each.t = saturating_add(each.t, later);
    if (each.action.kind == Action::Kind::kLoad) each.action.factor *= load;
    all.push_back(print_timed(each));
  }
  return list_words(all, "; ");
}

struct Case {
  std::string title;
  NamedOptions options;
};

// A remedy, and what came of it.
struct Tried : UsualRemedy {
  std::vector<std::optional<CellResult>> results{};  // by case
  std::size_t tried = 0, back = 0;                   // in how many cases
  Duration took{0};                                  // until it was back, in all of them
};

// A cell of the study: a remedy in a case.
struct TriedIn {
  std::size_t one = 0, remedy = 0;
  NamedOptions options{};
};

// A case for each strategy. Without a list of them, given options describe the only case.
std::vector<Case> cases_of(const Compared& asked) {
  std::vector<Case> cases;
  for (const ListedStrategy& each : asked.strategies) {
    cases.push_back({each.name, with_strategy(asked.given, each)});
  }
  if (!cases.empty()) return cases;
  if (!asked.given.empty()) return {{"this service", asked.given}};
  return {{"slows with load, endless retries", {}},
          {"workers, endless retries", {{"service", "workers"}}},
          {"workers, 3 retries",
           {{"service", "workers"}, {"arrivals", "open"}, {"rate", "100"}, {"max-retries", "3"}}}};
}

// Why one of the actions has no effect on this service; empty if all have one.
std::string no_effect(const ScenarioOptions& scenario) {
  const UnusedOptions unused = unused_options(scenario);
  if (const auto found = unused.find("at"); found != unused.end()) return found->second;
  try {
    changes(scenario);
  } catch (const NoEffect& error) {
    return error.what();
  }
  return "";
}

// "50/s of 99/s", if the service as the last action leaves it can answer less than a recovery from that load takes;
// otherwise empty.
std::string held_below_load(const ScenarioOptions& scenario, const CellResult& cell) {
  const std::vector<Change> all = changes(scenario);
  if (scenario.graph.on() || all.empty() || cell.recovered > 0 || !cell.phases[0].ok_per_s) {
    return "";
  }
  const Change& last = all.back();
  if (last.service.rate_limit.autoscale.kind != AutoscaleKind::kNone) return "";
  const double wanted = *cell.phases[0].ok_per_s * last.load;
  const double most =
      capacity_of(last.service) * scenario.scale * static_cast<double>(scenario.hosts.replicas);
  constexpr double kBack = 0.9;  // of what is wanted, as the verdict takes it
  if (most >= kBack * wanted) return "";
  return print_number(to_digits(most, 2)) + "/s of " + print_number(to_digits(wanted, 2)) + "/s";
}

// Few people know how long the accept queue of their server is. This one is that of Go, the longest.
constexpr std::size_t kLongBacklog = 4096;

class Remedies {
 public:
  Remedies(const Invocation& invocation, const RemediesOptions& options)
      : options_(options),
        asked_(compared(invocation, options.strategies, {}, {})),
        cases_(cases_of(asked_)),
        are_usual_(options.remedies.empty()),
        is_own_(!asked_.given.empty() || !asked_.strategies.empty()) {
    if (options.outage_length() == Duration::zero()) {
      refuse("--outage-for=0s: nothing has collapsed, so nothing needs a remedy");
    }
    choose();
    study_.emplace(invocation, options, StudyPlan{.labels = {"case", "remedy"}, .cells = cells()});
    if (is_own_) tell_question(invocation);
  }

  // Returns the exit code.
  int run() {
    const auto results = study_->run([this](std::size_t cell, CellResult& result) {
      result.held = held_below_load(scenario_of(cells_[cell].options), result);
    });
    if (!results) return study_->finish();
    for (std::size_t i = 0; i < results->size(); ++i) take(cells_[i], (*results)[i]);
    if (!asked_.strategies.empty()) print_overruling(asked_.given, asked_.strategies);
    write_picture_data();
    // The best first, and of these the fastest.
    std::ranges::stable_sort(remedies_, [](const Tried& a, const Tried& b) {
      return a.back != b.back ? a.back > b.back : a.took < b.took;
    });
    study_->show(table());
    tell();
    return study_->finish();
  }

 private:
  NamedOptions options_with(const Case& one, const UsualRemedy& remedy) const {
    NamedOptions all = one.options;
    all.emplace("observe", format_duration(options_.observe));
    const std::string actions =
        are_usual_ ? moved(remedy.actions, scenario_of(all)) : remedy.actions;
    if (actions.empty()) return all;
    std::string& at = all["at"];
    at += (at.empty() ? "" : "; ") + actions;
    return all;
  }

  // The remedies that have an effect in a case.
  void choose() {
    std::vector<UsualRemedy> listed;
    if (are_usual_) {
      std::vector<ScenarioOptions> scenarios;
      for (const Case& one : cases_) scenarios.push_back(scenario_of(options_with(one, {})));
      listed = usual_remedies(scenarios);
    }
    for (const std::string& text : options_.remedies) listed.push_back(parse_remedy(text));
    for (const UsualRemedy& remedy : listed) {
      std::string why = remedy.left_out;
      const bool can_be = why.empty() && std::ranges::any_of(cases_, [&](const Case& each) {
                            why = no_effect(scenario_of(options_with(each, remedy)));
                            return why.empty();
                          });
      if (can_be) {
        remedies_.push_back({remedy});
        remedies_.back().results.resize(cases_.size());
      } else if (are_usual_) {
        left_out_.push_back({"left-out", {{"what", remedy.title}, {"why", why}}});
      } else {
        refuse("--remedy " + in_quotes(remedy.title) + ": " + why);
      }
    }
  }

  std::vector<StudyCell> cells() {
    std::vector<StudyCell> cells;
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      for (std::size_t r = 0; r < remedies_.size(); ++r) {
        NamedOptions of_cell = options_with(cases_[c], remedies_[r]);
        const ScenarioOptions scenario = scenario_of(of_cell);
        if (!no_effect(scenario).empty()) continue;  // a curve has no queue
        cells.push_back({{cases_[c].title, remedies_[r].title}, scenario});
        cells_.push_back({c, r, std::move(of_cell)});
      }
    }
    return cells;
  }

  // What is assumed of a service of one's own, and what the times mean.
  void tell_question(const Invocation& invocation) {
    std::vector<std::size_t> one_of_each;  // case
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (i == 0 || cells_[i].one != cells_[i - 1].one) one_of_each.push_back(i);
    }
    std::vector<std::string> set_here;
    for (const Case& each : cases_) {
      for (const auto& [name, value] : each.options) {
        if (!asked_.given.contains(name)) set_here.push_back(name);
      }
    }
    study_->tell_outlook(invocation, one_of_each, set_here);
    const Statement back{are_usual_ ? "remedies-back-after-usual" : "remedies-back-after", {}};
    std::cerr << fitted("remedies   ", words_of(back), style_of(2));
  }

  void take(const TriedIn& cell, const CellResult& result) {
    Tried& remedy = remedies_[cell.remedy];
    remedy.results[cell.one] = result;
    ++remedy.tried;
    // It ends a collapse only if nine tenths of the runs are back.
    if (result.decided() > 0 && result.recovery_p90) {
      ++remedy.back;
      remedy.took = saturating_add(remedy.took, *result.recovery_p90);
    }
    if (remedy.actions.empty() && result.recovered == result.runs) {
      unharmed_.push_back({"remedies-nothing-to-do", {{"case", cases_[cell.one].title}}});
    }
    if (is_lost_with_long_backlog(cell, result)) lost_[cell.one].push_back(remedy.title);
  }

  // Does it help, and not where more connections wait to be accepted?
  bool is_lost_with_long_backlog(const TriedIn& cell, const CellResult& result) const {
    constexpr std::size_t kRunsBeside = 10;
    ScenarioOptions scenario = scenario_of(cell.options);
    if (!is_own_ || result.decided() == 0 || result.mostly_not_back() ||
        cell.options.contains("backlog") || scenario.scale != 1 || scenario.graph.on() ||
        scenario.workload.connections.multiplexed() ||
        scenario.timeline.outage.kind != Disturbance::Kind::kFreeze) {
      return false;
    }
    scenario.service.backlog = kLongBacklog;
    const auto beside =
        study_->evaluator().summary(scenario, study_->seed(), std::min(options_.runs, kRunsBeside));
    return beside && beside->mostly_not_back();
  }

  // With --verbose how many runs are down, and the attempts, too.
  Table table() const {
    std::vector<ComparedIn::Figure> figures{
        {"back after", 0,
         [](const CellResult& cell) {
           const bool alike = !cell.time_to_recovery || cell.recovery_p90 == cell.time_to_recovery;
           return back_words(cell) + (alike ? "" : " (90 %: " + back_words(cell, 0.9) + ')');
         }},
        {"down", 0,
         [](const CellResult& cell) {
           const auto down = cell.down();
           return cell.unsettled().empty() && down ? share_words(down->value)
                                                   : std::string(cell.unsettled());
         }},
        {"attempts", 0, [](const CellResult& cell) { return number_words(cell.amplification); }}};
    if (!options_.look.verbose && options_.table.markdown.empty()) figures.resize(1);
    std::vector<ComparedIn> cases;
    for (const Case& each : cases_) cases.push_back({each.title, figures});
    std::vector<std::string> titles;
    for (const Tried& each : remedies_) titles.push_back(each.title);
    Table table =
        compared_in(cases, {.title = "remedy"}, titles, [this](std::size_t one, std::size_t row) {
          const auto& result = remedies_[row].results[one];
          return result ? &*result : nullptr;
        });
    for (const Tried& each : remedies_) {
      table.tones.push_back(each.back == each.tried ? Tone::kGood
                            : each.back > 0         ? Tone::kDoubt
                                                    : Tone::kBad);
    }
    return table;
  }

  void tell() const {
    std::vector<std::string> for_all;
    for (const Tried& each : remedies_) {
      const bool all = each.back == each.tried && each.tried == cases_.size();
      if (all && !each.actions.empty()) for_all.push_back(each.title);
    }
    for (const Statement& each : unharmed_) say(each);
    if (unharmed_.empty()) {
      say({for_all.empty() ? "remedies-none" : "remedies-for-all",
           {{"remedies", list_words(for_all)}}});
    }
    for (const auto& [one, titles] : lost_) {
      say({"remedies-long-backlog",
           {{"case", cases_[one].title},
            {"backlog", std::to_string(kLongBacklog)},
            {"remedies", list_words(titles)}}});
    }
    for (const Statement& each : left_out_) say(each);
  }

  // The data that scripts/lib/remedies.gp draws.
  void write_picture_data() const {
    const std::string& folder = options_.picture_data;
    if (folder.empty()) return;
    std::vector<std::string> tics;
    std::size_t longest = 0;
    for (const Tried& each : remedies_) {
      tics.push_back('"' + each.title + "\" " + std::to_string(tics.size()));
      longest = std::max(longest, each.title.size());
    }
    LineFile facts(folder + "/facts");
    facts.write("y_tics = '(" + list_words(tics) + ")'");
    facts.write("rows = " + std::to_string(remedies_.size()));
    facts.write("left = " + fixed(30 + 6.6 * static_cast<double>(longest), 1));
    facts.write("cases = " + std::to_string(cases_.size()));
    facts.write("array title[" + std::to_string(cases_.size()) + ']');
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      facts.write("title[" + std::to_string(c + 1) + "] = '" + cases_[c].title + '\'');
    }
    LineFile runs(folder + "/runs");
    for (const auto& [c, r, options] : cells_) {
      runs.write(
          run_line(std::to_string(c + 1) + '-' + std::to_string(r + 1), options, study_->seed()));
    }
  }

  const RemediesOptions& options_;
  const Compared asked_;
  const std::vector<Case> cases_;
  const bool are_usual_, is_own_;
  std::vector<Tried> remedies_{};
  std::vector<TriedIn> cells_{};
  std::optional<Study> study_{};
  Statements left_out_{}, unharmed_{};
  std::map<std::size_t, std::vector<std::string>> lost_{};  // by case: what a long backlog undoes
};

int remedies(const Invocation& invocation, const RemediesOptions& options) {
  return Remedies(invocation, options).run();
}

}  // namespace

const Command kRemedies{
    "remedies",
    "A frozen server has collapsed: compares what gets it back, and how soon. One thing is done "
    "about it\n10 s after the outage: less load, a limit, a restart, another order of the queue. Options of the "
    "experiment make\na service of your own, in place of the three usual cases.",
    "retrystorm remedies --service=workers --remedy='nothing:' "
    "--remedy='CoDel: 60s set queue-drop=codel'",
    run_command<RemediesOptions, declare, remedies>};

}  // namespace retrystorm
