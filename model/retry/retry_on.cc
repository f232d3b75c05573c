#include "model/retry/retry_on.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>

#include "model/base/text.h"

namespace retrystorm {

namespace {

constexpr std::size_t kHundred = 100;

bool is_hundred(std::string_view part) {
  return part.size() == 3 && part[0] >= '1' && part[0] <= '5' && part.substr(1) == "xx";
}

// The failures that gRPC statuses stand for: the HTTP status of google/rpc/code.proto, and for
// UNAVAILABLE the failures that gRPC itself maps to it.
struct GrpcStatus {
  std::string_view name;
  std::string_view parts;
};

constexpr std::array<GrpcStatus, 16> kGrpcStatuses{{
    {"CANCELLED", "499"},
    {"UNKNOWN", "500"},
    {"INVALID_ARGUMENT", "400"},
    {"DEADLINE_EXCEEDED", "504+timeout"},
    {"NOT_FOUND", "404"},
    {"ALREADY_EXISTS", "409"},
    {"PERMISSION_DENIED", "403"},
    {"UNAUTHENTICATED", "401"},
    {"RESOURCE_EXHAUSTED", "429"},
    {"FAILED_PRECONDITION", "400"},
    {"ABORTED", "409"},
    {"OUT_OF_RANGE", "400"},
    {"UNIMPLEMENTED", "501"},
    {"INTERNAL", "500"},
    {"UNAVAILABLE", "429+502+503+504+transport"},
    {"DATA_LOSS", "500"},
}};

void set_part(RetryOn& retry_on, std::string_view part, bool on) {
  for (const GrpcStatus& grpc : kGrpcStatuses) {
    if (plain_word(grpc.name) != plain_word(part)) continue;
    for (const auto each : split(grpc.parts, '+')) set_part(retry_on, each, on);
    return;
  }
  if (part == "hinted") {
    retry_on.hinted = on;
  } else if (part == "transport") {
    retry_on.transport = on;
  } else if (part == "timeout") {
    retry_on.timeout = on;
  } else if (is_hundred(part)) {
    const std::size_t first = static_cast<std::size_t>(part[0] - '0') * kHundred;
    for (std::size_t i = first; i < first + kHundred; ++i) retry_on.statuses[i] = on;
  } else {
    std::size_t status = 0;
    try {
      status = parse_count(part, kHundred, retry_on.statuses.size() - 1);
    } catch (const std::invalid_argument&) {
      refuse(in_quotes(part) +
             " is no status (such as 503), no hundred of them (such as 5xx), "
             "no gRPC status (such as UNAVAILABLE), and none of hinted, "
             "transport and timeout; several are joined by +");
    }
    retry_on.statuses[status] = on;
  }
}

}  // namespace

bool RetryOn::covers(const AttemptResult& failure) const {
  if (failure.failure == Failure::kTimedOut) return timeout;
  if (failure.status == 0) return transport;
  // A 400 that asks for less load is treated as a 429.
  const bool by_name = failure.failure == Failure::kThrottled && failure.status == 400;
  const int status = by_name ? 429 : failure.status;
  if (hinted && failure.retry_after && (status == 413 || status == 429 || status == 503)) {
    return true;
  }
  return status > 0 && static_cast<std::size_t>(status) < statuses.size() &&
         statuses[static_cast<std::size_t>(status)];
}

void RetryOn::include(const AttemptResult& failure) {
  if (failure.failure == Failure::kTimedOut) {
    timeout = true;
  } else if (failure.status == 0) {
    transport = true;
  } else if (static_cast<std::size_t>(failure.status) < statuses.size()) {
    statuses.set(static_cast<std::size_t>(failure.status));
  }
}

RetryOn& RetryOn::operator|=(const RetryOn& other) {
  statuses |= other.statuses;
  hinted |= other.hinted;
  transport |= other.transport;
  timeout |= other.timeout;
  return *this;
}

RetryOn parse_retry_on(std::string_view text) {
  RetryOn retry_on;
  if (text == kNoneWord) return retry_on;
  for (bool on = true;;) {
    const std::size_t end = text.find_first_of("+-");
    set_part(retry_on, text.substr(0, end), on);
    if (end == text.npos) return retry_on;
    on = text[end] == '+';
    text.remove_prefix(end + 1);
  }
}

std::string to_string(const RetryOn& retry_on) {
  std::string text;
  const auto add = [&text](char sign, std::string_view part) {
    if (!text.empty()) text += sign;
    text += part;
  };
  for (std::size_t first = kHundred; first < retry_on.statuses.size(); first += kHundred) {
    std::size_t set = 0;
    for (std::size_t i = first; i < first + kHundred; ++i) set += retry_on.statuses[i] ? 1 : 0;
    const bool most = set > kHundred / 2;
    if (most) add('+', std::to_string(first / kHundred) + "xx");
    for (std::size_t i = first; i < first + kHundred; ++i) {
      if (retry_on.statuses[i] != most) add(most ? '-' : '+', std::to_string(i));
    }
  }
  if (retry_on.hinted) add('+', "hinted");
  if (retry_on.transport) add('+', "transport");
  if (retry_on.timeout) add('+', "timeout");
  return text.empty() ? std::string(kNoneWord) : text;
}

void declare_options(OptionList& options, LimitSettings& settings) {
  constexpr std::uint64_t kMost = 1'000'000'000;
  options.group("Limits: when a request is given up");
  options
      .count_or_none("max-retries", settings.max_retries,
                     "how many times a request may be retried; none = no limit", 0, kMost,
                     "retries")
      .with_range("0", "20")
      .basic = "Retries";
  std::uint32_t& retries = settings.max_retries;
  Option& attempts = options.text(
      "max-attempts",
      "how many attempts a request may have, the first one counted; none = no limit",
      [&retries](std::string_view text) {
        retries = is_none(text) ? LimitSettings::kUnlimited
                                : static_cast<std::uint32_t>(parse_count(text, 1, kMost + 1) - 1);
      },
      [&retries] {
        return retries == LimitSettings::kUnlimited ? std::string(kNoneWord)
                                                    : std::to_string(retries + 1);
      });
  attempts.kind = Option::Kind::kCount;
  attempts.with_unit("attempts").with_range("1", "20");
  attempts.takes_none = true;
  attempts.least = 1;
  attempts.most = kMost + 1;
  attempts.same_as = "max-retries";
  options
      .duration_or_none("deadline", settings.deadline,
                        "how long a request may take, with all its attempts and waits",
                        std::chrono::milliseconds(1))
      .with_range("1s", "2m")
      .basic = "Retries";
  options.choice<DeadlineCheck>(
      "deadline-check", settings.deadline_check,
      {{"before-wait", DeadlineCheck::kBeforeWait}, {"at-end", DeadlineCheck::kAtEnd}},
      "whether a request whose next wait would end after its deadline is given up before that "
      "wait or at the deadline");
  options.needs("deadline-check", "deadline");
  RetryOn& retry_on = settings.retry_on;
  options
      .text(
          "retry-on",
          "which failures are retried (any other fails the request): statuses, joined by + and "
          "-, transport (refused, reset), timeout, hinted (413, 429, 503 with Retry-After), or the name "
          "of a gRPC status, such as UNAVAILABLE (429+502+503+504+transport)",
          [&retry_on](std::string_view text) { retry_on = parse_retry_on(text); },
          [&retry_on] { return to_string(retry_on); })
      .with_examples({"408+429+5xx-501+transport+timeout", "429+503+transport", "transport"});
}

}  // namespace retrystorm
