// Where the requests go.
#pragma once

#include <string>

namespace retrystorm {

// An http or https URL in its parts, its host looked up once: an attempt's time is not for name
// servers.
struct Url {
  std::string host{};     // as written
  std::string address{};  // the number it stands for
  int port = 80;          // 443 by default with https
  bool tls = false;       // https
  std::string path = "/";
};

bool is_https(const std::string& url);

// Cuts the text into its parts, and looks nothing up: the address stays empty. Throws
// std::runtime_error with a sentence for a person when the text is no such URL.
Url parse_url(const std::string& text);

// Throws std::runtime_error with a sentence for a person when the text is no such URL or its host
// is not known.
Url resolve_url(const std::string& text);

}  // namespace retrystorm
