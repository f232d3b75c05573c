#include "common/http/endpoint.h"

#include <chrono>

#include "common/cli/options.h"
#include "common/http/listening.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// Two who say nothing must not keep a third from its answer.
constexpr std::size_t kThreads = 3;
constexpr auto kPatience = 1s;

}  // namespace

WatchPort parse_watch_port(const std::string& text) {
  if (text == "any") return 0;
  const std::size_t port = parse_count(text, 0, 65535);
  return port == 0 ? std::nullopt : WatchPort(port);
}

Endpoint::Endpoint(std::size_t port, const std::vector<Page>& pages) {
  server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  serve_one_request_each(server_, kPatience);
  server_.set_tcp_nodelay(true);
  check_before_reading(server_, 0, nullptr);
  for (const Page& page : pages) {
    server_.Get(page.path, [page](const httplib::Request&, httplib::Response& response) {
      response.set_header("Cache-Control", "no-store");
      response.set_content(page.render(), page.content_type);
    });
  }
  port_ = bind_alone(server_, {.host = "127.0.0.1", .port = port}).port;
  thread_ = std::thread([this] {
    server_.listen_after_bind();
    ended_ = true;
  });
}

Endpoint::~Endpoint() {
  stop_listening(server_, ended_);
  thread_.join();
}

}  // namespace retrystorm
