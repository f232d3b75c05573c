#include "common/output/answer.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "common/output/report.h"
#include "words/words.h"

namespace retrystorm {
namespace {

constexpr double kNearlyAll = 0.9;  // see `look_at_failures`

constexpr std::array<std::string_view, 9> kBlocks{"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kAscii{".", "_", "_", "-", "-", "=", "=", "#", "#"};

// All that is offered is the last but one, so that more can be seen.
std::size_t level_of(double ok, double full) {
  if (ok <= 0 || full <= 0) return 0;
  constexpr double kFull = 7;
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(kFull * ok / full)), 1,
                                 kBlocks.size() - 1);
}

const PhaseFigures& phase_of(const RunPhases& phases, RunPhase phase) {
  return phases[static_cast<std::size_t>(phase)];
}

double best_of(const RunCurve& curve) {
  double best = 0;
  for (const auto& each : curve.points) best = std::max(best, each.ok);
  return best;
}

}  // namespace

Strip strip_of(const RunCurve& curve, double full, std::size_t most, const Style& style) {
  Strip strip;
  if (curve.points.empty()) return strip;
  const std::size_t joined = (curve.points.size() + most - 1) / most;
  const auto& blocks = style.unicode ? kBlocks : kAscii;
  Duration begin{0};
  for (std::size_t i = 0; i < curve.points.size(); i += joined) {
    double ok = 0;
    Duration from = begin;
    const std::size_t end = std::min(i + joined, curve.points.size());
    for (std::size_t k = i; k < end; ++k) {
      ok += curve.points[k].ok * to_seconds(curve.points[k].end - from);
      from = curve.points[k].end;
    }
    const Duration until = curve.points[end - 1].end;
    if (i == 0) strip.mark = until;
    // A bracket stands before the mark in whose first half an outage begins, or after the one in whose second half.
    const Duration half = begin + (until - begin) / 2;
    for (const auto& [from_when, to_when] : curve.outages) {
      const bool begins = from_when < half && (i == 0 || from_when >= begin - (until - begin) / 2);
      const bool ends =
          to_when && *to_when < half && i > 0 && *to_when >= begin - (until - begin) / 2;
      if (begins && ends) {
        strip.marks += "[]";  // shorter than half a mark
        continue;
      }
      if (ends) strip.marks += ']';
      if (begins) strip.marks += '[';
    }
    strip.marks += blocks[level_of(ok / std::max(to_seconds(until - begin), 1e-9), full)];
    begin = until;
  }
  return strip;
}

namespace {

std::vector<StatementValue> calls_of(const JobResult& job) {
  return {{"done", static_cast<double>(job.done)}, {"calls", static_cast<double>(job.calls())}};
}

// A job that is done is not watched for as long as a verdict takes.
bool job_is_answer(const Summary& summary) {
  const Verdict verdict = summary.recovery.verdict;
  return summary.job && summary.job->makespan &&
         (verdict == Verdict::kNoOutage || verdict == Verdict::kUndecided ||
          verdict == Verdict::kRecovering);
}

}  // namespace

void look_at_failures(RunAnswer& answer, const std::array<std::optional<double>, 3>& answered) {
  const double before = answered[0].value_or(1), during = answered[1].value_or(1),
               after = answered[2].value_or(1);
  const auto say = [&answer](std::string_view id, double share) {
    answer = {Tone::kDoubt,
              {id, {{"answer", words_of(answer.headline)}, {"share", ShareOf{share}}}}};
  };
  if (after < kNearlyAll * (before < kNearlyAll ? before : 1)) {
    say("but-after", after);
  } else if (before < kNearlyAll) {
    say("but-before", before);
  } else if (during < kNearlyAll) {
    say(during > 0 ? "but-during" : "but-none-during", during);
  }
}

