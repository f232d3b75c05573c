#include "common/output/json_lines.h"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <utility>

#include "common/output/json_text.h"
#include "model/base/duration.h"

namespace retrystorm {

std::string version_text() {
  const std::string revision = kRevision;
  return std::string("retrystorm ") + kVersion + (revision.empty() ? "" : " (" + revision + ')');
}

Json start_json(const std::string& program, const std::string& command, const Json& options,
                std::optional<std::chrono::system_clock::time_point> started_at) {
  Json start{{"type", "start"}, {"program", program}, {"version", kVersion}};
  if (*kRevision != '\0') start["revision"] = kRevision;
  start["command"] = command;
  if (started_at) start["started_at"] = rounded(to_seconds(started_at->time_since_epoch()));
  start.update(options);
  return start;
}

std::string csv_comment(const std::string& command, std::uint64_t seed) {
  std::string line = "# " + command + ", " + version_text() + ", seed " + std::to_string(seed);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

namespace {

using namespace std::chrono_literals;

// How many bytes are kept while the file accepts nothing. A pipe's reader may have stopped for
// good, while a shared disk is only slow.
constexpr std::size_t kMostForAPipe = 1 << 20;
constexpr std::size_t kMostForADisk = 64 << 20;

// At its end, a program waits while the file still accepts data. It gives up when the file has
// accepted nothing for this time, or after `kLongestEnd` in total.
constexpr Duration kPipePatience = 1s;
constexpr Duration kDiskPatience = 5s;
constexpr Duration kLongestEnd = 10s;

}  // namespace

JsonLines::JsonLines(OutputFile file, OutputQueue::WhenFull when_full)
    : file_(std::move(file)), waits_(when_full == OutputQueue::WhenFull::kWait) {
  if (file_.descriptor() < 0) return;
  file_.empty();
  const auto tell = [](const std::string& what) { std::cerr << what; };
  queue_.emplace(file_.descriptor(), when_full, OutputQueue::Listener{file_.path(), tell, {}},
                 file_.is_regular() ? kMostForADisk : kMostForAPipe);
}

JsonLines::JsonLines(const std::string& path)
    : JsonLines(OutputFile(path), OutputQueue::WhenFull::kWait) {}

JsonLines::~JsonLines() {
  finish();
}

void JsonLines::write(const Json& object) {
  if (!queue_ || finished_ || queue_->failed()) return;
  const std::string line = json_line(object) + '\n';
  queue_->sputn(line.data(), static_cast<std::streamsize>(line.size()));
}

void JsonLines::stop_waiting() {
  waits_ = false;
  if (queue_) queue_->stop_waiting();
}

bool JsonLines::finish() {
  if (!queue_ || std::exchange(finished_, true)) return !failed_;
  while (waits_ && !queue_->drained(10ms)) {
  }
  const Duration patience = file_.is_regular() ? kDiskPatience : kPipePatience;
  const TimePoint last = Clock::now() + kLongestEnd;
  std::size_t left = queue_->unwritten();
  bool all = queue_->drained(patience);
  while (!all && queue_->unwritten() < left && Clock::now() < last) {
    left = queue_->unwritten();
    all = queue_->drained(patience);
  }
  failed_ = queue_->failed();
  if (!all) {
    queue_->abandon();
    file_.leave_open();
  }
  return !failed_;
}

}  // namespace retrystorm
