#include "common/http/headers.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model/base/text.h"

namespace retrystorm {

namespace {

constexpr std::uint64_t kLongestWait = 1'000'000'000;  // thirty years, in seconds

// Reads a date in the current HTTP format, "Sun, 06 Nov 1994 08:49:37 GMT", as Unix time.
std::optional<std::int64_t> unix_time(const std::string& text) {
  constexpr const char* kFormat = "%a, %d %b %Y %H:%M:%S GMT";
  std::tm date{};
  if (strptime(text.c_str(), kFormat, &date) == nullptr) return std::nullopt;
  std::array<char, 64> printed{};
  std::strftime(printed.data(), printed.size(), kFormat, &date);
  if (text != printed.data()) return std::nullopt;  // strptime also takes other spellings
  const int day = date.tm_mday;
  const std::int64_t time = timegm(&date);
  return date.tm_mday == day ? std::optional(time) : std::nullopt;  // no 31 Feb
}

}  // namespace

std::optional<Duration> parse_retry_after(std::string_view text, std::int64_t now) {
  std::uint64_t seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc() || rest != end) {
    const auto date = unix_time(std::string(text));
    if (!date) return std::nullopt;
    seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(*date - now, 0));
  }
  if (seconds > kLongestWait) return std::nullopt;
  return std::chrono::seconds(seconds);
}

namespace {

constexpr std::string_view kService = "service";

// Returns the text before the next `separator`, without surrounding blanks. Removes both from
// `text`.
std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::optional<Duration> parse_milliseconds(std::string_view text) {
  constexpr double kLongest = 1e12;  // about thirty years, in milliseconds
  try {
    return from_seconds(parse_number(text, 0, kLongest) / 1e3);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace

std::string print_service_time(Duration time) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "service;dur=%.3f", to_seconds(time) * 1e3);
  return text.data();
}

std::optional<Duration> parse_service_time(std::string_view text) {
  while (!text.empty()) {
    std::string_view metric = take_part(text, ',');
    if (take_part(metric, ';') != kService) continue;
    while (!metric.empty()) {
      std::string_view parameter = take_part(metric, ';');
      if (take_part(parameter, '=') == "dur") return parse_milliseconds(take_part(parameter, ';'));
    }
  }
  return std::nullopt;
}

void Carried::add_to(httplib::Headers& headers, Duration timeout) const {
  if (number > 0) headers.emplace(kAttemptNumber, std::to_string(number));
  const Duration told = patience ? std::min(left, timeout) : left;
  if (told == Duration::max()) return;
  headers.emplace(kTimeLeft,
                  std::to_string(std::chrono::ceil<std::chrono::milliseconds>(told).count()));
}

std::optional<Duration> parse_time_left(std::string_view head) {
  const std::size_t end = head.find("\r\n\r\n");
  if (end == head.npos) return std::nullopt;
  const std::string text = to_lower(head.substr(0, end + 2));
  const std::string name = "\r\n" + std::string(kTimeLeft) + ':';
  const std::size_t at = text.find(name);
  if (at == text.npos) return Duration::max();
  const std::size_t begin = at + name.size();
  try {
    constexpr std::uint64_t kMost = 1'000'000'000'000;  // more would not fit, and is no deadline
    const auto value =
        trimmed(std::string_view(text).substr(begin, text.find('\r', begin) - begin));
    return std::chrono::milliseconds(parse_count(value, 0, kMost));
  } catch (const std::invalid_argument&) {
    return Duration::max();
  }
}

std::optional<Duration> peek_time_left(int connection) {
  std::array<char, 8 * 1024> head;  // longer ones are not searched to their end
  const ssize_t size = recv(connection, head.data(), head.size(), MSG_PEEK | MSG_DONTWAIT);
  if (size <= 0) return std::nullopt;
  if (static_cast<std::size_t>(size) == head.size()) return Duration::max();
  return parse_time_left({head.data(), static_cast<std::size_t>(size)});
}

std::string parse_error_name(std::string_view body) {
  const auto error = nlohmann::json::parse(body, nullptr, false);
  if (!error.is_object()) return "";
  const auto name = error.find("__type");
  return name != error.end() && name->is_string() ? name->get<std::string>() : "";
}

bool names_throttling(std::string_view error_name) {
  // botocore's list of error names that mean throttling.
  constexpr std::string_view kNames =
      "Throttling ThrottlingException ThrottledException RequestThrottledException "
      "TooManyRequestsException ProvisionedThroughputExceededException "
      "TransactionInProgressException RequestLimitExceeded BandwidthLimitExceeded "
      "LimitExceededException RequestThrottled SlowDown PriorRequestNotComplete "
      "EC2ThrottledException";
  error_name.remove_prefix(error_name.rfind('#') + 1);
  const auto names = split(kNames, ' ');
  return std::ranges::find(names, error_name.substr(0, error_name.find(':'))) != names.end();
}

std::string print_throttling_error() {
  return R"({"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",)"
         R"("message":"try again later"})";
}

}  // namespace retrystorm