std::optional<Statement> latency_of(const std::optional<TimeBound>& before,
                                    const std::optional<TimeBound>& during,
                                    std::optional<double> share,
                                    const std::optional<TimeBound>& after) {
  const auto words = [](const TimeBound& time) {
    return (time.or_more ? "> " : "") + time_words(time.time);
  };
  if (!before) return std::nullopt;
  std::string list = words(*before);
  const auto add = [&list](std::string_view id, const std::string& time) {
    list += ", " + words_of({id, {{"share", time}}});
  };
  constexpr double kLonger = 1.25;
  if (during && share >= kNearlyAll && during->time >= scale(before->time, kLonger)) {
    add("answered-during", words(*during));
  }
  if (after) add("answered-after", words(*after));
  return Statement{"answered-p99", {{"list", list}}};
}

Tone tone_of_calm(double success, double left_out) {
  if (success < RecoveryTracker::kWell) return Tone::kBad;
  return success >= 0.99 && left_out < Counts::kManyLeftOut ? Tone::kGood : Tone::kDoubt;
}

RunAnswer answer_of(const Summary& summary) {
  const Recovery& recovery = summary.recovery;
  const std::string why = words_of(recovery.causes);
  if (job_is_answer(summary)) {
    const ShareOf success{summary.counts.success_share()};
    return {success.share >= 0.99 && summary.counts.gave_up() == 0 ? Tone::kGood : Tone::kDoubt,
            {"runs-job", {{"time", *summary.job->makespan}, {"share", success}}}};
  }
  switch (recovery.verdict) {
    case Verdict::kCollapsed: {
      const bool answers =
          says(recovery.causes, "load-above-capacity") && says(recovery.causes, "stays-low");
      return {Tone::kBad, {answers ? "answer-overloaded" : "answer-down", {{"why", why}}}};
    }
    case Verdict::kRelapsed:
      return {Tone::kBad, {"answer-relapsed", {{"why", why}}}};
    case Verdict::kRecovering:
      return {Tone::kDoubt, {"answer-recovering", {{"why", why}}}};
    case Verdict::kUndecided:
      return {Tone::kDoubt, {"answer-undecided", {{"why", why}}}};
    case Verdict::kNoOutage: {
      const ShareOf success{summary.counts.success_share()};
      const Tone tone = tone_of_calm(success.share, summary.doubtful_share());
      const auto& job = summary.job;
      if (!job) return {tone, {"answer-no-outage", {{"share", success}}}};
      return {Tone::kBad, {"answer-job-open", calls_of(*job)}};
    }
    case Verdict::kRecovered:
      break;
  }
  if (recovery.queue_wait) return {Tone::kDoubt, {"answer-back-with-queue", {{"why", why}}}};
  const Duration after = recovery.time_to_recovery.value_or(Duration::zero());
  const bool at_once = after == Duration::zero();
  RunAnswer answer{
      Tone::kGood,
      {at_once ? "answer-back-at-once-alone" : "answer-back-alone", {{"after", after}}}};
  if (summary.phases) {
    std::array<std::optional<double>, 3> answered;
    for (std::size_t i = 0; i < answered.size(); ++i) {
      answered[i] = (*summary.phases)[i].success_share();
    }
    look_at_failures(answer, answered);
    if (const auto share = answered[1]; share && answer.tone == Tone::kGood) {
      answer.headline = {*share == 1 ? "and-all-answered" : "and-answered",
                         {{"answer", words_of(answer.headline)}, {"share", ShareOf{*share}}}};
    }
  }
  if (summary.hosts && answer.tone == Tone::kGood) {
    const auto [numbers, share] = summary.hosts->not_back();
    std::vector<std::string> names;
    for (const std::size_t each : numbers) names.push_back(std::to_string(each));
    if (!names.empty()) {
      answer = {Tone::kDoubt,
                {names.size() == 1 ? "but-host" : "but-hosts",
                 {{"answer", words_of(answer.headline)},
                  {"list", list_words(names)},
                  {"share", ShareOf{share}}}}};
    }
  }
  // What a job has lost does not come back.
  if (summary.job && summary.counts.gave_up() > 0) answer.tone = Tone::kDoubt;
  return answer;
}

