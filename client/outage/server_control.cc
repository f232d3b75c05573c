#include "client/outage/server_control.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "common/exit_code.h"
#include "common/http/orders.h"
#include "common/http/page_server.h"
#include "common/os/process.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 1s;
constexpr auto kStatusPatience = 300ms;
constexpr std::size_t kLongestStatus = 65536;

// Before the run, a server that does not answer is an error. During the run, it may be frozen for
// a long time.
constexpr auto kPatience = 2s;
constexpr auto kLongestAnswer = 1h;
constexpr std::size_t kLongestRefusal = 4096;

// Up to the first control character, because another server's text must not command the terminal.
std::string first_line(const std::string& text) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  return {text.begin(), std::ranges::find_if(text, is_control)};
}

}  // namespace

ServerMonitor::ServerMonitor(const Url& url)
    : request_{.url = url}, thread_([this](const std::stop_token& end) { run(end); }) {}

std::optional<ServerStatus> ServerMonitor::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

void ServerMonitor::run(const std::stop_token& end) {
  do {
    const auto status = ask();
    const std::scoped_lock lock(mutex_);
    status_ = status;
  } while (sleep_until(Clock::now() + kInterval, end));
}

std::optional<ServerStatus> ServerMonitor::ask() {
  const HttpAnswer answer = client_.send(request_, kStatusPatience, kLongestStatus);
  if (!answer || answer.response.status != 200) return std::nullopt;
  return parse_server_status(answer.response.body);
}

ServerControl::ServerControl(const Url& url, std::string token)
    : url_(url),
      token_(std::move(token)),
      thread_([this](const std::stop_token& end) { run(end); }) {}

void ServerControl::check(const std::string& orders) {
  HttpClient client;
  const std::string why_not = post(client, kCheckPath, orders, kPatience).why_not;
  if (!why_not.empty()) throw std::runtime_error(why_not);
}

void ServerControl::send(std::string order) {
  const std::scoped_lock lock(mutex_);
  orders_.push_back(std::move(order));
  changed_.notify_all();
}

std::vector<ServerControl::Answer> ServerControl::take_answers() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(answers_, {});
}

void ServerControl::finish(Duration patience) {
  std::unique_lock lock(mutex_);
  const auto done = [this] { return orders_.empty(); };
  if (changed_.wait_for(lock, patience, done)) return;
  std::vector<Answer> dropped;
  for (std::size_t i = 1; i < orders_.size(); ++i) {
    dropped.push_back({orders_[i], "it was not sent before the end of the run"});
  }
  orders_.resize(1);
  // In a loop, because an interrupt has no effect before the connection is open.
  while (!changed_.wait_for(lock, 5ms, done)) client_.interrupt();
  answers_.insert(answers_.end(), dropped.begin(), dropped.end());
}

void ServerControl::run(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, end, [this] { return !orders_.empty(); })) {
    const std::string order = orders_.front();
    lock.unlock();
    const std::string why_not = carry_out(order);
    lock.lock();
    answers_.push_back({order, why_not});
    orders_.pop_front();
    changed_.notify_all();
  }
}

std::string ServerControl::carry_out(const std::string& order) {
  OutageOrder begun;
  std::optional<Disturbance> ended;
  if (parse_outage_end(order, ended) && std::exchange(outage_refused_, false)) return "";
  const Reply reply = post(client_, kControlPath, order, kLongestAnswer);
  if (parse_outage_order(order, begun)) outage_refused_ = reply.refused;
  return reply.why_not;
}

// A server that is frozen or busy later reads what its kernel has received meanwhile, even if the
// client is gone by then. So the orders are sent only once the server has read the head of the
// request and asks for the body.
ServerControl::Reply ServerControl::post(HttpClient& to, const char* path,
                                         const std::string& orders, Duration patience) {
  HttpRequest request{.url = url_,
                      .method = "POST",
                      .headers = {{kTokenHeader, token_},
                                  {"Content-Type", "text/plain"},
                                  {"Expect", "100-continue"}},
                      .body = orders};
  request.url.path = path;
  const HttpAnswer answer = to.send(request, patience, kLongestRefusal);
  const std::string where = url_.host + ':' + std::to_string(url_.port);
  if (!answer) {
    return {.why_not = "the server's admin port, " + where +
                       ", does not answer (set it with --server-admin): " + answer.why};
  }
  const int status = answer.response.status;
  if (status == 200) return {};
  std::string why_not = first_line(answer.response.body);
  if (why_not.empty()) {
    why_not = "the server's admin port, " + where + ", answers with status " +
              std::to_string(status) + " and no reason";
  }
  if (status == 403) {
    why_not = "the server at " + where +
              " has a different token: start both programs with the same --admin-token-file";
  } else if (status == 404 || status == 405) {
    why_not = where + " is not the admin port of a retrystorm server";
  }
  return {.why_not = why_not, .refused = status < 500};
}

void ServerControls::send(const std::string& order, std::size_t hosts) {
  Sent& sent = sent_.emplace_back(Sent{.answer = {order, ""}, .open = {}});
  for (std::size_t i = 0; i < std::min(hosts, controls_.size()); ++i) {
    sent.open.insert(i);
    controls_[i].send(order);
  }
}

std::vector<ServerControl::Answer> ServerControls::take_answers() {
  for (std::size_t i = 0; i < controls_.size(); ++i) {
    for (ServerControl::Answer& answer : controls_[i].take_answers()) {
      const auto sent =
          std::ranges::find_if(sent_, [i](const Sent& each) { return each.open.contains(i); });
      sent->open.erase(i);
      if (sent->answer.why_not.empty()) sent->answer.why_not = std::move(answer.why_not);
    }
  }
  std::vector<ServerControl::Answer> all;
  for (; !sent_.empty() && sent_.front().open.empty(); sent_.pop_front()) {
    all.push_back(std::move(sent_.front().answer));
  }
  return all;
}

void ServerControls::finish(Duration patience) {
  const TimePoint until = saturating_add(Clock::now(), patience);
  for (ServerControl& each : controls_) {
    each.finish(std::max(until - Clock::now(), Duration::zero()));
  }
}

std::string read_token(const std::string& path) {
  std::ifstream file(path);
  // Reads at most as much as a token may have.
  std::array<char, 256> token{};
  if (!file.getline(token.data(), token.size()) || token[0] == '\0') {
    throw UnreadableFile("there is no token in '" + path +
                         "': start the server with the same --admin-token-file");
  }
  return token.data();
}

}  // namespace retrystorm
