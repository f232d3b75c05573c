// What every attempt sends, and to whom.
#pragma once

#include <httplib.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "client/url.h"

namespace retrystorm {

// As a person says it.
struct RequestOptions {
  std::string url = "http://127.0.0.1:8070/api";
  std::string method = "GET";
  std::vector<std::string> headers;  // "Name: value"
  std::string body;                  // or "@FILE"
  std::string cacert;                // a file of certificates; empty: those of the system
  bool insecure = false;             // whatever the server's certificate
};

struct HttpRequest {
  Url url;
  std::string method = "GET";
  httplib::Headers headers{};
  std::string body{};
  // https: who may vouch for the server's certificate. Null: nobody needs to.
  std::shared_ptr<X509_STORE> trusted{};
};

// Looks up the host, and reads the files. Throws std::runtime_error with a sentence for a person
// when something of it is not to be had, or cannot be sent as it is.
HttpRequest make_request(const RequestOptions& options);

// Throws std::runtime_error when options contradict each other, or a header is none. Reads nothing.
void check(const RequestOptions& options);

}  // namespace retrystorm