namespace {

// Who was killed by its probe, and how many hosts there were.
void add_lives(Statements& all, const HostsResult& result) {
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  const std::uint64_t killed = result.sum(&HostInterval::killed);
  if (killed > 0) {
    const auto hosts =
        std::ranges::count_if(result.hosts, [](const auto& each) { return each.killed > 0; });
    all.push_back({result.killed_busy > 0 ? "run-hosts-killed-busy" : "run-hosts-killed",
                   {{"count", number(killed)},
                    {"busy", number(result.killed_busy)},
                    {"hit", static_cast<double>(hosts)},
                    {"hosts", number(result.most)},
                    {"at", result.first_out->second}}});
  }
  if (result.most > result.first) {
    const auto up = std::ranges::count(result.hosts, HostState::kUp, &HostInterval::state);
    all.push_back({up < static_cast<std::ptrdiff_t>(result.most) ? "run-hosts-scaled-back"
                                                                 : "run-hosts-scaled",
                   {{"first", number(result.first)},
                    {"most", number(result.most)},
                    {"at", result.most_at},
                    {"up", static_cast<double>(up)}}});
  }
}

// Where the attempts of an outage went that hit some of the hosts.
std::optional<Statement> remark_of(const HostsResult& result) {
  constexpr double kMany = 1.5;  // times what would be theirs in turn
  const auto share = result.share_of_hit();
  if (!share || result.hit >= result.hosts.size()) return std::nullopt;
  const auto hit = static_cast<double>(result.hit), all = static_cast<double>(result.most);
  const auto ejections = static_cast<double>(result.sum(&HostInterval::ejections));
  const bool draws = result.by_load && *share > kMany * hit / all;
  Statement what{draws           ? "run-hosts-sinkhole"
                 : ejections > 0 ? "run-hosts-ejected"
                                 : "run-hosts",
                 {{"hit", hit}, {"hosts", all}, {"share", ShareOf{*share}}, {"count", ejections}}};
  if (result.first_out) {
    what.values.push_back({"host", static_cast<double>(result.first_out->first + 1)});
    what.values.push_back({"at", result.first_out->second});
  }
  return what;
}

}  // namespace

Statements remarks_of(const Summary& summary) {
  constexpr double kFew = 0.01;
  const Counts& counts = summary.counts;
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  Statements all;
  if (const auto& lag = summary.arrival_lag; lag && counts.requests > 0) {
    const double late = number(lag->late_starts) / number(counts.requests);
    if (late >= kFew) {
      all.push_back({"run-late",
                     {{"share", ShareOf{late}},
                      {"limit", ArrivalLag::kLate},
                      {"latest", lag->latest_start}}});
    }
    if (lag->dropped_arrivals > 0) {
      all.push_back({"run-no-thread", {{"count", number(lag->dropped_arrivals)}}});
    }
  }
  if (!summary.first_error.empty()) {
    all.push_back({"run-first-error", {{"error", summary.first_error}}});
  }
  if (counts.nothing_retried() > 0) {
    all.push_back(
        {"remark-not-retried", {{"what", to_string(summary.retry_metrics.not_retryable)}}});
  }
  if (summary.failed_commands.value_or(0) > 0) {
    all.push_back({"run-failed-commands", {{"count", number(*summary.failed_commands)}}});
  }
  if (summary.failed_orders.value_or(0) > 0) {
    all.push_back({"run-failed-orders", {{"count", number(*summary.failed_orders)}}});
  }
  // Without an outage the job is the answer.
  if (const auto& job = summary.job; job && summary.recovery.verdict != Verdict::kNoOutage) {
    if (!job->makespan) {
      all.push_back({"remark-calls", calls_of(*job)});
    } else if (counts.gave_up() == 0 && !job_is_answer(summary)) {
      all.push_back({"run-job-done", {{"time", *job->makespan}}});
    } else if (counts.gave_up() > 0) {
      all.push_back({"run-job-lost",
                     {{"time", *job->makespan},
                      {"lost", number(counts.gave_up())},
                      {"calls", number(job->calls())}}});
    }
  }
  if (const auto& reconnect = summary.reconnect) {
    Statement what{reconnect->all_back ? "run-reconnected" : "run-not-reconnected",
                   {{"clients", number(reconnect->clients)}, {"back", number(reconnect->back)}}};
    if (reconnect->all_back) what.values.push_back({"after", *reconnect->all_back});
    all.push_back(what);
  }
  if (summary.hosts) {
    if (auto of_hosts = remark_of(*summary.hosts)) all.push_back(*std::move(of_hosts));
    add_lives(all, *summary.hosts);
  }
  if (summary.graph) {
    if (auto first = first_death(*summary.graph)) all.push_back(*std::move(first));
  }
  return all;
}

