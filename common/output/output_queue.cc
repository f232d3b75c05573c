#include "common/output/output_queue.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <iostream>
#include <system_error>
#include <thread>
#include <utility>

#include "common/output/style.h"
#include "model/base/text.h"

namespace retrystorm {

void PlainText::write_as_it_is(std::ostream& stream, std::string_view text) {
  auto* const plain = dynamic_cast<PlainText*>(stream.rdbuf());
  std::streambuf* const behind = plain == nullptr ? stream.rdbuf() : plain->to_;
  behind->sputn(text.data(), static_cast<std::streamsize>(text.size()));
  behind->pubsync();
}

std::streamsize PlainText::xsputn(const char* text, std::streamsize size) {
  const std::scoped_lock lock(mutex_);
  const std::string_view whole(text, static_cast<std::size_t>(size));
  std::string all;
  for (std::size_t begin = 0; begin < whole.size();) {
    const std::string_view rest = whole.substr(begin);
    const std::size_t color = color_at_begin(rest);
    const std::size_t length = color > 0 ? color : std::min(rest.find('\033', 1), rest.size());
    all += color > 0 ? std::string(rest.substr(0, length)) : plain(rest.substr(0, length));
    begin += length;
  }
  const auto written = static_cast<std::streamsize>(all.size());
  return to_->sputn(all.data(), written) == written ? size : 0;
}

std::string PlainText::plain(std::string_view text) {
  std::string line = printable(text, "\n\t");
  for (std::size_t i = 0; i < line.size(); ++i) {
    char& c = line[i];
    const bool names =
        i + 1 == line.size() || std::isalpha(static_cast<unsigned char>(line[i + 1]));
    if ((c == ':' && last_ == ':' && length_ == 1) || (c == '[' && hashes_ > 1 && names)) c = '?';
    const bool blank = c == ' ' || c == '\t';
    length_ = c == '\n' ? 0 : length_ + (blank && length_ == 0 ? 0 : 1);
    hashes_ = c == '#' ? hashes_ + 1 : 0;
    last_ = c;
  }
  return line;
}

PlainText::int_type PlainText::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  const char one = traits_type::to_char_type(letter);
  return xsputn(&one, 1) == 1 ? letter : traits_type::eof();
}

namespace {

using namespace std::chrono_literals;

// How long a program waits for a slow reader at its end.
constexpr Duration kEndPatience = 250ms;

// How long a note waits for what was printed on the other stream before.
constexpr Duration kOrderPatience = 100ms;

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// The first lines of `text` that a pipe accepts atomically, so that the pipe never holds part of a
// line when its reader stops.
std::string_view next_part(std::string_view text) {
  if (text.size() <= PIPE_BUF) return text;
  const std::size_t end = text.rfind('\n', PIPE_BUF - 1);
  return text.substr(0, end == std::string_view::npos ? PIPE_BUF : end + 1);
}

std::string lost(const std::string& name, std::size_t lines) {
  return name + " was blocked: " + std::to_string(lines) +
         (lines == 1 ? " line is lost\n" : " lines are lost\n");
}

std::string failure(const std::string& name, int error) {
  return "writing to " + name + " failed" +
         (error == 0 ? "" : ": " + std::generic_category().message(error)) + ": it ends here\n";
}

// Do both lead to one terminal, pipe or file?
bool same_file(int one, int other) {
  struct stat a, b;
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

}  // namespace

struct OutputQueue::State {
  State(int which, WhenFull policy, Listener who, std::size_t bytes)
      : descriptor(which), most(bytes), when_full(policy), listener(std::move(who)) {}

  const int descriptor;
  const std::size_t most;  // bytes in the queue
  WhenFull when_full;

  mutable std::mutex mutex;
  std::condition_variable changed;
  Listener listener;                // without functions after the owner's end
  std::string line;                 // the incomplete line, not yet queued
  std::string queue;                // not yet taken by the thread
  std::size_t writing = 0;          // bytes taken by the thread but not yet written
  std::size_t unwritten_lines = 0;  // lines in `writing`
  std::size_t dropped = 0;          // dropped lines not yet reported
  bool end = false;
  bool closed = false;
  bool failed = false;
  bool abandoned = false;

  bool idle() const { return queue.empty() && writing == 0; }
  bool lost() const { return closed || failed || abandoned; }

  void take(std::unique_lock<std::mutex>& lock, std::string_view text, bool flush);
  void queue_up(std::unique_lock<std::mutex>& lock, std::string_view text);
  void run();
  void write_out(std::unique_lock<std::mutex>& lock, std::string_view text);
  void end_with(int error);
  void tell(const std::string& what) const {
    if (listener.tell) listener.tell(what);
  }
};

void OutputQueue::State::take(std::unique_lock<std::mutex>& lock, std::string_view text,
                              bool flush) {
  line += text;
  const std::size_t end_of_line = line.rfind('\n');
  const std::size_t ready = flush                              ? line.size()
                            : end_of_line == std::string::npos ? 0
                                                               : end_of_line + 1;
  if (ready == 0) return;
  const std::string whole = line.substr(0, ready);
  line.erase(0, ready);
  queue_up(lock, whole);
}

void OutputQueue::State::queue_up(std::unique_lock<std::mutex>& lock, std::string_view text) {
  const auto room = [&] { return lost() || queue.empty() || queue.size() + text.size() <= most; };
  changed.wait(lock, [&] { return room() || when_full == WhenFull::kDrop; });
  if (lost()) return;
  if (!room()) {
    dropped += lines_in(text);
    return;
  }
  queue += text;
  changed.notify_all();
}

void OutputQueue::State::run() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return !queue.empty() || end; });
    if (queue.empty()) return;
    const std::string text = std::exchange(queue, {});
    writing = text.size();
    changed.notify_all();
    write_out(lock, text);
    writing = 0;  // also after a failure
    unwritten_lines = 0;
    if (dropped > 0 && !lost()) tell(retrystorm::lost(listener.name, std::exchange(dropped, 0)));
    changed.notify_all();
  }
}

