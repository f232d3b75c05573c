#include "study/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>

#include "common/output/output_queue.h"
#include "words/words.h"

namespace retrystorm {

void ProgressBar::see(const RunResult& run) {
  ++done_;
  back_ += run.verdict == Verdict::kRecovered || run.verdict == Verdict::kNoOutage ? 1 : 0;
  down_ += is_down(run.verdict) ? 1 : 0;
  if (out_ == nullptr) return;
  const Duration elapsed = Clock::now() - start_;
  const double share = std::min(static_cast<double>(done_) / static_cast<double>(runs_), 1.0);
  const Duration left =
      std::chrono::ceil<std::chrono::seconds>(scale(elapsed, (1 - share) / share));
  draw(words_of({"progress-left",
                 {counted("done", done_),
                  counted("runs", runs_),
                  counted("back", back_),
                  counted("down", down_),
                  {"left", left}}}));
}

void ProgressBar::see_trial() {
  draw(words_of({"trials-progress", {counted("done", ++trials_)}}));
}

void ProgressBar::draw(const std::string& line) {
  const TimePoint now = Clock::now();
  if (out_ == nullptr || now - drawn_ < std::chrono::milliseconds(200)) return;
  drawn_ = now;
  PlainText::write_as_it_is(*out_, "\r\033[K" + line);
}

void ProgressBar::clear() {
  if (out_ != nullptr) PlainText::write_as_it_is(*out_, "\r\033[K");
}

std::ostream* progress_stream() {
  return isatty(STDERR_FILENO) == 1 ? &std::cerr : nullptr;
}

}  // namespace retrystorm
