#include "common/output/live_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <string_view>

#include "common/output/report.h"
#include "model/base/text.h"
#include "model/run/disturbance.h"

namespace retrystorm {
namespace {

// How many values are kept: more than the widest screen has columns.
constexpr std::size_t kHistory = 1024;

constexpr std::array<std::string_view, 9> kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kAscii{" ", ".", ":", "-", "=", "+", "*", "#", "@"};

constexpr std::size_t kLabelWidth = 12;
constexpr std::size_t kValueWidth = 13;

// Colours that stay readable on a dark and on a light background.
enum class Colour { kNone, kBold, kGreen, kRed, kYellow, kMagenta, kCyan };

std::string_view code(Colour colour) {
  switch (colour) {
    case Colour::kNone:
      return "";
    case Colour::kBold:
      return "1";
    case Colour::kGreen:
      return "32";
    case Colour::kRed:
      return "31";
    case Colour::kYellow:
      return "33";
    case Colour::kMagenta:
      return "35";
    case Colour::kCyan:
      return "36";
  }
  return "";
}

std::string paint(const std::string& text, Colour colour, const ScreenStyle& style) {
  if (!style.colour || colour == Colour::kNone) return text;
  return "\033[" + std::string(code(colour)) + 'm' + text + "\033[0m";
}

std::string cut(const std::string& text, std::size_t width) {
  return text.substr(0, width);  // ASCII except for "µs", and not yet coloured
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string fill(width > text.size() ? width - text.size() : 0, ' ');
  return right ? fill + text : text + fill;
}

std::string number(double value, const char* unit = "") {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f%s", value, unit);
  return text.data();
}

// Short enough to read on a screen that changes: "2.671s", not nanoseconds.
std::string short_duration(Duration duration) {
  const auto unit = duration < std::chrono::seconds(1) ? Duration(100'000) : Duration(1'000'000);
  return format_duration(duration / unit * unit);
}

void push(std::deque<double>& values, double value) {
  values.push_back(value);
  if (values.size() > kHistory) values.pop_front();
}

double highest(std::initializer_list<const std::deque<double>*> series, std::size_t width) {
  double top = 0;
  for (const auto* values : series) {
    const std::size_t seen = std::min(width, values->size());
    for (auto value = values->end() - static_cast<std::ptrdiff_t>(seen); value != values->end();
         ++value) {
      top = std::max(top, *value);
    }
  }
  return top;
}

std::size_t spark_width(const ScreenSize& size) {
  const std::size_t taken = kLabelWidth + kValueWidth + 2;
  return size.columns > taken ? size.columns - taken : 0;
}

std::string row(const ScreenSize& size, const ScreenStyle& style, const std::string& label,
                const std::string& value, const std::deque<double>& values, double top,
                Colour colour) {
  const std::string words = padded(label, kLabelWidth, false) + padded(value, kValueWidth, true);
  return cut(words, size.columns) +
         (spark_width(size) == 0
              ? ""
              : "  " + paint(sparkline(values, spark_width(size), top, style), colour, style));
}

std::string title_line(const ScreenSize& size, const ScreenStyle& style, const std::string& title,
                       Duration t) {
  const std::string time = format_duration(std::chrono::round<std::chrono::seconds>(t));
  const std::size_t room = size.columns > time.size() + 1 ? size.columns - time.size() - 1 : 0;
  return paint(cut(padded(cut(title, room), room, false) + ' ' + time, size.columns), Colour::kBold,
               style);
}

// Breaks a text at blanks, and where it has line breaks.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) {
    lines.emplace_back();
    for (const std::string_view word : split(line, ' ')) {
      std::string& last = lines.back();
      if (!last.empty() && last.size() + 1 + word.size() > width) {
        lines.emplace_back(word);
      } else {
        if (!last.empty()) last += ' ';
        last += word;
      }
    }
  }
  return lines;
}

std::vector<std::string> fitted(std::vector<std::string> lines, const ScreenSize& size) {
  if (lines.size() > size.rows) lines.resize(size.rows);
  return lines;
}

Colour colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRecovered:
      return Colour::kGreen;
    case Verdict::kRecovering:
    case Verdict::kUndecided:
      return Colour::kYellow;
    case Verdict::kCollapsed:
    case Verdict::kRelapsed:
      return Colour::kRed;
    case Verdict::kNoOutage:
      return Colour::kNone;
  }
  return Colour::kNone;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string sparkline(const std::deque<double>& values, std::size_t width, double top,
                      const ScreenStyle& style) {
  const auto& marks = style.unicode ? kBlocks : kAscii;
  const std::size_t shown = std::min(width, values.size());
  std::string line(width - shown, ' ');
  for (std::size_t i = values.size() - shown; i < values.size(); ++i) {
    const double share = top > 0 ? std::clamp(values[i] / top, 0.0, 1.0) : 0;
    line +=
        marks.at(share > 0 ? static_cast<std::size_t>(std::max(1.0, std::round(share * 8))) : 0);
  }
  return line;
}

