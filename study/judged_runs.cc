#include "study/judged_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "common/output/json_lines.h"
#include "model/base/text.h"
#include "model/run/outlook.h"
#include "study/rows.h"

namespace retrystorm {
namespace {

constexpr std::size_t kFirstLook = 25;
constexpr std::size_t kLeastForMean = 100;

struct Value {
  double value = 0;
  bool or_more = false;
};

// Records the wanted figures of each run's summary.
class Watch final : public RunObserver {
 public:
  Watch(const std::vector<std::string>& wanted, std::vector<Value>& values)
      : wanted_(wanted), values_(values) {}

  void on_summary(const Summary& summary) override {
    const Figures figures = run_figures(summary);
    for (const std::string& name : wanted_) {
      const auto& value = figures.value(name, Figures());
      values_.push_back({.value = value.is_number() ? value.get<double>()
                                                    : std::numeric_limits<double>::infinity(),
                         .or_more = figures.value(name + "_high", value).is_null()});
    }
  }

 private:
  const std::vector<std::string>& wanted_;
  std::vector<Value>& values_;
};

// What the intervals do not say.
void add_doubts(const Expectation& claim, const CellResult& cell,
                const std::optional<Statement>& held_back, Judgement& judgement) {
  doubt_success(claim, cell.doubtful, judgement);
  if (cell.mostly_down()) return;
  std::optional<Statement> why;
  if (!cell.had_outage()) {
    why = few_answered(cell.success_share, false);
  } else if (held_back) {
    why = held_back;
  } else if (cell.unserved()) {
    why = few_answered(*cell.phases[0].ok_per_s / *cell.phases[0].requests_per_s, true);
  }
  doubt_recovery(claim, why, judgement);
}

// How a claim is judged.
enum class Kind { kVerdict, kShareOrMedian, kMeanOfTable, kMeanOfSummaries, kValue };

std::vector<Kind> kinds_of(const std::vector<Expectation>& expectations) {
  const Figures table = cell_figures({});
  const Figures summary = run_figures(any_summary());
  std::vector<Kind> kinds;
  for (const Expectation& each : expectations) {
    const bool in_table = table.contains(each.figure);
    const bool has_interval = table.contains(each.figure + "_low");
    // A figure that is 1 or 0 in a run, such as "down", is a share of many runs.
    const bool is_mean = summary.contains(each.figure) && !is_of_verdict(each.figure);
    kinds.push_back(each.verdict               ? Kind::kVerdict
                    : has_interval && !is_mean ? Kind::kShareOrMedian
                    : has_interval             ? Kind::kMeanOfTable
                    : in_table && !is_mean     ? Kind::kValue
                                               : Kind::kMeanOfSummaries);
  }
  return kinds;
}

// A mean is not finite if some of its times never came. It has no upper end if one may be more.
void add_mean(Figures& figures, const std::string& name, const std::vector<Value>& values,
              double misses) {
  std::vector<double> numbers;
  for (const Value& each : values) numbers.push_back(each.value);
  const Mean mean = retrystorm::mean(numbers, misses);
  const auto bound = [&mean](double Interval::*end) {
    const bool known = mean.interval && std::isfinite(mean.value);
    return known ? Figures((*mean.interval).*end) : Figures();
  };
  figures[name] = std::isfinite(mean.value) ? Figures(mean.value) : Figures();
  figures[name + "_low"] = bound(&Interval::low);
  const bool or_more =
      std::any_of(values.begin(), values.end(), [](const Value& each) { return each.or_more; });
  figures[name + "_high"] = or_more ? Figures() : bound(&Interval::high);
}

Judgement judge_verdicts(const Expectation& expectation, const std::vector<RunResult>& runs,
                         bool all) {
  Judgement result{.runs = runs.size()};
  std::array<std::size_t, 3> found{};
  for (const RunResult& run : runs) {
    const Judgement one = judge(expectation, run.verdict);
    ++found.at(static_cast<std::size_t>(one.finding));
    if (one.finding == Finding::kHolds) continue;
    if (result.why.empty() || one.finding == Finding::kBroken) result.why = one.why;
  }
  const std::size_t others = runs.size() - found[static_cast<std::size_t>(Finding::kHolds)];
  if (others > 0) result.why = std::to_string(others) + " others, such as " + result.why;
  if (found[static_cast<std::size_t>(Finding::kBroken)] > 0) {
    result.finding = Finding::kBroken;
  } else if (others == 0 && all) {
    result.finding = Finding::kHolds;
  }
  return result;
}

// Does a claim about `down` wait for the runs that are still recovering? If these are all down, it is decided
// one way, and the runs that are not recovering point the other way. Then more runs do not help. Nor do they if
// all runs are still recovering, however few there are.
bool hangs_on_recovering(const Expectation& claim, const CellResult& cell) {
  if (claim.figure != "down" || cell.recovering == 0) return false;
  const auto finding = [&claim](double value, Interval interval) {
    return judge(claim,
                 Figures{{"down", value}, {"down_low", interval.low}, {"down_high", interval.high}})
        .finding;
  };
  const double share_now = cell.down()->value;
  const Share all = *share(cell.down_runs() + cell.recovering, cell.decided(), cell.misses);
  const bool all_open = cell.recovering == cell.decided();
  const Finding if_down =
      finding(all.value, all_open ? Interval{all.value, all.value} : all.interval);
  return if_down != Finding::kUndecided && if_down != finding(share_now, {share_now, share_now});
}

}  // namespace

Figures cell_figures(const CellResult& cell) {
  Figures figures = Figures::object();
  for (const CellColumn& column : cell_columns()) figures[column.name] = column.value(cell);
  const std::pair<const char*, std::size_t> verdicts[] = {{"recovered", cell.recovered},
                                                          {"relapsed", cell.relapsed},
                                                          {"recovering", cell.recovering},
                                                          {"undecided", cell.undecided},
                                                          {"collapsed", cell.collapsed}};
  // Of these runs at least so many, and at most.
  const auto set_interval = [&](const std::string& name, std::size_t runs, std::size_t least,
                                std::size_t most) {
    const bool any = runs > 0;
    figures[name + "_low"] = any ? Figures(sure_interval(least, runs, cell.misses).low) : Figures();
    figures[name + "_high"] =
        any ? Figures(sure_interval(most, runs, cell.misses).high) : Figures();
  };
  for (const auto& [name, count] : verdicts) {
    const auto part = share(count, cell.runs);
    figures[name] = part ? Figures(part->value) : Figures();
    set_interval(name, cell.runs, count, count);
  }
  set_interval("down", cell.decided(), cell.down_runs(), cell.down_runs() + cell.recovering);
  return figures;
}

Figures known_figures() {
  Figures figures = cell_figures({});
  const Figures of_run = run_figures(any_summary());
  for (const auto& [name, value] : of_run.items()) {
    if (!figures.contains(name)) figures[name] = value;
  }
  return figures;
}

Figures one_run_figures(const SimulationResult& run) {
  Figures figures = run_figures(run.summary);
  const Figures table = cell_figures(summarize({result_of(run)}));
  for (const auto& [name, value] : table.items()) {
    const bool of_interval =
        name.ends_with("_low") ||
        (name.ends_with("_high") && table.contains(name.substr(0, name.rfind('_')) + "_low"));
    if (!of_interval && !figures.contains(name)) figures[name] = value;
  }
  return figures;
}

std::optional<Statement> held_back(const Scenario& scenario) {
  if (!scenario.topology.empty() || scenario.workload.arrivals != Arrivals::kOpen)
    return std::nullopt;
  const Outlook ahead =
      look_ahead(OutlookInput{.workload = scenario.workload, .service = scenario.service});
  const double pools = ahead.connections ? ahead.connections->through : kUnlimited;
  const bool by_pools = pools < ahead.client_rate;
  const double through = std::min(pools, ahead.client_rate), load = arrival_rate(scenario.workload);
  if (load <= through) return std::nullopt;
  return Statement{"claim-held-back",
                   {{"load", load},
                    {"through", through},
                    {"option", std::string(by_pools ? "--pool-size" : "--client-rate")}}};
}

std::vector<Look> looks(std::size_t most) {
  std::vector<Look> all;
  for (std::size_t runs = kFirstLook; runs < most; runs *= 2) all.push_back({runs});
  for (Look& each : all) each.misses = kUsualMisses / static_cast<double>(all.size());
  all.push_back({most});
  return all;
}

std::optional<JudgedRuns> judge_runs(const Evaluator& evaluator, const Scenario& scenario,
                                     std::uint64_t seed, std::size_t most,
                                     const std::vector<Expectation>& expectations) {
  const std::vector<Kind> kinds = kinds_of(expectations);
  const std::optional<Statement> held_back = retrystorm::held_back(scenario);
  std::vector<std::string> wanted;  // of each run's summary
  for (std::size_t i = 0; i < expectations.size(); ++i) {
    if (kinds[i] == Kind::kMeanOfSummaries) wanted.push_back(expectations[i].figure);
  }
  JudgedRuns result{.runs = {}, .judgements = std::vector<Judgement>(expectations.size())};
  std::vector<std::vector<Value>> values;  // of each run: those of the wanted figures
  for (const Look& look : looks(most)) {
    const std::size_t until = look.runs;
    const std::size_t before = result.runs.size();
    values.resize(until);
    std::vector<Watch> watches;
    for (std::size_t run = before; run < until; ++run) watches.emplace_back(wanted, values[run]);
    const auto runs = evaluator.run(scenario, seeds_from(seed + before, until - before),
                                    [&](std::size_t run) -> SimulationObservers {
                                      if (wanted.empty()) return {};
                                      return {.run = {&watches[run]}};
                                    });
    if (runs.empty()) return std::nullopt;
    for (std::size_t run = 1; run < runs.size(); ++run) {
      if (runs[run - 1].cut) values[before + run] = values[before + run - 1];
    }
    result.runs.insert(result.runs.end(), runs.begin(), runs.end());

    const CellResult cell = summarize(result.runs, look.misses);
    Figures figures = cell_figures(cell);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      std::vector<Value> each;
      for (const auto& run : values) each.push_back(run[i]);
      add_mean(figures, wanted[i], each, look.misses);
    }
    const bool last = until == most;
    const auto judge_now = [&](const Expectation& claim, Kind kind) {
      if (kind == Kind::kVerdict) {
        Judgement judgement = judge_verdicts(claim, result.runs, last);
        add_doubts(claim, cell, held_back, judgement);
        return judgement;
      }
      Judgement judgement = judge(claim, figures);
      judgement.runs = until;
      const bool is_mean = kind == Kind::kMeanOfTable || kind == Kind::kMeanOfSummaries;
      const bool early = (is_mean && until < kLeastForMean) || kind == Kind::kValue;
      if (early && !last) judgement.finding = Finding::kUndecided;
      if (hangs_on_recovering(claim, cell)) judgement.recovering = cell.recovering;
      add_doubts(claim, cell, held_back, judgement);
      return judgement;
    };
    for (std::size_t i = 0; i < expectations.size(); ++i) {
      Judgement& judgement = result.judgements[i];
      if (judgement.finding == Finding::kUndecided)
        judgement = judge_now(expectations[i], kinds[i]);
    }
    const auto any = [&result](auto holds) {
      return std::any_of(result.judgements.begin(), result.judgements.end(), holds);
    };
    const bool open = any([](const Judgement& each) {
      return each.finding == Finding::kUndecided && each.recovering == 0 && !each.doubt;
    });
    const bool broken = any([](const Judgement& each) { return each.finding == Finding::kBroken; });
    if (broken && !last) {
      for (Judgement& each : result.judgements) {
        each.stopped = each.finding == Finding::kUndecided;
      }
    }
    if (!open || broken) break;
  }
  return result;
}

