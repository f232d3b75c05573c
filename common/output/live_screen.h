// The state of a run on a terminal, as one screen that is redrawn.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/os/process.h"
#include "common/output/output_queue.h"
#include "model/base/duration.h"
#include "model/run/run_observer.h"
#include "model/service/service_observer.h"

namespace retrystorm {

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

struct ScreenStyle {
  bool colour = false;
  bool unicode = true;  // if false, sparklines use ASCII
};

// The last `width` values as one character each, the newest on the right. `top` is the full height.
// A value above zero always looks different from zero.
std::string sparkline(const std::deque<double>& values, std::size_t width, double top,
                      const ScreenStyle& style);

// The content of the client's screen. Knows nothing about terminals.
class ClientView {
 public:
  struct Moment : RunInterval {
    std::string advice{};  // a line or several; empty: none
  };

  explicit ClientView(std::string title) : title_(std::move(title)) {}

  void add(const Moment& moment);

  // Returns at most `size.rows` lines, each at most `size.columns` wide.
  std::vector<std::string> render(const ScreenSize& size, const ScreenStyle& style) const;

 private:
  const std::string title_;
  Moment latest_;
  std::deque<double> ok_, errors_, timed_out_, not_sent_, attempts_, in_flight_, outage_;
};

// The content of the server's screen.
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

// The terminal of standard output. The first `draw` takes it over. `close` or the destructor
// restores the cursor and the previous screen, and so does a suspension, until the program resumes.
// Safe from any thread.
class Terminal final : public Suspendable {
 public:
  // `out` is standard output. It must outlive the terminal.
  explicit Terminal(OutputQueue& out) : out_(out) {}
  ~Terminal() { close(); }

  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Returns true if standard output can be redrawn.
  static bool usable();

  ScreenSize size() const;

  // Colour unless NO_COLOR is set; Unicode if the locale supports it.
  static ScreenStyle style();

  // Skips the frame if the terminal has not yet accepted the previous one.
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
  std::string frame_;     // the last frame; empty before the first one and after `close`
  bool open_ = false;     // taken over, so it must be restored
  bool changed_ = false;  // must be taken over again, even if `open_`
  bool suspended_ = false;
};

// Returns true if a screen was asked for and is possible. If it was asked for but is not possible,
// prints a message on standard error.
bool wants_screen(bool asked);

// A view (`ClientView` or `ServerView`) that is drawn on the terminal.
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

// Shows a run on the screen instead of printing lines. Prints the summary after the screen is
// closed.
class ScreenReport final : public RunObserver {
 public:
  // Both must outlive the report.
  // `advise`: what to say below the figures of an interval.
  using Advise = std::function<std::string(const RunInterval&)>;
  ScreenReport(std::string title, Terminal& terminal, std::ostream& out, Advise advise)
      : screen_(std::move(title), terminal), out_(out), advise_(std::move(advise)) {}

  void on_interval(const RunInterval& interval) override {
    screen_.show({interval, advise_(interval)});
  }
  void on_summary(const Summary& summary) override;

 private:
  LiveScreen<ClientView> screen_;
  std::ostream& out_;
  const Advise advise_;
};

class ServiceScreenReport final : public ServiceObserver {
 public:
  // `terminal` must outlive the report.
  ServiceScreenReport(std::string title, Terminal& terminal)
      : screen_(std::move(title), terminal) {}

  void on_interval(Duration t, Duration window, const ServerInterval& interval) override {
    screen_.show({.t = t, .window = window, .interval = interval});
  }

 private:
  LiveScreen<ServerView> screen_;
};

}  // namespace retrystorm
