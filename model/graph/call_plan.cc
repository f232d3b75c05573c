#include "model/graph/call_plan.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/base/text.h"

namespace retrystorm {
namespace {

constexpr std::size_t kMostTimes = 1000, kMostCalls = 10'000;

NamedCall parse_call(std::string_view text, void (*check_name)(std::string_view)) {
  const std::size_t end = std::min(text.find_first_of("?*@ \t"), text.size());
  NamedCall named{.to = std::string(text.substr(0, end))};
  check_name(named.to);
  std::string_view rest = text.substr(end);
  while (!(rest = trimmed(rest)).empty()) {
    const char sign = rest.front();
    rest.remove_prefix(1);
    const std::string_view value = rest.substr(0, rest.find_first_of("?*@ \t"));
    if (sign == '?') {
      named.call.optional = true;
    } else if (sign == '*') {
      named.call.times = parse_count(value, 1, kMostTimes);
    } else if (sign == '@') {
      named.call.share = parse_number(value, 0, 1);
    } else {
      throw std::invalid_argument("after " + named.to + " only ?, *TIMES and @SHARE are possible");
    }
    if (sign != '?') rest.remove_prefix(value.size());
  }
  return named;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

void check_service_name(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const bool is_name = !text.empty() && text.size() <= 32 &&
                       text.find_first_not_of(kLetters) == text.npos && text.front() != '-' &&
                       text.front() != '_' && !(text.front() >= '0' && text.front() <= '9');
  if (!is_name) {
    throw std::invalid_argument(
        in_quotes(text) +
        " is no name: letters, digits, - and _ are, at most 32, the first a letter");
  }
  if (text == "clients") {
    throw std::invalid_argument(
        "clients are those who call the first service: another name is needed, or [clients.NAME] for some of "
        "them");
  }
}

NamedPlan parse_calls(std::string_view text, void (*check_name)(std::string_view)) {
  if (check_name == nullptr) check_name = check_service_name;
  NamedPlan plan;
  std::size_t calls = 0;
  if (trimmed(text).empty()) return plan;
  for (const std::string_view group : split(text, ',')) {
    std::vector<NamedCall> at_once;
    for (std::string_view part : split(group, '&')) {
      part = trimmed(part);
      std::size_t more = 1;
      if (is_number(part) && !at_once.empty()) {
        more = parse_count(part, 1, kMostTimes) - 1;
        calls += more;
        at_once.insert(at_once.end(), more, NamedCall(at_once.back()));
      } else {
        at_once.push_back(parse_call(part, check_name));
        ++calls;
      }
      if (calls > kMostCalls) {
        throw std::invalid_argument("at most " + std::to_string(kMostCalls) +
                                    " calls a request are possible");
      }
    }
    plan.push_back(std::move(at_once));
  }
  return plan;
}

}  // namespace retrystorm