std::vector<Judgement> judge_once(const std::vector<RunResult>& runs,
                                  const std::vector<Expectation>& expectations) {
  const CellResult cell = summarize(runs);
  const Figures figures = cell_figures(cell);
  std::vector<Judgement> judgements;
  for (const Expectation& each : expectations) {
    judgements.push_back(each.verdict ? judge_verdicts(each, runs, true) : judge(each, figures));
    judgements.back().runs = runs.size();
    if (hangs_on_recovering(each, cell)) judgements.back().recovering = cell.recovering;
    add_doubts(each, cell, std::nullopt, judgements.back());
  }
  return judgements;
}

std::vector<Expectation> holding(const std::vector<Expectation>& claims,
                                 const std::vector<Judgement>& judgements) {
  std::vector<Expectation> all;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (judgements[i].finding == Finding::kHolds) all.push_back(claims[i]);
  }
  return all;
}

void write_finding(std::ostream& out, JsonLines& json, const std::vector<std::string>& names,
                   const std::vector<std::string>& values, const Expectation& expectation,
                   const Judgement& judgement) {
  Json line = judgement_json(expectation, judgement);
  for (std::size_t i = 0; i < names.size(); ++i) line[names[i]] = values[i];
  // Of several rows the one that is broken says enough.
  if (!judgement.stopped || names.empty()) {
    print_headline(out, answer_of(expectation, judgement, row_text(names, values)), style_of(1));
  }
  json.write(line);
}

