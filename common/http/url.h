// Where the requests go.
#pragma once

#include <string>

namespace retrystorm {

// The parts of an http or https URL. The host is looked up once, so that attempts do not spend time
// on name servers.
struct Url {
  std::string host{};     // as written
  std::string address{};  // the numeric address of the host
  int port = 80;          // 443 by default with https
  bool tls = false;       // https
  std::string path = "/";
};

bool is_https(const std::string& url);

// Splits the text into its parts. Looks nothing up: the address stays empty. Throws
// std::runtime_error with a readable message if the text is not such a URL.
Url parse_url(const std::string& text);

// Also looks up the address. Throws std::runtime_error with a readable message if the text is not
// such a URL, or if its host is not known.
Url resolve_url(const std::string& text);

}  // namespace retrystorm
