// One screen that is redrawn instead of lines: how a run goes, for a person at a terminal.
#pragma once

#include <cstddef>
#include <deque>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/run/run_observer.h"
#include "model/service/service_interval.h"

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
  using Moment = RunInterval;

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

// A run on the screen instead of its lines; the summary is printed below when it has ended.
class ScreenReport final : public RunObserver {
 public:
  // `out` outlives the report.
  ScreenReport(std::string title, std::ostream& out) : screen_(std::move(title)), out_(out) {}

  void on_interval(const RunInterval& interval) override { screen_.show(interval); }
  void on_summary(const Summary& summary) override;

 private:
  LiveScreen<ClientView> screen_;
  std::ostream& out_;
};

class ServiceScreenReport final : public ServiceObserver {
 public:
  explicit ServiceScreenReport(std::string title) : screen_(std::move(title)) {}

  void on_interval(Duration t, Duration window, const ServerInterval& interval) override {
    screen_.show({.t = t, .window = window, .interval = interval});
  }

 private:
  LiveScreen<ServerView> screen_;
};

}  // namespace retrystorm
