#include "common/http/http_attempt.h"

#include <chrono>

namespace retrystorm {
namespace {

// Enough of the body to contain an error's name.
constexpr std::size_t kLongestError = 4096;

std::int64_t unix_time() {
  using std::chrono::system_clock;
  return std::chrono::floor<std::chrono::seconds>(system_clock::now()).time_since_epoch().count();
}

bool asks_for_less(const httplib::Response& response) {
  return names_throttling(response.has_header(kErrorTypeHeader)
                              ? response.get_header_value(kErrorTypeHeader)
                              : parse_error_name(response.body));
}

// What answers here, if that is no service: a page of metrics, or nothing at this path.
std::string what_is_found(const std::string& path, const httplib::Response& response) {
  const std::string type = response.get_header_value("Content-Type");
  const int status = response.status;
  const bool has_metrics = type.starts_with("text/plain; version=0.0") ||
                           type.starts_with("application/openmetrics-text");
  std::string found;
  if (status == 200 && has_metrics) {
    found = " is a page of metrics, not a service: how it bears retries says nothing about yours";
  } else if (status == 404) {
    found = ": the answer is 404, there is no service under this path";
  } else if (status == 301 || status == 302 || status == 307 || status == 308) {
    found = ": the answer is a redirect (" + std::to_string(status) + "), which is not followed";
  }
  return found.empty() ? "" : "--url: " + path + found;
}

}  // namespace

httplib::Headers HttpAttempt::more_headers(Duration patience,
                                           const std::optional<Duration>* service) const {
  httplib::Headers more;
  if (service != nullptr) more.emplace(kAsksForTiming, "1");
  carried_.add_to(more, patience);
  return more;
}

AttemptResult HttpAttempt::run(Duration patience, std::optional<Duration>* service,
                               Connection* kept, Interruption* interruption) {
  const TimePoint start = Clock::now();
  const Interruption::Scope scope(
      interruption, [&] { kept == nullptr ? client_.interrupt() : kept->interrupt(); });
  if (interruption != nullptr && interruption->interrupted()) return timed_out(Duration::zero());
  const httplib::Headers more = more_headers(patience, service);
  const HttpAnswer answer =
      kept == nullptr ? client_.send(*request_, patience, kLongestError, more)
                      : HttpClient::send_on(*kept, *request_, patience, kLongestError, more);
  const AttemptResult result = judge(answer, Clock::now() - start, patience, service);
  if (kept != nullptr && result.outcome == Outcome::kTimedOut) kept->shut();
  return result;
}

AttemptResult HttpAttempt::run_on(Http2Connection& connection, Duration patience,
                                  std::optional<Duration>* service,
                                  const std::function<void()>& accepted,
                                  Interruption* interruption) {
  const TimePoint start = Clock::now();
  const httplib::Headers more = more_headers(patience, service);
  const HttpAnswer answer =
      connection.is_accepted()
          ? connection.send(patience, kLongestError, more, interruption)
          : connection.open(patience, kLongestError, more, accepted, interruption);
  return judge(answer, Clock::now() - start, patience, service);
}

AttemptResult HttpAttempt::judge(const HttpAnswer& answer, Duration latency, Duration patience,
                                 std::optional<Duration>* service) {
  why_ = answer.why;
  if (answer.fault == Connection::Fault::kTimedOut || latency >= patience)
    return timed_out(latency);
  if (answer.fault == Connection::Fault::kShortage) {
    request_->shortage->print([&] {
      return "this machine lacks resources for the clients (" + answer.why +
             "): some of the errors are not the service's";
    });
  }
  if (!answer) {
    AttemptResult result = not_connected(latency, answer.no_answer);
    result.lost = answer.lost;
    return result;
  }
  const httplib::Response& response = answer.response;
  request_->found->print([&] { return what_is_found(request_->url.path, response); });
  if (service != nullptr) *service = parse_service_time(response.get_header_value(kServerTiming));
  AttemptResult result = answered(
      response.status, parse_retry_after(response.get_header_value("Retry-After"), unix_time()),
      latency, response.status == 400 && asks_for_less(response));
  result.no_retry = response.get_header_value(kRetry) == "no";
  return result;
}

}  // namespace retrystorm