void OutputQueue::State::write_out(std::unique_lock<std::mutex>& lock, std::string_view text) {
  unwritten_lines = lines_in(text);
  while (!text.empty()) {
    lock.unlock();
    const std::string_view part = next_part(text);
    const ssize_t written = write(descriptor, part.data(), part.size());
    const int error = errno;
    lock.lock();
    if (abandoned) return;
    if (written > 0) {
      unwritten_lines -= lines_in(text.substr(0, static_cast<std::size_t>(written)));
      text.remove_prefix(static_cast<std::size_t>(written));
      writing = text.size();
    } else if (error == EAGAIN) {
      // Another process that shares the descriptor has made it non-blocking.
      lock.unlock();
      std::this_thread::sleep_for(5ms);
      lock.lock();
      if (end) return;
    } else if (error != EINTR) {
      return end_with(error);
    }
  }
}

void OutputQueue::State::end_with(int error) {
  queue.clear();
  if (error == EPIPE && listener.closed) {
    closed = true;
    return listener.closed();
  }
  failed = true;
  tell(failure(listener.name, error));
}

OutputQueue::OutputQueue(int descriptor, WhenFull when_full, Listener listener, std::size_t most)
    : state_(std::make_shared<State>(descriptor, when_full, std::move(listener), most)) {
  std::thread([state = state_] { state->run(); }).detach();
}

OutputQueue::~OutputQueue() {
  const std::scoped_lock lock(state_->mutex);
  state_->end = true;
  state_->listener.tell = nullptr;
  state_->listener.closed = nullptr;
  state_->changed.notify_all();
}

bool OutputQueue::drained(Duration within) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, within,
                                  [this] { return state_->idle() || state_->lost(); });
}

void OutputQueue::stop_waiting() {
  const std::scoped_lock lock(state_->mutex);
  state_->when_full = WhenFull::kDrop;
  state_->changed.notify_all();
}

std::size_t OutputQueue::unwritten() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->queue.size() + state_->writing;
}

void OutputQueue::abandon() {
  const std::scoped_lock lock(state_->mutex);
  if (state_->lost()) return;
  state_->abandoned = true;
  const std::size_t lines = lines_in(std::exchange(state_->queue, {})) + state_->unwritten_lines +
                            std::exchange(state_->dropped, 0);
  if (lines > 0) state_->tell(retrystorm::lost(state_->listener.name, lines));
}

bool OutputQueue::closed() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->closed;
}

bool OutputQueue::failed() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->failed;
}

std::streamsize OutputQueue::xsputn(const char* text, std::streamsize size) {
  std::unique_lock lock(state_->mutex);
  state_->take(lock, {text, static_cast<std::size_t>(size)}, false);
  return size;
}

OutputQueue::int_type OutputQueue::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  const char one = traits_type::to_char_type(letter);
  xsputn(&one, 1);
  return letter;
}

int OutputQueue::sync() {
  std::unique_lock lock(state_->mutex);
  state_->take(lock, {}, true);
  return 0;
}

StandardStreams::StandardStreams(EndSignals& signals, OutputQueue::WhenFull when_full)
    : signals_(signals),
      err_(STDERR_FILENO, OutputQueue::WhenFull::kDrop, {"standard error", {}, {}}),
      out_(STDOUT_FILENO, when_full,
           {"standard output",
            [this](const std::string& what) {
              err_.sputn(what.data(), static_cast<std::streamsize>(what.size()));
            },
            [&signals] { signals.request_end(); }}),
      old_err_((std::cerr.flush(), std::cerr.rdbuf(when_full == OutputQueue::WhenFull::kWait &&
                                                           same_file(STDOUT_FILENO, STDERR_FILENO)
                                                       ? &out_
                                                       : &err_))),
      old_out_((std::cout.flush(), std::cout.rdbuf(&out_))) {
  plain_out_.emplace(std::cout);
  plain_err_.emplace(std::cerr);
  std::cerr << std::nounitbuf;  // so that it is written in whole lines, or at a flush
}

StandardStreams::~StandardStreams() {
  finish();
  plain_out_.reset();
  plain_err_.reset();
  std::cout.rdbuf(old_out_);
  std::cerr.rdbuf(old_err_);
  std::cerr << std::unitbuf;
}

void StandardStreams::note(const std::string& line) {
  std::cout.flush();
  out_.drained(kOrderPatience);
  std::cerr << line + '\n' << std::flush;
  err_.drained(kOrderPatience);
}

int StandardStreams::finish() {
  std::cout.flush();
  std::cerr.flush();
  const auto all_out = [this](Duration within) { return out_.drained(within); };
  while (!all_out(10ms) && !signals_.wait_until(Clock::now())) {
  }
  if (!all_out(kEndPatience)) out_.abandon();
  while (!err_.drained(10ms) && !signals_.wait_until(Clock::now())) {
  }
  if (!err_.drained(kEndPatience)) err_.abandon();
  if (out_.closed()) return 128 + SIGPIPE;
  return out_.failed() ? 1 : 0;
}

bool flush_standard_output() {
  errno = 0;
  if (std::cout.flush()) return true;
  if (errno == 0) {  // it has failed earlier: why?
    std::cout.clear();
    std::cout << std::endl;
  }
  std::cerr << failure("standard output", errno);
  return false;
}

}  // namespace retrystorm
