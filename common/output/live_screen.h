// One screen that is redrawn instead of lines: how a run goes, for a person at a terminal.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/os/process.h"
#include "common/output/output_queue.h"
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
  std::deque<double> ok_, errors_, timed_out_, not_sent_, attempts_, in_flight_, outage_;
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
  std::deque<double> concurrency_, busy_, waiting_, delay_, offered_, admitted_, completed_,
      served_, rejected_;
};

// The terminal of standard output, taken over from the first `draw` until `close` or the object's
// end: then the cursor and what was on the screen before are back. So they are while the program is
// suspended. Safe from any thread.
class Terminal final : public Suspendable {
 public:
  // `out` is standard output, and outlives the terminal.
  explicit Terminal(OutputQueue& out) : out_(out) {}
  ~Terminal() { close(); }

  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Can standard output be redrawn?
  static bool usable();

  ScreenSize size() const;

  // Colour unless NO_COLOR is set; Unicode where the locale has it.
  static ScreenStyle style();

  // A terminal that has not taken the frame before is not given another one.
  void draw(const std::vector<std::string>& lines);
  void close();

  void suspend() override;
  void resume() override;

 private:
  void show();
  void give_back();
  void write(const std::string& text);

  OutputQueue& out_;
  std::mutex mutex_;
  std::string frame_;     // the last one; empty when the terminal is not ours
  bool open_ = false;     // ours, and to be given back
  bool changed_ = false;  // to be taken anew, though it may be ours
  bool suspended_ = false;
};

// Whether to show a screen: if it is asked for and possible. If only asked for, says so on standard
// error.
bool wants_screen(bool asked);

// A view on the terminal.
template <typename View>
class LiveScreen {
 public:
  LiveScreen(std::string title, Terminal& terminal)
      : view_(std::move(title)), terminal_(terminal) {}

  void show(const typename View::Moment& moment) {
    view_.add(moment);
    terminal_.draw(view_.render(terminal_.size(), Terminal::style()));
  }

  void close() { terminal_.close(); }

 private:
  View view_;
  Terminal& terminal_;
};

// A run on the screen instead of its lines; the summary is printed below when it has ended.
class ScreenReport final : public RunObserver {
 public:
  // Both outlive the report.
  ScreenReport(std::string title, Terminal& terminal, std::ostream& out)
      : screen_(std::move(title), terminal), out_(out) {}

  void on_interval(const RunInterval& interval) override { screen_.show(interval); }
  void on_summary(const Summary& summary) override;

 private:
  LiveScreen<ClientView> screen_;
  std::ostream& out_;
};

class ServiceScreenReport final : public ServiceObserver {
 public:
  // `terminal` outlives the report.
  ServiceScreenReport(std::string title, Terminal& terminal)
      : screen_(std::move(title), terminal) {}

  void on_interval(Duration t, Duration window, const ServerInterval& interval) override {
    screen_.show({.t = t, .window = window, .interval = interval});
  }

 private:
  LiveScreen<ServerView> screen_;
};

}  // namespace retrystorm
