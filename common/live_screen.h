// One screen that is redrawn instead of lines: how a run goes, for a person at a terminal.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "common/counts.h"
#include "common/duration.h"
#include "common/recovery.h"
#include "common/report.h"

namespace retrystorm {

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

struct ScreenStyle {
  bool colour = false;
  bool unicode = true;  // without it, sparklines are made of ASCII
};

// The last `width` values as one character each, the newest at the right; `top` is the full height.
// Whatever is above zero can be told from zero.
std::string sparkline(const std::deque<double>& values, std::size_t width, double top,
                      const ScreenStyle& style);

// What the client's screen shows, and nothing of a terminal.
class ClientView {
 public:
  // What has become of the interval that ends at `t` since the start.
  struct Moment {
    Duration t{0};
    Rates rates;
    std::size_t in_flight = 0;
    double amplification = 1;
    bool outage = false;  // is the server frozen?
    Verdict verdict = Verdict::kNoOutage;
  };

  explicit ClientView(std::string title) : title_(std::move(title)) {}

  void add(const Moment& moment);

  // No more lines than rows, none wider than the columns.
  std::vector<std::string> render(const ScreenSize& size, const ScreenStyle& style) const;

 private:
  const std::string title_;
  Moment latest_;
  std::deque<double> ok_, errors_, timed_out_, attempts_, in_flight_, outage_;
};

// What the server's screen shows.
class ServerView {
 public:
  struct Moment {
    Duration t{0};
    Duration window{0};  // the time that the interval covers
    ServerInterval interval;
  };

  explicit ServerView(std::string title) : title_(std::move(title)) {}

  void add(const Moment& moment);
  std::vector<std::string> render(const ScreenSize& size, const ScreenStyle& style) const;

 private:
  const std::string title_;
  Moment latest_;
  std::deque<double> concurrency_, delay_, arrivals_, departures_, rejected_;
};

// The terminal of standard output, taken over from the first `draw` until `close` or the object's
// end: then the cursor and what was on the screen before are back.
class Terminal {
 public:
  Terminal() = default;
  ~Terminal() { close(); }

  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Can standard output be redrawn?
  static bool usable();

  ScreenSize size() const;

  // Colour unless NO_COLOR is set; Unicode where the locale has it.
  static ScreenStyle style();

  void draw(const std::vector<std::string>& lines);
  void close();

 private:
  bool open_ = false;
};

// Whether to show a screen: if it is asked for and possible. If only asked for, says so on standard
// error.
bool wants_screen(bool asked);

// A view on the terminal.
template <typename View>
class LiveScreen {
 public:
  explicit LiveScreen(std::string title) : view_(std::move(title)) {}

  void show(const typename View::Moment& moment) {
    view_.add(moment);
    terminal_.draw(view_.render(terminal_.size(), Terminal::style()));
  }

  void close() { terminal_.close(); }

 private:
  View view_;
  Terminal terminal_;
};

}  // namespace retrystorm
