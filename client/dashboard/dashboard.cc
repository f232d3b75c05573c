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
  open_port();
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

void Dashboard::open_port() {
  try {
    port_.emplace(static_cast<std::size_t>(options_.port), kReaderPatience);
  } catch (const AddressInUse&) {
    throw std::runtime_error("the page cannot be served on port " + std::to_string(options_.port) +
                             ", which is in use: choose another one with --dashboard-port");
  }
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
  httplib::Server& server = port_->server();
  server.Post(
      "/control/freeze", [this](const httplib::Request& request, httplib::Response& response) {
        const auto json = nlohmann::json::parse(request.body, nullptr, false);
        const auto seconds =
            json.is_object() ? json.value("seconds", nlohmann::json()) : nlohmann::json();
        if (!seconds.is_number() || !(seconds.get<double>() > 0) ||
            seconds.get<double>() > kLongestFreeze) {
          return answer_error(response, 400, "the seconds must be more than 0 and at most 3600");
        }
        if (!can_freeze()) {
          return answer_error(response, 409,
                              "there is no process to freeze: start the client with "
                              "--server-pid=$(pidof server)");
        }
        handle(FreezeCommand{from_seconds(seconds.get<double>())}, response);
      });
  server.Post("/control/wake", [this](const httplib::Request&, httplib::Response& response) {
    handle(WakeCommand{}, response);
  });
  server.Post(
      "/control/restart", [this](const httplib::Request& request, httplib::Response& response) {
        const auto json = nlohmann::json::parse(request.body, nullptr, false);
        const auto name =
            json.is_object() ? json.value("strategy", nlohmann::json()) : nlohmann::json();
        try {
          if (!name.is_string()) refuse("the strategy is missing");
          handle(RestartCommand{retry_settings(name.get<std::string>()).strategy}, response);
        } catch (const std::invalid_argument& error) {
          answer_error(response, 400, error.what());
        }
      });
  server.Post("/control/act", [this](const httplib::Request& request, httplib::Response& response) {
    const auto json = nlohmann::json::parse(request.body, nullptr, false);
    const auto text = json.is_object() ? json.value("action", nlohmann::json()) : nlohmann::json();
    try {
      if (!text.is_string()) refuse("the action is missing");
      const auto& line = text.get_ref<const std::string&>();
      if (std::ranges::any_of(line, [](unsigned char c) { return c < ' '; })) {
        refuse("an action is one line");
      }
      const Action action = parse_action(line);
      if (is_of_service(action) && !can_order()) {
        return answer_error(response, 409,
                            "the server takes no orders: start both with --admin-token-file=FILE");
      }
      handle(ActCommand{action}, response);
    } catch (const std::invalid_argument& error) {
      answer_error(response, 400, error.what());
    }
  });
}

void Dashboard::handle(const Command& command, httplib::Response& response) {
  if (!commands_.push(command))
    return answer_error(response, 429, "too many commands at a time: try again");
  response.status = 202;
  response.set_content("{}", "application/json");
}

}  // namespace retrystorm
