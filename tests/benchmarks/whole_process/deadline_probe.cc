// How long attempts last beyond their timeout when the server hangs, as one line of JSON.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <deque>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

#include "common/http/http_client.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTimeout = 500ms;

// Accepts every connection and finishes no answer: it sends nothing, or a byte now and then.
class Hanging {
 public:
  explicit Hanging(bool drips) : drips_(drips) {}

  std::string url() const { return listener_.url(); }

 private:
  void serve(const std::stop_token& stop) {
    std::vector<Socket> connections;
    while (!stop.stop_requested()) {
      const TimePoint next_byte = Clock::now() + 50ms;
      while (Socket connection =
                 listener_.accept(std::max<Duration>(next_byte - Clock::now(), 0s))) {
        if (drips_) connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        connections.push_back(std::move(connection));
      }
      // Drops a connection that the client has closed.
      std::erase_if(connections, [this](const Socket& connection) {
        return drips_ ? !connection.send(".") : connection.closed_by_peer(0s);
      });
    }
  }

  const bool drips_;
  Listener listener_{4096};
  std::jthread thread_{[this](const std::stop_token& stop) { serve(stop); }};
};

// In milliseconds, in order.
std::vector<double> excesses(const std::string& url, std::size_t clients, int attempts) {
  const HttpRequest request{.url = resolve_url(url)};
  std::deque<HttpAttempt> attempt_of;
  std::mutex mutex;
  std::vector<double> result;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < clients; ++i) {
      HttpAttempt& attempt = attempt_of.emplace_back(request);
      threads.emplace_back([&, i] {
        std::this_thread::sleep_for(kTimeout * i / clients);  // not all at once
        for (int k = 0; k < attempts; ++k) {
          const TimePoint start = Clock::now();
          const Outcome outcome = attempt.run(kTimeout).outcome;
          const Duration excess = Clock::now() - start - kTimeout;
          if (outcome != Outcome::kTimedOut) throw std::runtime_error("the server did not hang");
          const std::scoped_lock lock(mutex);
          result.push_back(to_seconds(excess) * 1000);
        }
      });
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

void probe(const std::string& kind, std::size_t clients, int attempts) {
  std::vector<double> sorted;
  if (kind == "connect") {
    const FullListener server;
    sorted = excesses(server.url(), clients, attempts);
  } else {
    const Hanging server(kind == "drip");
    sorted = excesses(server.url(), clients, attempts);
  }
  const std::size_t rank = sorted.size() - 1 - sorted.size() / 1000;
  std::cout << R"({"attempts":)" << sorted.size() << R"(,"p99_9_ms":)" << sorted[rank]
            << R"(,"max_ms":)" << sorted.back() << "}\n";
}

}  // namespace
}  // namespace retrystorm::test

int main(int argc, char** argv) {
  CLI::App app("How long attempts last beyond a timeout of 500 ms when the server hangs.");
  std::string kind;
  std::size_t clients = 500;
  int attempts = 20;
  app.add_option("KIND", kind,
                 "what hangs: the connect, or the answer of a server that is silent or drips")
      ->required()
      ->check(CLI::IsMember({"connect", "silent", "drip"}));
  app.add_option("--clients", clients, "attempts at a time")->capture_default_str();
  app.add_option("--attempts", attempts, "attempts of each client")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  retrystorm::test::probe(kind, clients, attempts);
}
