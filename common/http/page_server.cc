#include "common/http/page_server.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>

#include "common/cli/options.h"
#include "common/http/secret.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

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
  std::size_t largest_body = 0;
  for (const Command& each : commands.all) largest_body = std::max(largest_body, each.largest_body);
  check_before_reading(
      server, largest_body,
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
  for (const Command& command : commands.all) {
    server.Post(command.path,
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
    server.Get(page.path, [page](const httplib::Request&, httplib::Response& response) {
      response.set_header("Cache-Control", "no-store");
      response.set_content(page.render(), page.content_type);
    });
  }
  port_.start(kThreads);
}

}  // namespace retrystorm
