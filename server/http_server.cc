#include "server/http_server.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "common/http/headers.h"
#include "common/os/process.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// How long a worker waits for a request's head. A client normally sends it long before the service
// answers the request.
constexpr auto kPatience = 1s;

// The paths that the server serves, and its answers.
void add_routes(httplib::Server& server, bool calls) {
  check_before_reading(
      server, 0, [calls](const httplib::Request& request, httplib::Response& response) {
        const Answer& answer = ServicePool::current_answer();
        if (request.has_header(kAsksForTiming)) {
          response.set_header(kServerTiming,
                              print_service_time(ServicePool::current_service_time()));
        }
        if (answer.ok()) return false;
        response.status = answer.status();
        if (answer.retry_after > Duration::zero()) {
          const auto seconds = std::chrono::round<std::chrono::seconds>(answer.retry_after);
          response.set_header("Retry-After", std::to_string(seconds.count()));
        }
        if (answer.no_retry) response.set_header(kRetry, "no");
        if (answer.asks_for_less()) {
          response.set_content(print_throttling_error(), kErrorContentType);
          return true;
        }
        const char* const error =
            calls ? "an error by --error-share, or of a call\n" : "an error by --error-share\n";
        response.set_content(answer.is_error() ? error : "try again later\n", "text/plain");
        return true;
      });
  server.Get("/api", [](const httplib::Request& request, httplib::Response& response) {
    static constexpr std::string_view kText = "OK";
    if (!request.ranges.empty()) {
      // No content provider here: cpp-httplib 0.11 also asks it for ranges beyond its end.
      response.set_content(std::string(kText), "text/plain");
      return ServicePool::count_as_served();
    }
    // A content provider learns whether the answer could be written. It could not if the client has
    // reset the connection.
    response.set_content_provider(
        kText.size(), "text/plain",
        [](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
          sink.write(kText.data() + offset, length);
          return true;
        },
        [](bool written) {
          if (written) ServicePool::count_as_served();
        });
  });
}

}  // namespace

HttpServer::HttpServer(const ServiceOptions& options, std::uint64_t seed, const Address& address,
                       const UpstreamSettings& upstream, bool keeps_deadlines)
    : keeps_deadlines_(keeps_deadlines),
      upstream_(upstream.any() ? std::make_unique<Upstream>(upstream, seed) : nullptr),
      pool_(options, seed, upstream_.get(), keeps_deadlines),
      idle_(options.server_idle,
            [this](const IdleConnections::Connection& connection) {
              pool_.take_in(job_of(connection));
            }),
      backlog_(options.backlog),
      max_connections_(options.max_connections),
      address_(address) {
  add_routes(requests_, upstream.any());
  configure(options);
  open();
  address_.port = listener_->port();
}

void HttpServer::open() {
  listener_ = std::make_unique<Listener>(address_, backlog_);
  // The head, the body and the end of the connection are sent as one packet instead of three: the
  // kernel holds the answer back until the connection is closed. (Connections inherit the option.)
  const int yes = 1;
  setsockopt(listener_->descriptor(), IPPROTO_TCP, TCP_CORK, &yes, sizeof(yes));
}

ServerInterval HttpServer::with_kernel(ServerInterval interval) const {
  const std::scoped_lock lock(mutex_);
  if (listener_) interval.kernel = listener_->kernel_state();
  return interval;
}

void HttpServer::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return listener_ || stop_wanted_; });
    if (stop_wanted_) break;
    accepting_ = true;
    const Listener& listener = *listener_;
    lock.unlock();
    accept_until_shut_down(listener);
    lock.lock();
    accepting_ = false;
    changed_.notify_all();
  }
  lock.unlock();
  pool_.stop();
  pool_.join();
}

void HttpServer::accept_until_shut_down(const Listener& listener) {
  while (true) {
    const bool room = open_.wait_for_room(most_open_);
    Descriptor accepted = room ? listener.accept() : Descriptor();
    if (accepted) {
      try {
        // The connection is closed when the last copy of the job is destroyed.
        const auto connection = std::make_shared<const OpenConnection>(std::move(accepted), open_);
        pool_.accept(job_of(connection));
        const std::size_t open = open_.add(0);
        if (open > max_connections_) idle_.close_oldest(open - max_connections_);
      } catch (const std::bad_alloc&) {
        // Out of memory: this connection is closed.
      }
    } else if (listener.is_shut_down()) {
      return;
    } else if (room) {
      std::this_thread::sleep_for(1ms);  // for example, no descriptors left
    }
  }
}

class HttpServer::Job final : public ServicePool::Job {
 public:
  Job(HttpServer& server, IdleConnections::Connection connection)
      : server_(server), connection_(std::move(connection)) {}

  void answer() override { server_.serve(connection_); }
  // Has the client closed or reset the connection? What it sent before can still be read.
  bool is_abandoned() const override { return is_ready(connection_->number(), POLLRDHUP); }
  std::function<std::optional<Duration>()> time_left() const override {
    if (!server_.keeps_deadlines_) return {};
    return [connection = connection_] { return peek_time_left(connection->number()); };
  }

 private:
  HttpServer& server_;
  const IdleConnections::Connection connection_;
};

ServicePool::Parked HttpServer::job_of(const IdleConnections::Connection& connection) {
  return std::make_unique<Job>(*this, connection);
}

void HttpServer::serve(const IdleConnections::Connection& connection) {
  if (!requests_.serve(connection->number(), kPatience)) return;
  // Idle before the client has the answer: who waits for the answer knows the order of idle connections.
  idle_.add(connection);
  // Sends what the kernel holds back of the answer.
  for (const int corked : {0, 1}) {
    setsockopt(connection->number(), IPPROTO_TCP, TCP_CORK, &corked, sizeof(corked));
  }
}

void HttpServer::stop() {
  const std::scoped_lock lock(mutex_);
  stop_wanted_ = true;
  changed_.notify_all();
  idle_.stop();
  pool_.stop();
  if (listener_) listener_->shut_down();
}

void HttpServer::go_down() {
  const std::scoped_lock order(orders_);
  std::unique_lock lock(mutex_);
  if (!listener_ || stop_wanted_) return;
  pool_.turn_away(true);
  listener_->shut_down();  // the kernel resets connections not yet accepted
  // Moved out, so that `run` does not use it as a new listener.
  std::unique_ptr<Listener> old = std::move(listener_);
  changed_.wait(lock, [this] { return !accepting_; });
  old.reset();
  reset_connections(port());
  pool_.lose_all();
}

void HttpServer::listen() {
  const std::scoped_lock order(orders_);
  const std::scoped_lock lock(mutex_);
  if (listener_ || stop_wanted_) return;
  open();
  pool_.turn_away(false);
  changed_.notify_all();
}

}  // namespace retrystorm
