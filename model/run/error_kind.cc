#include "model/run/error_kind.h"

#include <algorithm>

namespace retrystorm {
namespace {

constexpr std::size_t index_of(std::string_view name) {
  return static_cast<std::size_t>(std::find(kErrorKinds.begin(), kErrorKinds.end(), name) -
                                  kErrorKinds.begin());
}

}  // namespace

std::size_t error_kind(const AttemptResult& error) {
  switch (error.status) {
    case 0:
      break;
    case 400:
      return index_of("400");
    case 404:
      return index_of("404");
    case 429:
      return index_of("429");
    case 500:
      return index_of("500");
    case 502:
      return index_of("502");
    case 503:
      return index_of("503");
    case 504:
      return index_of("504");
    default:
      return error.status >= 400 && error.status < 500   ? index_of("4xx")
             : error.status >= 500 && error.status < 600 ? index_of("5xx")
                                                         : index_of("other_status");
  }
  switch (error.no_answer) {
    case NoAnswer::kRefused:
      return index_of("refused");
    case NoAnswer::kReset:
      return index_of("reset");
    case NoAnswer::kUnreachable:
      return index_of("unreachable");
    case NoAnswer::kOther:
      break;
  }
  return kErrorKinds.size();
}

}  // namespace retrystorm
