#include "client/dashboard/dashboard.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <stdexcept>

#include "model/base/text.h"
#include "model/retry/retry_settings.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// How long a write to a browser may block. One on this machine that takes longer is not reading.
constexpr auto kReaderPatience = 1s;
// How often a stream without events sends a sign of life. If that fails, the browser is gone.
constexpr auto kHeartbeat = 5s;
// More than the number of event streams, so that a thread is always free for other requests.
constexpr std::size_t kThreads = 56;
constexpr std::size_t kLargestBody = 4096;
constexpr double kLongestFreeze = 3600;  // seconds

// A command is valid, but this client cannot carry it out.
class Unable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string media_type(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/javascript; charset=utf-8";
}

void answer_error(httplib::Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(nlohmann::json{{"error", why}}.dump(), "application/json");
}

}  // namespace

Dashboard::Dashboard(const Options& options) : options_(options), token_(make_token()) {
  try {
    port_.emplace(static_cast<std::size_t>(options_.port), kReaderPatience);
  } catch (const AddressInUse&) {
    throw std::runtime_error("the page cannot be served on port " + std::to_string(options_.port) +
                             ", which is in use: choose another one with --dashboard-port");
  }
  port_->server().set_default_headers(
      {{"Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
       {"X-Content-Type-Options", "nosniff"},
       {"Referrer-Policy", "no-referrer"},
       {"Cache-Control", "no-store"}});
  add_routes();
  add_commands();
  port_->start(kThreads);
}

Dashboard::~Dashboard() {
  events_.end();  // otherwise the port's threads would go on serving the streams
}

std::string Dashboard::address() const {
  return "http://127.0.0.1:" + std::to_string(port()) + "/#token=" + token_;
}

bool Dashboard::may_change(const httplib::Request& request) const {
  // Browsers send the origin of the page with each POST. A request without it is not from the page.
  return request.get_header_value("Origin") == "http://" + request.get_header_value("Host") &&
         same_secret(request.get_header_value(kTokenHeader), token_);
}

void Dashboard::add_routes() {
  httplib::Server& server = port_->server();
  check_before_reading(
      server, kLargestBody, [this](const httplib::Request& request, httplib::Response& response) {
        if (!is_our_address(request, port())) {
          answer_error(response, 403,
                       "this page is only for browsers on this machine, at 127.0.0.1 or localhost");
          return true;
        }
        if (request.method == "POST" && !may_change(request)) {
          answer_error(response, 403, "a change needs the token that the client printed");
          return true;
        }
        return false;
      });
  for (const Asset& asset : assets()) {
    const std::string name(asset.name);
    server.Get(
        name == "index.html" ? "/" : '/' + name,
        [asset, type = media_type(name)](const httplib::Request&, httplib::Response& response) {
          response.set_content(asset.content.data(), asset.content.size(), type);
        });
  }
  for (const PageServer::Page& page : options_.pages) {
    server.Get(page.path, [page](const httplib::Request&, httplib::Response& response) {
      response.set_content(page.render(), page.content_type);
    });
  }
  server.Get("/events", [this](const httplib::Request& request, httplib::Response& response) {
    // A page of another site could not read the events, but could take up all the streams.
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    if (!site.empty() && site != "same-origin" && site != "none") {
      return answer_error(response, 403, "a page of another site may not read this");
    }
    serve_events(response);
  });
}

void Dashboard::serve_events(httplib::Response& response) {
  auto subscription = events_.subscribe();
  if (!subscription) return answer_error(response, 503, "too many browsers are listening");
  // Without chunks: the stream lasts as long as the connection.
  response.set_content_provider("text/event-stream",
                                [subscription](std::size_t, httplib::DataSink& sink) {
                                  const auto text = subscription->next(kHeartbeat);
                                  if (!text) {
                                    sink.done();
                                    return true;
                                  }
                                  const std::string& something = text->empty() ? ":\n\n" : *text;
                                  return sink.write(something.data(), something.size());
                                });
}

void Dashboard::add_commands() {
  // `read`: makes a command of the member of the request's body that has this name.
  const auto add = [this](const char* path, const char* name, auto read) {
    port_->server().Post(
        path, [this, name, read](const httplib::Request& request, httplib::Response& response) {
          const auto body = nlohmann::json::parse(request.body, nullptr, false);
          try {
            handle(read(body.is_object() ? body.value(name, nlohmann::json()) : nlohmann::json()),
                   response);
          } catch (const std::invalid_argument& error) {
            answer_error(response, 400, error.what());
          } catch (const Unable& error) {
            answer_error(response, 409, error.what());
          }
        });
  };
  add("/control/freeze", "seconds", [this](const nlohmann::json& seconds) -> Command {
    if (!seconds.is_number() || !(seconds.get<double>() > 0) ||
        seconds.get<double>() > kLongestFreeze) {
      refuse("the seconds must be more than 0 and at most 3600");
    }
    if (!can_freeze()) {
      throw Unable(
          "there is no process to freeze: start the client with --server-pid=$(pidof server)");
    }
    return FreezeCommand{from_seconds(seconds.get<double>())};
  });
  add("/control/wake", "", [](const nlohmann::json&) -> Command { return WakeCommand{}; });
  add("/control/restart", "strategy", [](const nlohmann::json& name) -> Command {
    if (!name.is_string()) refuse("the strategy is missing");
    return RestartCommand{retry_settings(name.get<std::string>()).strategy};
  });
  add("/control/act", "action", [this](const nlohmann::json& text) -> Command {
    if (!text.is_string()) refuse("the action is missing");
    const auto& line = text.get_ref<const std::string&>();
    if (std::ranges::any_of(line, [](unsigned char c) { return c < ' '; })) {
      refuse("an action is one line");
    }
    const Action action = parse_action(line);
    if (is_of_service(action) && !can_order()) {
      throw Unable("the server takes no orders: start both with --admin-token-file=FILE");
    }
    return ActCommand{action};
  });
}

void Dashboard::handle(const Command& command, httplib::Response& response) {
  if (!commands_.push(command))
    return answer_error(response, 429, "too many commands at a time: try again");
  response.status = 202;
  response.set_content("{}", "application/json");
}

}  // namespace retrystorm
