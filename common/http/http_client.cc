#include "common/http/http_client.h"

#include <algorithm>
#include <cctype>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

namespace retrystorm {
namespace {

// The header Host leaves out the default port. `Messages` assumes that of HTTP.
int port_in_messages(const Url& url) {
  return url.tls && url.port == 443 ? 80 : url.port;
}

// Are they the same but for upper and lower case?
bool is_same_token(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

HttpClient::HttpClient(const HttpRequest& request)
    : url_(request.url),
      tls_(request.tls),
      messages_(request.url.host, port_in_messages(request.url)) {
  // Bodies stay compressed. Nothing needs their content, and a small one can decompress to an
  // enormous one that takes longer than the deadline.
  messages_.set_decompress(false);
}

HttpAnswer HttpClient::send(const HttpRequest& request, Duration patience, std::size_t kept,
                            const httplib::Headers& more) {
  const HttpAnswer answer = try_to_send(connection_, request, patience, kept, more);
  connection_.shut();
  return answer;
}

HttpAnswer HttpClient::send_on(Connection& connection, const HttpRequest& request,
                               Duration patience, std::size_t kept, const httplib::Headers& more) {
  httplib::Headers headers = more;
  if (request.headers.count("Connection") == 0) headers.emplace("Connection", "keep-alive");
  const bool was_open = connection.is_open();
  HttpAnswer answer = try_to_send(connection, request, patience, kept, headers);
  answer.lost = was_open && answer.fault == Connection::Fault::kBroken &&
                answer.no_answer == NoAnswer::kReset && !connection.has_answer();
  const httplib::Response& response = answer.response;
  const bool kept_by_server = answer && response.version != "HTTP/1.0" &&
                              !is_same_token(response.get_header_value("Connection"), "close");
  if (!kept_by_server || !connection.can_be_used_again()) connection.shut();
  return answer;
}

HttpAnswer HttpClient::try_to_send(Connection& connection, const HttpRequest& request,
                                   Duration patience, std::size_t kept,
                                   const httplib::Headers& more) {
  HttpAnswer answer;
  try {
    answer = exchange(connection, request, patience, kept, more);
  } catch (const std::bad_alloc&) {
    answer = {.fault = Connection::Fault::kShortage, .why = "no memory"};
  } catch (const std::exception& error) {
    answer = {.fault = Connection::Fault::kBroken, .why = error.what()};
  }
  return answer;
}

HttpAnswer HttpClient::exchange(Connection& connection, const HttpRequest& request,
                                Duration patience, std::size_t kept, const httplib::Headers& more) {
  const TimePoint deadline = saturating_add(Clock::now(), patience);
  httplib::Request message;
  message.method = request.method;
  message.path = request.url.path;
  message.headers = request.headers;
  message.headers.insert(more.begin(), more.end());
  if (message.has_header("Expect")) {
    message.content_length_ = request.body.size();
    message.content_provider_ = [&](std::size_t, std::size_t, httplib::DataSink& to) {
      return connection.wait_for_answer() && to.write(request.body.data(), request.body.size());
    };
  } else {
    message.body = request.body;
  }
  std::string body;
  message.content_receiver = [&](const char* data, std::size_t length, std::uint64_t,
                                 std::uint64_t) {
    body.append(data, std::min(length, kept - body.size()));
    return true;
  };

  const auto failed = [&connection]() -> HttpAnswer {
    const auto fault = connection.fault();
    if (fault == Connection::Fault::kNone) {
      const bool is_closed = connection.is_closed();
      return {.fault = Connection::Fault::kBroken,
              .why = is_closed ? "the connection was closed before the end of the answer"
                               : "the answer is not HTTP",
              .no_answer = is_closed ? NoAnswer::kReset : NoAnswer::kOther};
    }
    return {.fault = fault, .why = connection.why(), .no_answer = connection.no_answer()};
  };
  // cpp-httplib would wait for a body of the length that a 304 names.
  bool has_no_body = false;
  message.response_handler = [&has_no_body](const httplib::Response& head) {
    has_no_body = head.status == 304;
    return !has_no_body;
  };
  if (connection.is_open()) {
    connection.renew(deadline);
  } else if (!connection.open(url_, tls_.get(), deadline)) {
    return failed();
  }
  HttpAnswer answer;
  httplib::Error error{};
  if (!messages_.process_request(connection, message, answer.response, true, error) &&
      !has_no_body) {
    return failed();
  }
  answer.response.body = std::move(body);
  return answer;
}

}  // namespace retrystorm
