#include "common/http/endpoint.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>

#include "common/cli/options.h"
#include "common/http/listening.h"
#include "common/http/secret.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// Two who say nothing must not keep a third from its answer.
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

Endpoint::Endpoint(std::size_t port, const std::vector<Page>& pages, const Commands& commands) {
  server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  serve_one_request_each(server_, kPatience);
  server_.set_tcp_nodelay(true);
  std::size_t largest_body = 0;
  for (const Command& each : commands.all) largest_body = std::max(largest_body, each.largest_body);
  check_before_reading(
      server_, largest_body,
      [this, token = commands.token](const httplib::Request& request, httplib::Response& response) {
        if (request.method != "POST") return false;
        // A browser says where a page that posts comes from: this is for none.
        const bool from_page = request.has_header("Origin") || request.has_header("Sec-Fetch-Site");
        if (!from_page && is_our_address(request, port_) &&
            same_secret(request.get_header_value(kTokenHeader), token)) {
          return false;
        }
        answer(response, 403, "changing anything needs the token that the server printed");
        response.set_header("Connection", "close");
        return true;
      });
  for (const Command& command : commands.all) {
    server_.Post(command.path,
                 [command](const httplib::Request& request, httplib::Response& response) {
                   try {
                     answer(response, 200, command.carry_out(request.body));
                   } catch (const std::invalid_argument& error) {
                     answer(response, 400, error.what());
                   } catch (const std::exception& error) {
                     answer(response, 500, error.what());
                   }
                 });
  }
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
