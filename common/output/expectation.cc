#include "common/output/expectation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "common/output/json_lines.h"
#include "common/output/json_text.h"
#include "common/output/report.h"
#include "common/output/style.h"
#include "model/base/text.h"
#include "words/words.h"

namespace retrystorm {
namespace {

using Relation = Expectation::Relation;

// Of --runs.
constexpr double kMostRuns = 1e6;

std::string name_of(Verdict verdict) {
  std::string name(to_string(verdict));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

// Adds the numbers of `json`, under their names.
void flatten(Figures& figures, const std::string& name, const Json& json) {
  for (const auto& [key, value] : json.items()) {
    const std::string full = name.empty() ? key : name + '_' + key;
    if (value.is_object()) {
      flatten(figures, full, value);
    } else if (value.is_number() || (value.is_null() && full != "outage")) {
      figures[full] = value;
    }
  }
}

// May `name` stand for the figure?
bool stands_for(std::string_view name, std::string_view figure) {
  static constexpr std::array<std::string_view, 4> kOptional{"share", "median", "ms", "s"};
  const auto given = split(name, '_');
  std::size_t next = 0;
  for (const std::string_view word : split(figure, '_')) {
    if (next < given.size() && given[next] == word) {
      ++next;
    } else if (std::find(kOptional.begin(), kOptional.end(), word) == kOptional.end()) {
      return false;
    }
  }
  return next == given.size();
}

// The unit of a time in seconds; 0 if the figure is not a time.
double time_unit_of(std::string_view figure) {
  const auto words = split(figure, '_');
  if (std::find(words.begin(), words.end(), "ms") != words.end()) return 1e-3;
  const std::size_t n = words.size();
  const auto follows = [&](std::string_view word) { return n > 1 && words[n - 2] == word; };
  return words.back() == "s" && !follows("unit") && !follows("per") ? 1 : 0;
}

bool is_share(std::string_view figure) {
  const auto words = split(figure, '_');
  return is_of_verdict(figure) || words.front() == "success" ||
         std::find(words.begin(), words.end(), "share") != words.end();
}

bool is_bound_of_interval(const std::string& figure, const Figures& known) {
  return (figure.ends_with("_low") || figure.ends_with("_high")) &&
         known.contains(figure.substr(0, figure.rfind('_')));
}

// What tables and summaries call figures that have other names in JSON Lines.
struct Heading {
  std::string_view words, figure;
};
constexpr std::array kHeadings{
    Heading{"back_after", "recovery"},
    Heading{"back", "recovery"},
    Heading{"down_at_the_end", "down"},
    Heading{"attempts/request", "amplification"},
    Heading{"attempts_a_request", "amplification"},
    Heading{"attempts_per_request", "amplification"},
    Heading{"answered", "success_share"},
    Heading{"retry_amplification", "amplification"},
    Heading{"attempts_throttled", "throttled_share"},
    Heading{"capacity_idle", "idle_share"},
    Heading{"all_connected_after", "all_back"},
    Heading{"attempts_not_sent", "not_sent_share"},
    Heading{"load", "amplification"},
};

// The same of parts of a name. Points are "_", too.
constexpr std::array kParts{
    Heading{"given_up", "gave_up"},         Heading{"req__", "request_"},
    Heading{"answered_", "success_"},       Heading{"rec__", "recovery_"},
    Heading{"amplif_", "amplification"},    Heading{"conc_", "concurrency"},
    Heading{"gone_p90", "errors_gone_p90"},
};

// "OK/s_after_the_outage" is ok_per_s_after.
std::string as_in_json(std::string name) {
  const auto replace = [&name](std::string_view words, std::string_view by) {
    if (const std::size_t at = name.find(words); at != name.npos)
      name.replace(at, words.size(), by);
  };
  for (char& c : name) {
    if (c == ' ') c = '_';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const std::string_view outage : {"_the_outage", "_outage", "_it"}) {
    replace("_in" + std::string(outage), "_during");
    replace("_after" + std::string(outage), "_after");
    replace("_before" + std::string(outage), "_before");
  }
  for (const Heading& part : kParts) replace(part.words, part.figure);
  for (const Heading& each : kHeadings) {
    if (each.words == name) return std::string(each.figure);
  }
  replace("/s", "_per_s");
  return name;
}

// Empty if there is none.
std::string figure_called(const std::string& name, const Figures& known) {
  if (known.contains(name)) return name;
  for (const auto& [figure, value] : known.items()) {
    if (stands_for(name, figure)) return figure;
  }
  return "";
}

std::string find_figure(const std::string& typed, const Figures& known) {
  std::string name = underscored(trimmed(typed));
  std::replace(name.begin(), name.end(), '.', '_');
  for (const std::string& each : {name, as_in_json(name)}) {
    if (const std::string figure = figure_called(each, known); !figure.empty()) return figure;
  }
  std::vector<std::string> figures;
  for (const auto& [figure, value] : known.items()) {
    if (!is_bound_of_interval(figure, known)) figures.push_back(figure);
  }
  // There are about a hundred.
  constexpr std::size_t kShown = 6;
  const auto near = nearest_names(name, {figures.begin(), figures.end()}, kShown);
  refuse(unknown_name(typed, near) + ", or any figure of the summary");
}

double infinite_if_never(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::infinity();
}

// What a figure of the whole run is called after the outage, if it is a figure there: success_share is
// success_after, and request_p99_ms is request_p99_after_ms.
std::string name_after(std::string figure) {
  const std::string_view share = "_share", unit = "_ms";
  if (figure.ends_with(share)) figure.erase(figure.size() - share.size());
  if (!figure.ends_with(unit)) return figure + "_after";
  return figure.substr(0, figure.size() - unit.size()) + "_after" + std::string(unit);
}

// As people write it: "success-after", "OK/s-after".
std::string readable_name(std::string figure) {
  constexpr std::string_view kRate = "ok_per_s", kUnit = "_ms";
  if (figure.starts_with(kRate)) figure.replace(0, kRate.size(), "OK/s");
  if (figure.ends_with(kUnit)) figure.erase(figure.size() - kUnit.size());
  return with_dashes(figure);
}

StatementValue value_of(std::string_view name, double value, const Expectation& expectation) {
  if (expectation.time_unit > 0) {
    if (std::isinf(value)) return {name, words_of("never")};
    return {name, from_seconds(value * expectation.time_unit)};
  }
  if (expectation.percent) return {name, ShareOf{value}};
  return {name, value};
}

Finding judge_bound(Relation relation, double bound, double low, double high) {
  const auto decide = [](bool holds, bool broken) {
    return holds ? Finding::kHolds : broken ? Finding::kBroken : Finding::kUndecided;
  };
  switch (relation) {
    case Relation::kBelow:
      return decide(high < bound, low >= bound);
    case Relation::kAtMost:
      return decide(high <= bound, low > bound);
    case Relation::kAbove:
      return decide(low > bound, high <= bound);
    case Relation::kAtLeast:
      return decide(low >= bound, high < bound);
    case Relation::kEqual:
      return decide(low == bound && high == bound, high < bound || low > bound);
  }
  return Finding::kUndecided;
}

double parse_bound(const std::string& text, const std::string& typed_name, Expectation& claim) {
  if (claim.time_unit > 0) {
    const std::string name = underscored(typed_name);
    const bool in_its_unit = name.ends_with("_s") || name.find("ms") != std::string::npos;
    const bool plain = text.find_first_not_of("0123456789.") == std::string::npos;
    if (in_its_unit && plain) return parse_number(text, 0, 1e18);
    return to_seconds(parse_duration(text, Duration::zero())) / claim.time_unit;
  }
  claim.percent = text.ends_with('%');
  if (claim.percent && !is_share(claim.figure)) {
    refuse(in_quotes(text) + " is a share, but " + typed_name +
           " is none: write a number without %, or claim a share, such as "
           "success, success-during or success-after");
  }
  if (claim.percent) {
    const std::string_view number = std::string_view(text).substr(0, text.size() - 1);
    return parse_number(trimmed(number), 0, 100) / 100;
  }
  const double bound = parse_number(text, -1e18, 1e18);
  if (!is_share(claim.figure)) return bound;
  if (bound > 1) {
    refuse(in_quotes(text) + " is above 1, but " + typed_name + " is a share: write " + text +
           "%, or a number from 0 to 1");
  }
  claim.percent = true;
  return bound;
}

}  // namespace

bool is_of_verdict(std::string_view figure) {
  return figure == "down" || std::ranges::count(kVerdicts, figure, name_of) > 0;
}

Figures run_figures(const Summary& summary) {
  Figures figures = Figures::object();
  const Verdict verdict = summary.recovery.verdict;
  for (const Verdict each : kVerdicts) figures[name_of(each)] = each == verdict ? 1 : 0;
  const bool open = verdict == Verdict::kRecovering || verdict == Verdict::kUndecided;
  figures["down"] = open ? Json() : Json(is_down(verdict) ? 1 : 0);
  flatten(figures, "", summary_json(summary));
  const double left_out = summary.doubtful_share();
  if (left_out >= Counts::kManyLeftOut) {
    const double success = summary.counts.success_share();
    figures["success_share_low"] = success * (1 - left_out);
    figures["success_share_high"] = success;
  }
  return figures;
}

Figures client_figures(const Summary& summary) {
  Figures figures = run_figures(summary);
  const auto& requests = summary.latencies.requests();
  for (const auto& [name, share] :
       {std::pair("request_p50_ms", 0.5), std::pair("request_p99_ms", 0.99)}) {
    const auto time = requests.quantile(share);
    figures[name] = low_end_json(time);
    figures[std::string(name) + "_high"] = high_end_json(time);
  }
  return figures;
}

Summary any_summary() {
  Summary summary{.failed_commands = 0, .failed_orders = 0, .paced = true};
  summary.arrival_lag.emplace();
  summary.job.emplace();
  summary.reconnect.emplace();
  summary.capacity.emplace();
  summary.phases.emplace();
  return summary;
}

Expectation parse_expectation(const std::string& text, const Figures& known) {
  Expectation claim{.text = text, .verdict = {}, .figure = {}};
  const std::size_t at = text.find_first_of("<>=");
  if (at == std::string::npos) {
    std::vector<std::string> names;
    for (const Verdict each : kVerdicts) names.push_back(name_of(each));
    const auto found = std::find(names.begin(), names.end(), underscored(trimmed(text)));
    if (found == names.end()) {
      refuse(unknown_name(text, std::vector<std::string_view>(names.begin(), names.end())) +
             "; or write a bound, such as 'down<5%'");
    }
    claim.verdict = kVerdicts[static_cast<std::size_t>(found - names.begin())];
    return claim;
  }
  const bool or_equal = at + 1 < text.size() && text[at + 1] == '=';
  claim.relation = text[at] == '<'   ? (or_equal ? Relation::kAtMost : Relation::kBelow)
                   : text[at] == '>' ? (or_equal ? Relation::kAtLeast : Relation::kAbove)
                                     : Relation::kEqual;
  if (!or_equal && at + 1 < text.size() && std::string_view("<>").find(text[at + 1]) != text.npos) {
    refuse(in_quotes(text) + ": write <= or >=");
  }
  const std::string typed(trimmed(std::string_view(text).substr(0, at)));
  claim.figure = find_figure(typed, known);
  claim.time_unit = time_unit_of(claim.figure);
  const std::string bound(trimmed(std::string_view(text).substr(at + (or_equal ? 2 : 1))));
  claim.bound = parse_bound(bound, typed, claim);
  return claim;
}

std::string_view to_string(Finding finding) {
  constexpr std::array<std::string_view, 3> kNames{"holds", "broken", "not decided"};
  return kNames[static_cast<std::size_t>(finding)];
}

Judgement judge(const Expectation& expectation, const Figures& figures) {
  Judgement result;
  const Json value = figures.value(expectation.figure, Json());
  if (value.is_null() && expectation.time_unit == 0) {
    result.why = "there is no such figure here";
    return result;
  }
  result.value = infinite_if_never(value);
  const std::string of_after = name_after(expectation.figure);
  if (const Json after = figures.value(of_after, Json()); after.is_number()) {
    result.after = {readable_name(of_after), after.get<double>()};
  }
  double low = *result.value, high = low;
  if (figures.contains(expectation.figure + "_low")) {
    const Json low_end = figures[expectation.figure + "_low"];
    const Json high_end = figures[expectation.figure + "_high"];
    // Too few runs have no interval.
    if (low_end.is_null() && value.is_number()) return result;
    low = infinite_if_never(low_end);
    high = infinite_if_never(high_end);
    if (is_share(expectation.figure)) {
      // Student's interval of a mean may go beyond what a share can be.
      low = std::max(low, 0.0);
      high = std::min(high, 1.0);
    }
    result.low = low;
    result.high = high;
  }
  const std::string upper = expectation.figure + "_high";
  if (!result.low && value.is_number() && figures.contains(upper) && figures[upper].is_null()) {
    // A time that may be more.
    high = std::numeric_limits<double>::infinity();
    result.low = low;
    result.high = high;
  }
  result.finding = judge_bound(expectation.relation, expectation.bound, low, high);
  return result;
}

void doubt_success(const Expectation& expectation, double left_out, Judgement& judgement) {
  if (expectation.figure != "success_share" || left_out < Counts::kManyLeftOut ||
      judgement.finding != Finding::kUndecided || !judgement.value) {
    return;
  }
  const double value = *judgement.value;
  if (judge_bound(expectation.relation, expectation.bound, value * (1 - left_out), value) !=
      Finding::kUndecided) {
    return;
  }
  judgement.doubt = {"claim-left-out", {{"share", ShareOf{left_out}}}};
}

void doubt_recovery(const Expectation& expectation, const std::optional<Statement>& why,
                    Judgement& judgement) {
  const std::string& figure = expectation.figure;
  const bool is_about_it = expectation.verdict == Verdict::kRecovered ||
                           expectation.verdict == Verdict::kNoOutage || figure == "down" ||
                           figure == "recovered" || figure.starts_with("recovery_") ||
                           figure.starts_with("time_to_") || figure.starts_with("errors_gone");
  if (!why || !is_about_it || judgement.finding != Finding::kHolds) return;
  judgement.finding = Finding::kUndecided;
  judgement.doubt = why;
}

std::optional<Statement> few_answered(double share, bool outage) {
  if (share >= RecoveryTracker::kWell) return std::nullopt;
  return Statement{outage ? "claim-few-answered" : "claim-few-answered-calm",
                   {{"share", ShareOf{share}}}};
}

Judgement judge(const Expectation& expectation, Verdict verdict) {
  if (verdict == expectation.verdict) return {.finding = Finding::kHolds};
  const bool decides = verdict != Verdict::kUndecided && verdict != Verdict::kNoOutage;
  return {.finding = decides ? Finding::kBroken : Finding::kUndecided,
          .why = std::string(to_string(verdict))};
}

std::optional<std::size_t> runs_to_decide(const Expectation& expectation,
                                          const Judgement& judgement) {
  constexpr std::size_t kForAnInterval = 100;
  if (judgement.finding != Finding::kUndecided || !judgement.value || judgement.doubt) {
    return std::nullopt;
  }
  if (!judgement.low) return kForAnInterval;
  const double value = *judgement.value, bound = expectation.bound;
  const double end = value < bound ? *judgement.high : *judgement.low;
  const double ratio = (end - value) / (bound - value);
  if (!(ratio >= 1 && std::isfinite(ratio))) return std::nullopt;
  double runs = static_cast<double>(judgement.runs) * ratio * ratio;
  if (is_of_verdict(expectation.figure)) {
    // Wilson's interval of a share p ends where (p - end)^2 = z^2 end (1 - end) / runs. And with no hit, or nothing but
    // hits, a run must be one as often as the bound says with a probability of 2.5 % at most.
    const double beyond = std::abs(value - bound);
    runs = 1.959964 * 1.959964 * bound * (1 - bound) / (beyond * beyond);
    if (value == 0 || value == 1) runs = std::max(runs, std::log(0.025) / std::log1p(-beyond));
  }
  if (!(runs < kMostRuns)) return std::nullopt;
  // Rounded up to two digits, and more than there were.
  const double unit = std::max(std::pow(10, std::floor(std::log10(runs)) - 1), 1.0);
  const auto least = static_cast<std::size_t>(std::llround((std::floor(runs / unit) + 1) * unit));
  return std::max(least, judgement.runs + 1);
}

namespace {

// Why it is not decided, or what would decide it.
std::optional<Statement> reason_of(const Expectation& expectation, const Judgement& judgement) {
  if (judgement.stopped) return Statement{"claim-stopped"};
  if (judgement.doubt) return judgement.doubt;
  if (judgement.recovering > 0) {
    return Statement{"claim-recovering", {{"count", static_cast<double>(judgement.recovering)}}};
  }
  if (judgement.undecided > 0) {
    return Statement{"claim-no-verdict", {{"count", static_cast<double>(judgement.undecided)}}};
  }
  if (const auto runs = runs_to_decide(expectation, judgement)) {
    return Statement{"claim-more-runs", {{"runs", std::to_string(*runs)}}};
  }
  const bool none = expectation.bound == 0;
  if (judgement.finding == Finding::kUndecided && expectation.percent &&
      judgement.value == expectation.bound && (none || expectation.bound == 1)) {
    return Statement{"claim-not-exact",
                     {{"claim", with_dashes(expectation.figure) + (none ? "<1%" : ">99%")}}};
  }
  return std::nullopt;
}

}  // namespace

Statements details_of(const Expectation& expectation, const Judgement& judgement) {
  Statements details;
  if (!judgement.why.empty()) details.push_back({"claim-why", {{"why", judgement.why}}});
  if (judgement.value) {
    details.push_back({judgement.low     ? "claim-value-interval"
                       : judgement.after ? "claim-value-whole"
                                         : "claim-value",
                       {value_of("value", *judgement.value, expectation)}});
    if (judgement.low) {
      details.back().values.push_back(value_of("low", *judgement.low, expectation));
      details.back().values.push_back(value_of("high", *judgement.high, expectation));
    }
  }
  if (judgement.after) {
    details.push_back({"claim-after",
                       {{"name", judgement.after->first},
                        value_of("value", judgement.after->second, expectation)}});
  }
  // A request of the calm may succeed only after the outage.
  if (judgement.value && expectation.figure == "success_before") details.push_back({"claim-late"});
  if (judgement.runs != 1) {
    details.push_back(
        {"claim-runs", {{"runs", count_words(static_cast<double>(judgement.runs), "run")}}});
  }
  if (const auto reason = reason_of(expectation, judgement)) details.push_back(*reason);
  return details;
}

RunAnswer answer_of(const Expectation& expectation, const Judgement& judgement,
                    const std::string& row) {
  const bool holds = judgement.finding == Finding::kHolds;
  const bool broken = judgement.finding == Finding::kBroken;
  const std::string details = words_of(details_of(expectation, judgement));
  Statement what{holds    ? (details.empty() ? "claim-holds-alone" : "claim-holds")
                 : broken ? "claim-broken"
                          : "claim-undecided",
                 {{"claim", expectation.text}, {"details", details}}};
  if (!row.empty()) what = {"of-policy", {{"policy", row}, {"answer", words_of(what)}}};
  return {holds ? Tone::kGood : broken ? Tone::kBad : Tone::kDoubt, what};
}

Json judgement_json(const Expectation& expectation, const Judgement& judgement) {
  const auto number = [](const std::optional<double>& value) {
    return value && !std::isinf(*value) ? Json(rounded(*value)) : Json(nullptr);
  };
  Json json{{"type", "expectation"},
            {"expect", expectation.text},
            {"finding", to_string(judgement.finding)}};
  if (!expectation.verdict) {
    json["figure"] = expectation.figure;
    json["value"] = number(judgement.value);
    json["low"] = number(judgement.low);
    json["high"] = number(judgement.high);
  }
  json["runs"] = judgement.runs;
  if (judgement.recovering > 0) json["recovering"] = judgement.recovering;
  if (judgement.doubt) json["doubt"] = words_of(*judgement.doubt);
  return json;
}

ExitCode exit_code_of(const std::vector<Finding>& findings) {
  const auto any = [&findings](Finding finding) {
    return std::find(findings.begin(), findings.end(), finding) != findings.end();
  };
  return any(Finding::kBroken)      ? kExitBroken
         : any(Finding::kUndecided) ? kExitUndecided
                                    : kExitHolds;
}

void RunJudge::judge(const Summary& summary, const Figures& figures) {
  // Somebody may have stopped the service by hand.
  const bool none_said = summary.recovery.verdict == Verdict::kNoOutage;
  const auto seen = none_said ? seen_in(curve(), summary) : std::nullopt;
  double answered = summary.counts.success_share();
  if (summary.phases) {
    const Counts& calm = summary.phases->front().counts;
    answered = static_cast<double>(calm.ok) /
               static_cast<double>(std::max<std::uint64_t>(calm.requests, 1));
  }
  const auto few = few_answered(answered, summary.phases.has_value());
  for (const Expectation& each : expectations_) {
    Judgement judgement = each.verdict ? retrystorm::judge(each, summary.recovery.verdict)
                                       : retrystorm::judge(each, figures);
    if (each.figure == "down" && !judgement.value) {
      judgement.why = to_string(summary.recovery.verdict);
    }
    doubt_success(each, summary.doubtful_share(), judgement);
    if (seen && (seen->tone != Tone::kGood || each.verdict == Verdict::kNoOutage)) {
      doubt_recovery(each, seen->headline, judgement);
    }
    const bool is_down = judgement.value == 1 && each.figure == "down";
    if (!is_down) doubt_recovery(each, summary.phases && held_back_ ? held_back_ : few, judgement);
    print_headline(out_, answer_of(each, judgement), style_of(1));
    json_.write(judgement_json(each, judgement));
    judgements_.push_back(std::move(judgement));
  }
}

std::vector<Finding> RunJudge::findings() const {
  std::vector<Finding> all;
  for (const Judgement& each : judgements_) all.push_back(each.finding);
  return all;
}

}  // namespace retrystorm
