#include "model/retry/retry_on.h"

#include <array>
#include <cstddef>
#include <stdexcept>

#include "model/base/option_list.h"
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
      throw std::invalid_argument(in_quotes(part) +
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

}  // namespace retrystorm
