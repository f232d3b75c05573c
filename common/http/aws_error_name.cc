#include "common/http/aws_error_name.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace retrystorm {

std::string parse_error_name(std::string_view body) {
  const auto error = nlohmann::json::parse(body, nullptr, false);
  if (!error.is_object()) return "";
  const auto name = error.find("__type");
  return name != error.end() && name->is_string() ? name->get<std::string>() : "";
}

bool names_throttling(std::string_view error_name) {
  // botocore's list of error names that mean throttling.
  static constexpr std::array<std::string_view, 14> kNames{"Throttling",
                                                           "ThrottlingException",
                                                           "ThrottledException",
                                                           "RequestThrottledException",
                                                           "TooManyRequestsException",
                                                           "ProvisionedThroughputExceededException",
                                                           "TransactionInProgressException",
                                                           "RequestLimitExceeded",
                                                           "BandwidthLimitExceeded",
                                                           "LimitExceededException",
                                                           "RequestThrottled",
                                                           "SlowDown",
                                                           "PriorRequestNotComplete",
                                                           "EC2ThrottledException"};
  error_name.remove_prefix(error_name.rfind('#') + 1);
  return std::find(kNames.begin(), kNames.end(), error_name.substr(0, error_name.find(':'))) !=
         kNames.end();
}

std::string print_throttling_error() {
  return R"({"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",)"
         R"("message":"try again later"})";
}

}  // namespace retrystorm
