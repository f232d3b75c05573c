// URLs: either refused with a sentence, or split into usable parts.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "common/http/http_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  try {
    const Url url = parse_url({reinterpret_cast<const char*>(data), size});
    if (url.host.empty() || url.port < 1 || url.port > 65535) std::abort();
    if (url.path.empty() || url.path.front() != '/') std::abort();
    // It would begin another header in the request.
    if ((url.host + url.path).find_first_of("\r\n \0", 0, 4) != std::string::npos) std::abort();
  } catch (const std::runtime_error&) {
  }
  return 0;
}
