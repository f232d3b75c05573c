// Where the requests go.
#pragma once

#include <string>

namespace retrystorm {

// An http URL in its parts, its host looked up once: an attempt's time is not for name servers.
struct Url {
  std::string host;     // as written
  std::string address;  // the number it stands for
  int port = 80;
  std::string path = "/";
};

// Cuts the text into its parts, and looks nothing up: the address stays empty. Throws
// std::runtime_error with a sentence for a person when the text is no http URL.
Url parse_url(const std::string& text);

// Throws std::runtime_error with a sentence for a person when the text is no http URL or its host
// is not known.
Url resolve_url(const std::string& text);

}  // namespace retrystorm