void ClientView::add(const Moment& moment) {
  latest_ = moment;
  push(ok_, moment.rates.ok);
  push(errors_, moment.rates.errors);
  push(timed_out_, moment.rates.timed_out);
  push(not_sent_, moment.rates.not_sent);
  push(attempts_, moment.rates.attempts);
  push(in_flight_, static_cast<double>(moment.clients.in_flight));
  push(outage_, moment.outage.empty() ? 0 : 1);
}

std::vector<std::string> ClientView::render(const ScreenSize& size,
                                            const ScreenStyle& style) const {
  const std::string kFreeze = print_disturbance({});
  const Rates& rates = latest_.rates;
  const std::size_t width = spark_width(size);
  // One scale for all rates, so that they can be compared.
  const double top = highest({&ok_, &errors_, &timed_out_, &not_sent_, &attempts_}, width);
  const auto rate_row = [&](const char* label, double value, const std::deque<double>& values,
                            Colour colour) {
    return row(size, style, label, number(value, "/s"), values, top, colour);
  };
  std::vector<std::string> lines{
      title_line(size, style, title_, latest_.t), "", rate_row("OK", rates.ok, ok_, Colour::kGreen),
      rate_row("errors", rates.errors, errors_, Colour::kRed),
      rate_row("timed out", rates.timed_out, timed_out_, Colour::kYellow)};
  // Shown only if attempts were not sent: most clients have no circuit breaker or rate limit.
  if (latest_.totals.not_sent > 0) {
    lines.push_back(rate_row("not sent", rates.not_sent, not_sent_, Colour::kMagenta));
  }
  lines.insert(
      lines.end(),
      {rate_row("attempts", rates.attempts, attempts_, Colour::kNone),
       row(size, style, "in flight", std::to_string(latest_.clients.in_flight), in_flight_,
           highest({&in_flight_}, width), Colour::kCyan),
       row(size, style, "outage", latest_.outage == kFreeze ? "frozen" : latest_.outage, outage_, 1,
           Colour::kRed),
       "",
       cut("rates: 0 to " + number(top, "/s") + ", amplification " +
               number(latest_.totals.amplification()),
           size.columns),
       cut("success: " + success_text(latest_.totals), size.columns),
       paint(cut("verdict so far: " + std::string(to_string(latest_.verdict)), size.columns),
             colour_of(latest_.verdict), style)});
  if (!latest_.advice.empty()) {
    lines.emplace_back();
    for (const std::string& line : wrapped(latest_.advice, size.columns)) {
      lines.push_back(cut(line, size.columns));
    }
  }
  return fitted(std::move(lines), size);
}

void ServerView::add(const Moment& moment) {
  latest_ = moment;
  const double seconds = std::max(to_seconds(moment.window), 1e-9);
  const auto rate = [seconds](std::uint64_t count) { return static_cast<double>(count) / seconds; };
  const ServerInterval& interval = moment.interval;
  push(concurrency_, static_cast<double>(interval.concurrency));
  if (interval.workers) {
    push(busy_, static_cast<double>(interval.workers->busy));
    push(waiting_, static_cast<double>(interval.workers->waiting));
  }
  push(delay_, to_seconds(interval.last_delay));
  push(offered_, rate(interval.counts.offered));
  push(admitted_, rate(interval.counts.admitted));
  push(completed_, rate(interval.counts.completed));
  push(served_, rate(interval.counts.served));
  push(rejected_, rate(interval.counts.rejections()));
}

