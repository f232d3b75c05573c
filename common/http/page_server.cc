#include "common/http/page_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "common/cli/options.h"

namespace retrystorm {

namespace {

using namespace std::chrono_literals;

// These, plus the connections being answered, must fit into the server's reserve of descriptors.
constexpr std::size_t kMostHeads = 16;
constexpr std::size_t kMostReady = 16;
constexpr std::size_t kBacklog = 128;

Descriptor make_event() {
  Descriptor event(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!event) throw std::system_error(errno, std::generic_category(), "cannot serve a port");
  return event;
}

}  // namespace

LoopbackServer::LoopbackServer(std::size_t port, Duration patience)
    : patience_(patience), listener_({.port = port}, kBacklog), wake_(make_event()) {
  const int yes = 1;  // the connections inherit it
  setsockopt(listener_.descriptor(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

void LoopbackServer::start(std::size_t threads) {
  threads_.emplace_back([this](const std::stop_token& stop) { read_heads(stop); });
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

void LoopbackServer::read_heads(const std::stop_token& stop) {
  const std::stop_callback wake_at_the_end(stop, [this] { wake(); });
  while (!stop.stop_requested()) {
    try {
      wait_and_read();
    } catch (...) {
      heads_.clear();  // for example, out of memory: later connections are still served
    }
  }
}

void LoopbackServer::wait_and_read() {
  const bool has_room = [this] {
    const std::scoped_lock lock(mutex_);
    return ready_.size() < kMostReady;
  }();
  // poll() ignores negative descriptors: without room, nothing is read or accepted.
  const auto watched = [has_room](int descriptor) {
    return pollfd{has_room ? descriptor : -1, POLLIN, 0};
  };
  std::vector<pollfd> all{{wake_.number(), POLLIN, 0}, watched(listener_.descriptor())};
  for (const Connection& each : heads_) all.push_back(watched(each.socket.number()));
  poll(all.data(), all.size(), heads_.empty() ? -1 : milliseconds_until(heads_[0].until));

  eventfd_t ignored = 0;
  eventfd_read(wake_.number(), &ignored);
  const TimePoint now = Clock::now();
  auto ready = all.begin() + 2;
  std::erase_if(heads_, [&](Connection& each) {
    const bool has_more = (ready++)->revents != 0;
    return (has_more && !read(each)) || now >= each.until;
  });
  if (all[1].revents != 0) accept();
}

void LoopbackServer::accept() {
  Connection connection{.socket = listener_.accept(), .until = Clock::now() + patience_};
  if (!connection.socket) {  // for example, no descriptors left
    if (heads_.empty()) std::this_thread::sleep_for(1ms);
    if (!heads_.empty()) heads_.pop_front();
    return;
  }
  if (!read(connection)) return;
  if (heads_.size() == kMostHeads) heads_.pop_front();
  heads_.push_back(std::move(connection));
}

bool LoopbackServer::read(Connection& connection) {
  switch (connection.head.read_from(connection.socket.number())) {
    case RequestHead::State::kIncomplete:
      return true;
    case RequestHead::State::kTooLong:
      RequestServer::refuse_head(connection.socket.number());
      return false;
    case RequestHead::State::kGone:
      return false;
    case RequestHead::State::kComplete:
      break;
  }
  {
    const std::scoped_lock lock(mutex_);
    ready_.push_back(std::move(connection));
  }
  work_.notify_one();
  return false;
}

void LoopbackServer::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (work_.wait(lock, stop, [this] { return !ready_.empty(); }) && !stop.stop_requested()) {
    Connection connection = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    wake();  // there is room again
    try {
      server_.answer(connection.socket.number(), std::move(connection.head), patience_);
    } catch (...) {
      // For example, out of memory. Other connections are still served.
    }
    connection = {};  // closes it
    lock.lock();
  }
}

void LoopbackServer::wake() const {
  eventfd_write(wake_.number(), 1);
}

std::string make_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error(std::string("cannot make a token: ") + std::strerror(errno));
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte / 16];
    token += "0123456789abcdef"[byte % 16];
  }
  return token;
}

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  int difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

bool is_our_address(const httplib::Request& request, int port) {
  const std::string at = ':' + std::to_string(port);
  const std::string host = request.get_header_value("Host");
  return host == "127.0.0.1" + at || host == "localhost" + at;
}

namespace {

// More than one thread, so that a slow order does not block other requests.
constexpr std::size_t kThreads = 3;
constexpr auto kPatience = 1s;

void answer(httplib::Response& response, int status, const std::string& text) {
  response.status = status;
  response.set_content(text + '\n', "text/plain");
}

}  // namespace

WatchPort parse_watch_port(const std::string& text) {
  if (text == "any") return 0;
  const std::size_t port = parse_count(text, 0, 65535);
  return port == 0 ? std::nullopt : WatchPort(port);
}

PageServer::PageServer(std::size_t port, const std::vector<Page>& pages, const Commands& commands)
    : port_(port, kPatience) {
  httplib::Server& server = port_.server();
  check_before_reading(
      server, commands.largest_body,
      [this, token = commands.token](const httplib::Request& request, httplib::Response& response) {
        if (request.method != "POST") return false;
        // Browsers send one of these headers with a page's POST. Pages may not give orders.
        const bool from_page = request.has_header("Origin") || request.has_header("Sec-Fetch-Site");
        if (!from_page && is_our_address(request, this->port()) &&
            same_secret(request.get_header_value(kTokenHeader), token)) {
          return false;
        }
        answer(response, 403, "a change needs the token that the server printed");
        response.set_header("Connection", "close");
        return true;
      });
  for (const auto& [path, carry_out] : commands.all) {
    server.Post(path, [carry_out = carry_out](const httplib::Request& request,
                                              httplib::Response& response) {
      try {
        carry_out(request.body);
        answer(response, 200, "done");
      } catch (const std::invalid_argument& error) {
        answer(response, 400, error.what());
      } catch (const std::exception& error) {
        answer(response, 500, error.what());
      }
    });
  }
  for (const Page& page : pages) {
    server.Get(page.path, [page](const httplib::Request&, httplib::Response& response) {
      response.set_header("Cache-Control", "no-store");
      response.set_content(page.render(), page.content_type);
    });
  }
  port_.start(kThreads);
}

}  // namespace retrystorm
