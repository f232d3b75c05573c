#include "common/http/deadline_header.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <string>

#include "model/base/text.h"

namespace retrystorm {
namespace {

// Longer heads are not searched to their end.
constexpr std::size_t kLongestHead = 8 * 1024;

}  // namespace

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
  std::array<char, kLongestHead> head;
  const ssize_t size = recv(connection, head.data(), head.size(), MSG_PEEK | MSG_DONTWAIT);
  if (size <= 0) return std::nullopt;
  if (static_cast<std::size_t>(size) == head.size()) return Duration::max();
  return parse_time_left({head.data(), static_cast<std::size_t>(size)});
}

}  // namespace retrystorm