namespace {

// To a tenth of a second: a real run's windows end a bit late.
Duration in_tenths(Duration time) {
  return std::chrono::round<std::chrono::duration<std::int64_t, std::deci>>(time);
}

}  // namespace

std::optional<RunAnswer> seen_in(const RunCurve& curve) {
  constexpr double kFell = 0.75, kBack = 0.9, kDown = 0.5;  // of the OK/s before
  constexpr double kBeyondChance = 4, kStill = 3;           // standard deviations of a count
  const std::vector<RunCurve::Point>& points = curve.points;
  double seconds = 0, answers = 0, before = 0;
  const auto begin_of = [&points](std::size_t i) {
    return i == 0 ? Duration::zero() : points[i - 1].end;
  };
  const auto length_of = [&](std::size_t i) { return to_seconds(points[i].end - begin_of(i)); };
  const auto below = [&](std::size_t i, double share, double deviations) {
    const double expected = before * length_of(i);
    return points[i].ok < share * before &&
           expected - points[i].ok * length_of(i) >= deviations * std::sqrt(expected);
  };
  const auto fell = [&](std::size_t i) { return below(i, kFell, kBeyondChance); };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!fell(i)) {
      seconds += length_of(i);
      answers += points[i].ok * length_of(i);
      before = answers / seconds;
      continue;
    }
    // It may fall again. The last fall's end counts.
    double least = points[i].ok;
    std::size_t end = i + 1;
    bool low = true;
    for (std::size_t k = i + 1; k < points.size(); ++k) {
      low = low ? below(k, kBack, kStill) : fell(k);
      if (!low) continue;
      least = std::min(least, points[k].ok);
      end = k + 1;
    }
    const bool down = low && points.back().ok < kDown * before;
    return RunAnswer{!low   ? Tone::kGood
                     : down ? Tone::kBad
                            : Tone::kDoubt,
                     {!low   ? "seen-back"
                      : down ? "seen-down"
                             : "seen-low",
                      {{"from", clock_text(in_tenths(begin_of(i)))},
                       {"to", clock_text(in_tenths(points[end - 1].end))},
                       {"share", ShareOf{least / before}}}},
                     before};
  }
  return std::nullopt;
}

std::optional<RunAnswer> seen_in(const RunCurve& curve, const Summary& summary) {
  // A job's rate falls as it ends.
  if (!curve.outages.empty() || summary.job || !summary.arrivals.empty()) return std::nullopt;
  auto seen = seen_in(curve);
  if (seen && seen->tone == Tone::kGood && summary.counts.success_share() < kNearlyAll) {
    seen->tone = Tone::kDoubt;
  }
  return seen;
}

void CurveRecorder::on_interval(const RunInterval& interval) {
  curve_.points.push_back({interval.t, interval.rates.ok});
}

void CurveRecorder::on_outage(Duration t, OutageEvent event, const std::string& /*what*/) {
  if (event == OutageEvent::kBegin) {
    curve_.outages.emplace_back(t, std::nullopt);
  } else if (!curve_.outages.empty()) {
    curve_.outages.back().second = t;
  }
}

namespace {

constexpr std::size_t kMostMarks = 32;

}  // namespace

void print_headline(std::ostream& out, const RunAnswer& answer, const Style& style) {
  const std::string sign = sign_of(answer.tone, style);
  std::string text = words_of(answer.headline);
  if (!text.ends_with('?')) text += '.';
  out << painted(fitted(sign + (sign.empty() ? "" : " "), text, style), answer.tone, style);
}

