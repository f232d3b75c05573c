// URLs: either refused with a sentence, or split into usable parts.
#include "common/http/http_request.h"
#include "tests/fuzz/target.h"

void retrystorm::fuzz(std::string_view text) {
  try {
    const Url url = parse_url(std::string(text));
    if (url.host.empty() || url.port < 1 || url.port > 65535) std::abort();
    if (url.path.empty() || url.path.front() != '/') std::abort();
    // It would begin another header in the request.
    if ((url.host + url.path).find_first_of("\r\n \0", 0, 4) != std::string::npos) std::abort();
  } catch (const std::invalid_argument&) {
  }
}
