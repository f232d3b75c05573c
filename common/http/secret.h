// Access control for changes over HTTP: the client must know a secret, and must not be a web page
// of another site.
#pragma once

#include <httplib.h>

#include <string>
#include <string_view>

namespace retrystorm {

// The header in which the secret is sent.
inline constexpr const char* kTokenHeader = "X-Retrystorm-Token";

// 128 random bits in hexadecimal. Throws std::runtime_error if the system cannot provide them.
std::string make_token();

// Compares in constant time: where the strings differ does not change the time it takes.
bool same_secret(std::string_view a, std::string_view b);

// Returns true if the Host header names this port of 127.0.0.1. Any other name may belong to
// another site whose DNS entry points at this machine.
bool is_our_address(const httplib::Request& request, int port);

}  // namespace retrystorm
