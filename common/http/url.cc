#include "common/http/url.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace retrystorm {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";

int parse_port(std::string_view text, const std::string& url) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535) {
    throw std::runtime_error("'" + url + "' has no valid port (a number from 1 to 65535)");
  }
  return port;
}

// The host's first IPv4 address, because the server listens on IPv4 by default. If there is none, its
// first address.
std::string look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error != 0) {
    throw std::runtime_error("the host '" + host + "' is not known: " + gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  const addrinfo* chosen = found;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_family == AF_INET) {
      chosen = each;
      break;
    }
  }
  std::array<char, NI_MAXHOST> text{};
  getnameinfo(chosen->ai_addr, chosen->ai_addrlen, text.data(), text.size(), nullptr, 0,
              NI_NUMERICHOST);
  return text.data();
}

}  // namespace

bool is_https(const std::string& url) {
  return url.rfind(kHttps, 0) == 0;
}

Url parse_url(const std::string& text) {
  const bool tls = is_https(text);
  const std::string_view scheme = tls ? kHttps : kHttp;
  if (text.rfind(scheme, 0) != 0) {
    throw std::runtime_error("'" + text + "' is not a URL like http://127.0.0.1:8070/api");
  }
  // In a request they would end the line, and what follows would be headers.
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 127; })) {
    throw std::runtime_error("a URL has no spaces or control characters in it");
  }
  const std::string rest = text.substr(scheme.size());
  const std::size_t slash = rest.find('/');
  std::string authority = rest.substr(0, slash);
  Url url{.port = tls ? 443 : 80, .tls = tls};
  if (slash != std::string::npos) url.path = rest.substr(slash);

  const std::size_t bracket = authority.find(']');  // an IPv6 address: [::1]:8070
  const std::size_t colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
  if (colon != std::string::npos) {
    url.port = parse_port(std::string_view(authority).substr(colon + 1), text);
    authority.resize(colon);
  }
  url.host = bracket != std::string::npos && authority.front() == '['
                 ? authority.substr(1, bracket - 1)
                 : authority;
  if (url.host.empty()) throw std::runtime_error("'" + text + "' names no host");
  return url;
}

Url resolve_url(const std::string& text) {
  Url url = parse_url(text);
  url.address = look_up(url.host);
  return url;
}

}  // namespace retrystorm
