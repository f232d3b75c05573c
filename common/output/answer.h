// The answer of a run at a glance: a sentence, a strip of OK/s, what was answered.
#pragma once

#include <array>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/output/style.h"
#include "model/base/statement.h"
#include "model/run/run_observer.h"

namespace retrystorm {

// OK/s over the time of a run, and its outages.
struct RunCurve {
  struct Point {
    Duration end{};
    double ok = 0;  // per second, since the point before
  };
  std::vector<Point> points{};
  std::vector<std::pair<Duration, std::optional<Duration>>> outages{};  // without an end: it lasts
};

// "▇▇▇▇▇▇[····]············", one mark for a window; windows are joined so that at most `most` marks are needed.
// `full`: OK/s that are all there is to answer. Returns the length of a mark, too.
struct Strip {
  std::string marks;
  Duration mark{};
};
Strip strip_of(const RunCurve& curve, double full, std::size_t most, const Style& style);

// What became of the run, and how good that is.
struct RunAnswer {
  Tone tone = Tone::kPlain;
  Statement headline{};
  double before = 0;  // of `seen_in`: OK/s until they fell
};
RunAnswer answer_of(const Summary& summary);

// Green is earned. A service that comes back, but leaves a tenth of the requests before the outage, in it or after it
// without an answer, is in doubt, and the sentence says so. It is the tenth of OK/s that may be missing in "back".
// `answered`: the shares of the requests, in the order of `RunPhase`.
void look_at_failures(RunAnswer& answer, const std::array<std::optional<double>, 3>& answered);

// "p99 350 ms, after it 2.1 s": of the requests that began before the outage, and after it. "in the outage": where nearly
// all of its requests are answered, `share`, and take twice as long or longer. Nothing where none is known.
std::optional<Statement> latency_of(const std::optional<TimeBound>& before,
                                    const std::optional<TimeBound>& during,
                                    std::optional<double> share,
                                    const std::optional<TimeBound>& after);

// What else a reader must know of the run: why its figures are not the service's, what failed, who died first.
Statements remarks_of(const Summary& summary);

// How good a run without an outage is. `left_out`: the share of its requests of which it is not known.
Tone tone_of_calm(double success, double left_out);

// The answer of a run in which no outage was announced: what is to be seen in its rates, such as a server that somebody
// has stopped by hand. Nothing where OK/s never fell by more than chance does.
std::optional<RunAnswer> seen_in(const RunCurve& curve);
// The same, unless its rates change by themselves.
std::optional<RunAnswer> seen_in(const RunCurve& curve, const Summary& summary);

// Collects the curve of a run.
class CurveRecorder : public RunObserver {
 public:
  void on_interval(const RunInterval& interval) override;
  void on_outage(Duration t, OutageEvent event, const std::string& what) override;
  const RunCurve& curve() const { return curve_; }

 private:
  RunCurve curve_;
};

// "✓ Comes back at once.", as a line.
void print_headline(std::ostream& out, const RunAnswer& answer, const Style& style);
// The strip of the curve, and what is said beside it: if nothing, what a mark is. Returns that, or nothing without a curve.
// `full`: see `strip_of`; 0: the best.
std::string print_strip(std::ostream& out, const RunCurve& curve, double full,
                        const std::string& beside, const Style& style);
// A paragraph below the headline, behind `head`.
void print_below(std::ostream& out, const std::string& text, Tone tone, const Style& style,
                 const std::string& head = "  ");
// A line that is less important than the others.
void print_dim(std::ostream& out, const std::string& text, const Style& style);

// Collects a run, and prints its answer at the end: at most four lines. `below`: what the program knows besides, dim.
class AnswerReport final : public CurveRecorder {
 public:
  // `out` must outlive the report.
  AnswerReport(std::ostream& out, const Style& style, std::string below, bool is_client)
      : out_(out), style_(style), below_(std::move(below)), is_client_(is_client) {}

  void on_summary(const Summary& summary) override;

 private:
  std::ostream& out_;
  const Style style_;
  const std::string below_;
  const bool is_client_;  // not `simulate`
};

}  // namespace retrystorm
