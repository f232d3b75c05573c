#include "common/http/http_client.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "model/base/text.h"

namespace retrystorm {

std::string head_of(const HttpRequest& request, httplib::Headers headers) {
  headers.insert(request.headers.begin(), request.headers.end());
  const auto add = [&headers](const char* name, const std::string& value) {
    if (headers.count(name) == 0) headers.emplace(name, value);
  };
  add("Host", authority_of(request));
  add("Accept", "*/*");
  add("User-Agent", "retrystorm");
  add("Connection", "close");
  const bool has_body = !request.body.empty();
  if (has_body) add("Content-Type", "text/plain");
  if (has_body || request.method.starts_with('P')) {  // POST, PUT, PATCH
    add("Content-Length", std::to_string(request.body.size()));
  }
  std::string head = request.method + ' ' + request.url.path + " HTTP/1.1\r\n";
  for (const auto& [name, value] : headers) head.append(name).append(": ").append(value) += "\r\n";
  return head + "\r\n";
}

namespace {

// What follows reads the parts of an answer. Each returns false if that cannot be: the connection has a fault or was
// closed, or what comes is not HTTP.
bool read_head(Connection& from, httplib::Response& to, std::size_t& most) {
  std::string line;
  if (!from.read_line(line, most)) return false;
  if (!line.starts_with("HTTP/1.1 ") && !line.starts_with("HTTP/1.0 ")) return false;
  to = {};
  to.version = line.substr(0, 8);
  const char* const status = &line[9];
  const char* const end = line.data() + line.size();
  const auto parsed = std::from_chars(status, end, to.status);
  if (parsed.ptr != status + 3 || to.status < 100 || (parsed.ptr != end && *parsed.ptr != ' ')) {
    return false;
  }
  while (from.read_line(line, most)) {
    if (line.empty()) return true;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    to.headers.emplace(line.substr(0, colon), trimmed(std::string_view(line).substr(colon + 1)));
  }
  return false;
}

bool read_chunks(Connection& from, std::string& body, std::size_t kept) {
  std::string line;
  for (std::uint64_t size = 1; size > 0;) {
    std::size_t most = Connection::kLongestHead;
    if (!from.read_line(line, most)) return false;
    // Extensions may follow.
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), size, 16);
    if (parsed.ec != std::errc() || !from.read(size, body, kept)) return false;
    if (size > 0 && (!from.read_line(line, most) || !line.empty())) return false;
  }
  std::size_t most = Connection::kLongestHead;
  do {  // the trailers
    if (!from.read_line(line, most)) return false;
  } while (!line.empty());
  return true;
}

bool read_body(Connection& from, const std::string& method, httplib::Response& to,
               std::size_t kept) {
  if (method == "HEAD" || to.status < 200 || to.status == 204 || to.status == 304) return true;
  const std::string length = to.get_header_value("Content-Length");
  if (to.has_header("Transfer-Encoding")) {
    const std::string codings = to_lower(to.get_header_value("Transfer-Encoding"));
    if (codings.ends_with("chunked")) return read_chunks(from, to.body, kept);
  } else if (!length.empty()) {
    std::uint64_t size = 0;
    const char* const end = length.data() + length.size();
    const auto parsed = std::from_chars(length.data(), end, size);
    return parsed.ec == std::errc() && parsed.ptr == end && from.read(size, to.body, kept);
  }
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  return !from.read(kAll, to.body, kept) && from.is_closed();
}

HttpAnswer try_to_send(Connection& connection, const HttpRequest& request, Duration patience,
                       std::size_t kept, const httplib::Headers& more) try {
  const TimePoint deadline = saturating_add(Clock::now(), patience);
  std::string text = head_of(request, more);
  bool asks_first = request.headers.count("Expect") + more.count("Expect") > 0;
  if (!asks_first) text += request.body;
  if (connection.is_open()) connection.renew(deadline);
  bool goes_on =
      (connection.is_open() || connection.open(request.url, request.tls.get(), deadline)) &&
      connection.write(text);
  HttpAnswer answer;
  int& status = answer.response.status = 100;
  std::size_t most = Connection::kLongestHead;  // of all heads together
  // Interim answers come before the answer (RFC 9110, 15.2). After 101 nothing else comes.
  while (goes_on && status < 200 && status != 101) {
    goes_on = read_head(connection, answer.response, most);
    if (goes_on && status == 100 && std::exchange(asks_first, false)) {
      goes_on = connection.write(request.body);
    }
  }
  if (goes_on && read_body(connection, request.method, answer.response, kept)) {
    if (asks_first) connection.shut();  // the server may still wait for the body
    return answer;
  }
  if (connection.fault() != Connection::Fault::kNone) {
    return {
        .fault = connection.fault(), .why = connection.why(), .no_answer = connection.no_answer()};
  }
  const bool is_closed = connection.is_closed();
  return {.fault = Connection::Fault::kBroken,
          .why = is_closed ? "the connection was closed before the end of the answer"
                           : "the answer is not HTTP",
          .no_answer = is_closed ? NoAnswer::kReset : NoAnswer::kOther};
} catch (const std::bad_alloc&) {
  return {.fault = Connection::Fault::kShortage, .why = "no memory"};
}

}  // namespace

HttpAnswer HttpClient::send(const HttpRequest& request, Duration patience, std::size_t kept,
                            const httplib::Headers& more) {
  const HttpAnswer answer = try_to_send(connection_, request, patience, kept, more);
  connection_.shut();
  return answer;
}

HttpAnswer HttpClient::send_on(Connection& connection, const HttpRequest& request,
                               Duration patience, std::size_t kept, const httplib::Headers& more) {
  httplib::Headers headers = more;
  if (request.headers.count("Connection") + more.count("Connection") == 0) {
    headers.emplace("Connection", "keep-alive");
  }
  const bool was_open = connection.is_open();
  HttpAnswer answer = try_to_send(connection, request, patience, kept, headers);
  answer.lost = was_open && answer.fault == Connection::Fault::kBroken &&
                answer.no_answer == NoAnswer::kReset && !connection.has_answer();
  const httplib::Response& response = answer.response;
  const bool kept_by_server = answer && response.version != "HTTP/1.0" && response.status >= 200 &&
                              to_lower(response.get_header_value("Connection")) != "close";
  if (!kept_by_server || !connection.can_be_used_again()) connection.shut();
  return answer;
}

}  // namespace retrystorm