std::vector<std::string> ServerView::render(const ScreenSize& size,
                                            const ScreenStyle& style) const {
  if (concurrency_.empty()) return {};
  const std::size_t width = spark_width(size);
  const double top = highest({&offered_, &completed_}, width);
  const auto rate_row = [&](const char* label, const std::deque<double>& values, Colour colour) {
    return row(size, style, label, number(values.back(), "/s"), values, top, colour);
  };
  // A logarithmic scale: the delay grows exponentially with the concurrency, and a linear scale
  // would only show the peak.
  std::deque<double> magnitudes;
  for (const double delay : delay_) magnitudes.push_back(std::log1p(delay * 1e3));
  std::vector<std::string> lines{title_line(size, style, title_, latest_.t), ""};
  const auto& workers = latest_.interval.workers;
  if (workers) {
    lines.push_back(row(size, style, "busy",
                        std::to_string(workers->busy) + " of " + std::to_string(workers->workers),
                        busy_, static_cast<double>(workers->workers), Colour::kCyan));
    lines.push_back(row(size, style, "waiting", std::to_string(workers->waiting), waiting_,
                        highest({&waiting_}, width), Colour::kMagenta));
  } else {
    lines.push_back(row(size, style, "concurrency", std::to_string(latest_.interval.concurrency),
                        concurrency_, highest({&concurrency_}, width), Colour::kCyan));
  }
  const std::string scale = workers
                                ? "waiting: 0 to " + number(highest({&waiting_}, width))
                                : "concurrency: 0 to " + number(highest({&concurrency_}, width));
  lines.insert(
      lines.end(),
      {row(size, style, "delay (log)", short_duration(latest_.interval.last_delay), magnitudes,
           highest({&magnitudes}, width), Colour::kYellow),
       rate_row("offered", offered_, Colour::kNone), rate_row("admitted", admitted_, Colour::kNone),
       rate_row("completed", completed_, Colour::kNone),
       rate_row("served", served_, Colour::kGreen), rate_row("rejected", rejected_, Colour::kRed),
       "", cut(scale + ", rates: 0 to " + number(top, "/s"), size.columns)});
  return fitted(std::move(lines), size);
}

bool Terminal::usable() {
  const std::string kind = environment("TERM");
  return isatty(STDOUT_FILENO) == 1 && !kind.empty() && kind != "dumb";
}

ScreenSize Terminal::size() const {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) {
    return {};
  }
  return {.columns = window.ws_col, .rows = window.ws_row};
}

ScreenStyle Terminal::style() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = environment(name);
  }
  locale = to_lower(locale);
  return {.colour = environment("NO_COLOR").empty(),
          .unicode = locale.find("utf-8") != std::string::npos ||
                     locale.find("utf8") != std::string::npos};
}

bool wants_screen(bool asked) {
  if (!asked || Terminal::usable()) return asked;
  std::cerr
      << "--live: standard output is not a terminal that can be redrawn; printing lines instead\n";
  return false;
}

void Terminal::draw(const std::vector<std::string>& lines) {
  const std::scoped_lock lock(mutex_);
  frame_ = "\033[H";  // overwrites the previous frame line by line: no flicker
  for (std::size_t i = 0; i < lines.size(); ++i) {
    frame_ += (i == 0 ? "" : "\r\n") + lines[i] + "\033[K";
  }
  frame_ += "\033[J";
  if (!suspended_) show();
}

void Terminal::close() {
  const std::scoped_lock lock(mutex_);
  frame_.clear();
  give_back();
}

void Terminal::suspend() {
  const std::scoped_lock lock(mutex_);
  suspended_ = true;
  give_back();
  out_.drained(std::chrono::milliseconds(250));
}

void Terminal::resume() {
  const std::scoped_lock lock(mutex_);
  suspended_ = false;
  changed_ = true;  // another program may have changed it meanwhile
  if (!frame_.empty()) show();
}

void Terminal::show() {
  if (!out_.drained(Duration::zero())) return;
  // Switches to the alternate screen and hides the cursor.
  write((open_ && !changed_ ? "" : "\033[?1049h\033[?25l") + frame_);
  open_ = true;
  changed_ = false;
}

void Terminal::give_back() {
  if (open_) write("\033[?25h\033[?1049l");
  open_ = false;
}

void Terminal::write(const std::string& text) {
  out_.sputn(text.data(), static_cast<std::streamsize>(text.size()));
  out_.pubsync();
}

void ScreenReport::on_summary(const Summary& summary) {
  screen_.close();
  out_ << summary_text(summary) << std::endl;
}

}  // namespace retrystorm
