// Who may change something over HTTP: whoever knows a secret, and no page of another site.
#pragma once

#include <httplib.h>

#include <string>
#include <string_view>

namespace retrystorm {

// The header in which the secret is sent.
inline constexpr const char* kTokenHeader = "X-Retrystorm-Token";

// 128 random bits in hexadecimal. Throws std::runtime_error when the system has none.
std::string make_token();

// Takes the same time wherever they differ.
bool same_secret(std::string_view a, std::string_view b);

// Was this port of 127.0.0.1 asked for by its own name? A name that another machine may have
// pointed at this one is none of ours.
bool is_our_address(const httplib::Request& request, int port);

}  // namespace retrystorm
