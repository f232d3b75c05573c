#include "common/http/secret.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace retrystorm {

std::string make_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error(std::string("cannot make a token: ") + std::strerror(errno));
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte / 16];
    token += "0123456789abcdef"[byte % 16];
  }
  return token;
}

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  int difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

bool is_our_address(const httplib::Request& request, int port) {
  const std::string at = ':' + std::to_string(port);
  const std::string host = request.get_header_value("Host");
  return host == "127.0.0.1" + at || host == "localhost" + at;
}

}  // namespace retrystorm
