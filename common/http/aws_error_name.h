// The error names that AWS services put into answers with status 400.
#pragma once

#include <string>
#include <string_view>

namespace retrystorm {

// The header that has the name if the body does not.
inline constexpr const char* kErrorTypeHeader = "x-amzn-ErrorType";

// The name in an answer's JSON body. It may be preceded by the service's name and '#'. Empty if
// there is none.
std::string parse_error_name(std::string_view body);

// True if this error name means throttling. The name may be preceded by the service's name and '#',
// and followed by ':' and an address.
bool names_throttling(std::string_view error_name);

// The body of DynamoDB's throttling error, and its content type.
std::string print_throttling_error();
inline constexpr const char* kErrorContentType = "application/x-amz-json-1.0";

}  // namespace retrystorm
