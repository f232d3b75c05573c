#include "client/dashboard/dashboard.h"

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string_view>

#include "client/dashboard/assets.h"
#include "common/http/listening.h"
#include "common/http/secret.h"
#include "model/retry/retry_settings.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHost = "127.0.0.1";
// A browser on this machine that takes longer than this is not looking.
constexpr auto kReaderPatience = 1s;
// So often a silent stream says that it is there, which is how it learns that a browser is not.
constexpr auto kHeartbeat = 5s;
// More than the browsers that may listen, so that there is always one to answer.
constexpr std::size_t kThreads = 56;
constexpr std::size_t kLargestBody = 4096;
constexpr double kLongestFreeze = 3600;  // seconds

std::string media_type(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/javascript; charset=utf-8";
}

void refuse(httplib::Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(nlohmann::json{{"error", why}}.dump(), "application/json");
}

}  // namespace

Dashboard::Dashboard(const Options& options) : options_(options), token_(make_token()) {
  if (options.server_status) monitor_.emplace(*options.server_status);
  serve_one_request_each(server_, kReaderPatience);
  server_.set_tcp_nodelay(true);
  server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server_.set_default_headers(
      {{"Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
       {"X-Content-Type-Options", "nosniff"},
       {"Referrer-Policy", "no-referrer"},
       {"Cache-Control", "no-store"}});
  add_routes();
  add_commands();
  bind();
  thread_ = std::thread([this] {
    server_.listen_after_bind();
    ended_ = true;
  });
}

Dashboard::~Dashboard() {
  events_.end();
  stop_listening(server_, ended_);
  thread_.join();
}

std::string Dashboard::address() const {
  return "http://" + std::string(kHost) + ':' + std::to_string(port_) + "/#token=" + token_;
}

void Dashboard::bind() {
  try {
    port_ = bind_alone(server_, {kHost, static_cast<std::size_t>(options_.port)}).port;
  } catch (const AddressInUse&) {
    throw std::runtime_error("the page cannot be served on port " + std::to_string(options_.port) +
                             ", which is in use: choose another one with --dashboard-port");
  }
}

bool Dashboard::may_change(const httplib::Request& request) const {
  // A browser says where a page that posts comes from; who does not say it is not the page.
  return request.get_header_value("Origin") == "http://" + request.get_header_value("Host") &&
         same_secret(request.get_header_value(kTokenHeader), token_);
}

void Dashboard::add_routes() {
  check_before_reading(
      server_, kLargestBody, [this](const httplib::Request& request, httplib::Response& response) {
        if (!is_our_address(request, port_)) {
          refuse(response, 403, "this page is for the machine's own browser, by its own address");
          return true;
        }
        if (request.method == "POST" && !may_change(request)) {
          refuse(response, 403, "changing anything needs the token that the client printed");
          return true;
        }
        return false;
      });
  for (const Asset& asset : assets()) {
    const std::string name(asset.name);
    server_.Get(
        name == "index.html" ? "/" : '/' + name,
        [asset, type = media_type(name)](const httplib::Request&, httplib::Response& response) {
          response.set_content(asset.content.data(), asset.content.size(), type);
        });
  }
  for (const Endpoint::Page& page : options_.pages) {
    server_.Get(page.path, [page](const httplib::Request&, httplib::Response& response) {
      response.set_content(page.render(), page.content_type);
    });
  }
  server_.Get("/events", [this](const httplib::Request& request, httplib::Response& response) {
    // Another site's page could not read it, but it could take up all places.
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    if (!site.empty() && site != "same-origin" && site != "none") {
      return refuse(response, 403, "another site's page");
    }
    serve_events(response);
  });
}

void Dashboard::serve_events(httplib::Response& response) {
  auto subscription = events_.subscribe();
  if (!subscription) return refuse(response, 503, "too many browsers are listening");
  // Without chunks: it lasts as long as the connection.
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
  server_.Post("/control/freeze",
               [this](const httplib::Request& request, httplib::Response& response) {
                 const auto json = nlohmann::json::parse(request.body, nullptr, false);
                 const auto seconds =
                     json.is_object() ? json.value("seconds", nlohmann::json()) : nlohmann::json();
                 if (!seconds.is_number() || !(seconds.get<double>() > 0) ||
                     seconds.get<double>() > kLongestFreeze) {
                   return refuse(response, 400, "for how many seconds? More than 0, at most 3600");
                 }
                 if (!can_freeze()) {
                   return refuse(response, 409,
                                 "there is no process to freeze: start the client with "
                                 "--server-pid=$(pidof server)");
                 }
                 handle(FreezeCommand{from_seconds(seconds.get<double>())}, response);
               });
  server_.Post("/control/wake", [this](const httplib::Request&, httplib::Response& response) {
    handle(WakeCommand{}, response);
  });
  server_.Post(
      "/control/restart", [this](const httplib::Request& request, httplib::Response& response) {
        const auto json = nlohmann::json::parse(request.body, nullptr, false);
        const auto name =
            json.is_object() ? json.value("strategy", nlohmann::json()) : nlohmann::json();
        try {
          if (!name.is_string()) throw std::invalid_argument("with which strategy?");
          handle(RestartCommand{retry_settings(name.get<std::string>()).strategy}, response);
        } catch (const std::invalid_argument& error) {
          refuse(response, 400, error.what());
        }
      });
}

void Dashboard::handle(const Command& command, httplib::Response& response) {
  if (!commands_.push(command)) return refuse(response, 429, "one thing after the other");
  response.status = 202;
  response.set_content("{}", "application/json");
}

}  // namespace retrystorm