std::string print_strip(std::ostream& out, const RunCurve& curve, double full,
                        const std::string& beside, const Style& style) {
  if (curve.points.empty()) return "";
  if (full <= 0) full = best_of(curve);
  // As many marks as have room in the line, if these are enough for a picture.
  constexpr std::size_t kLeastMarks = 12, kAround = 20;
  const auto legend_of = [&curve](Duration mark) {
    return words_of({curve.outages.empty() ? "strip-legend" : "strip-legend-outage",
                     {{"mark", in_tenths(mark)}}});
  };
  const std::size_t others =
      columns_of(beside.empty() ? legend_of(std::chrono::seconds(1)) : beside) + kAround;
  const std::size_t room = style.width > others ? style.width - others : 0;
  const Strip strip = strip_of(curve, full, std::clamp(room, kLeastMarks, kMostMarks), style);
  const std::string text = words_of(
      {"strip", {{"first", full}, {"marks", strip.marks}, {"last", curve.points.back().ok}}});
  const std::string legend = legend_of(strip.mark);
  out << fitted("  ", text + "   " + (beside.empty() ? legend : beside), style);
  return legend;
}

void print_below(std::ostream& out, const std::string& text, Tone tone, const Style& style,
                 const std::string& head) {
  out << painted(fitted(head, text, style), tone, style) << std::flush;
}

void print_dim(std::ostream& out, const std::string& text, const Style& style) {
  out << painted(fitted("  ", text, style), Tone::kDim, style);
}

void AnswerReport::on_summary(const Summary& summary) {
  const bool judged = !is_client_ && summary.recovery.verdict != Verdict::kNoOutage;
  const auto seen = judged ? std::nullopt : seen_in(curve(), summary);
  print_headline(out_, seen ? *seen : answer_of(summary), style_);
  const double full = seen                      ? seen->before
                      : curve().outages.empty() ? 0
                                                : summary.recovery.baseline_ok.value_or(0);
  print_strip(out_, curve(), full, "", style_);
  Statements answered;
  std::optional<Statement> latency;
  if (summary.phases) {
    const RunPhases& phases = *summary.phases;
    const auto add = [&answered](std::string_view id, const PhaseFigures& phase) {
      if (const auto share = phase.success_share()) {
        answered.push_back({id, {{"share", ShareOf{*share}}}});
      }
    };
    add("answered-before", phase_of(phases, RunPhase::kBefore));
    add("answered-during", phase_of(phases, RunPhase::kDuring));
    add("answered-after", phase_of(phases, RunPhase::kAfter));
    const PhaseFigures& during = phase_of(phases, RunPhase::kDuring);
    latency = latency_of(phase_of(phases, RunPhase::kBefore).request_p99, during.request_p99,
                         during.success_share(), phase_of(phases, RunPhase::kAfter).request_p99);
  } else {
    if (summary.counts.known() > 0) {
      answered.push_back({"answered", {{"share", ShareOf{summary.counts.success_share()}}}});
    }
    latency = latency_of(summary.latencies.requests().quantile(0.99), {}, {}, {});
  }
  std::string list;
  for (const Statement& each : answered) list += (list.empty() ? "" : ", ") + words_of(each);
  if (!list.empty()) {
    std::string line = words_of({"answered-line", {{"list", list}}});
    if (latency) line += " · " + words_of(*latency);
    out_ << fitted("  ", line, style_);
  }
  for (const Statement& each : remarks_of(summary)) {
    out_ << painted(fitted("  ", words_of(each), style_), Tone::kDoubt, style_);
  }
  std::string attempts = words_of({"below-runs", {{"attempts", summary.counts.amplification()}}});
  if (summary.graph && summary.graph->nodes.size() > 1) {
    const NodeResult& last = summary.graph->nodes.back();
    const Statement calls{
        last.during ? "below-calls-during" : "below-calls",
        {{"calls", last.during.value_or(last.amplification)}, {"name", last.name}}};
    attempts += ", " + words_of(calls);
  }
  print_dim(out_, attempts + (below_.empty() ? "" : " · " + below_), style_);
  print_dim(
      out_,
      words_of(is_client_ ? "next-client"
               : is_down(summary.recovery.verdict) && !summary.outage.empty() && !summary.graph
                   ? "next-down"
                   : "next-one-run"),
      style_);
  out_ << std::flush;
}

}  // namespace retrystorm