std::optional<Acceptance> acceptance(std::size_t runs, double bound, double misses) {
  if (!(bound > 0) || runs < least_runs(bound, misses)) return std::nullopt;
  Acceptance plan{.runs = runs, .bound = bound, .most_for = 0, .least_against = 1};
  while (binomial_at_most(plan.most_for + 1, runs, bound) <= misses) ++plan.most_for;
  while (plan.least_against <= runs &&
         1 - binomial_at_most(plan.least_against - 1, runs, bound) > misses) {
    ++plan.least_against;
  }
  return plan;
}

std::size_t least_runs(double bound, double misses) {
  if (bound >= 1) return 1;
  return static_cast<std::size_t>(std::ceil(std::log(misses) / std::log1p(-bound)));
}

Acceptance certificate(double bound, double misses) {
  constexpr double kGood = 0.2, kPasses = 0.8;
  std::size_t runs = least_runs(bound, misses);
  for (std::size_t most = 0;; ++most) {
    // The fewest runs of which so many may be hits.
    std::size_t enough = runs;
    while (binomial_at_most(most, enough, bound) > misses) enough *= 2;
    const auto shows = [&](std::size_t n) { return binomial_at_most(most, n, bound) <= misses; };
    if (!shows(runs)) runs = bisect(enough, runs, shows, [] { return false; }).good;
    if (binomial_at_most(most, runs, kGood * bound) >= kPasses) break;
  }
  return *acceptance(runs, bound, misses);
}

Accepted judge(const Acceptance& plan, std::size_t runs, std::size_t hits, std::size_t open) {
  Accepted result;
  Judgement& judgement = result.judgement;
  judgement.runs = runs;
  if (runs == 0) return result;
  judgement.value = static_cast<double>(hits) / static_cast<double>(runs);
  judgement.low = least_share(hits, runs);
  judgement.high = greatest_share(hits + open, runs);
  const std::size_t left = plan.runs - runs;
  if (hits >= plan.least_against) {
    judgement.finding = Finding::kBroken;
  } else if (hits + open + left <= plan.most_for) {
    judgement.finding = Finding::kHolds;
  } else {
    if (hits <= plan.most_for) judgement.recovering = left == 0 ? open : 0;
    result.certain = hits > plan.most_for && hits + left < plan.least_against;
    return result;
  }
  result.certain = true;
  return result;
}

}  // namespace retrystorm
