#include "study/progress_bar.h"

#include <chrono>
#include <string>

#include "common/output/plain_text.h"

namespace retrystorm {
namespace {

std::string bar(std::size_t done, std::size_t total, Duration elapsed) {
  constexpr std::size_t kWidth = 40;
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const auto full = static_cast<std::size_t>(share * kWidth);
  const Duration left = scale(elapsed, done == 0 ? 0 : (1 - share) / share);
  return "\r[" + std::string(full, '#') + std::string(kWidth - full, '.') + "] " +
         std::to_string(done) + "/" + std::to_string(total) + " runs" +
         (done == 0
              ? ""
              : ", " + format_duration(std::chrono::round<std::chrono::seconds>(left)) + " left  ");
}

}  // namespace

void ProgressBar::show(std::size_t done) {
  const TimePoint now = Clock::now();
  if (out_ == nullptr || now - drawn_ < std::chrono::milliseconds(200)) return;
  drawn_ = now;
  PlainText::write_as_it_is(*out_, bar(done, runs_, now - start_));
}

void ProgressBar::clear() {
  if (out_ != nullptr) PlainText::write_as_it_is(*out_, "\r\033[K");
}

}  // namespace retrystorm
