// A URL, and the requests that clients send to it.
#pragma once

#include <httplib.h>
#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

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

// A host as it stands in a URL: a numeric IPv6 address is in brackets.
std::string host_in_url(const std::string& host);

// Splits the text into its parts. Looks nothing up: the address stays empty. Throws
// std::invalid_argument with a readable message if the text is not such a URL.
Url parse_url(const std::string& text);

// Also looks up the address. Throws std::runtime_error with a readable message if its host is not known.
Url resolve_url(const std::string& text);

// The request's options, as given.
struct RequestOptions {
  std::string url = "http://127.0.0.1:8070/api";
  std::string method = "GET";
  std::vector<std::string> headers{};  // "Name: value"
  std::string body{};                  // or "@FILE"
  std::string cacert{};                // a file of certificates; empty: those of the system
  bool insecure = false;               // accepts any certificate
};

// A message on standard error that is printed only once. Safe from any thread.
class OnceNotice {
 public:
  // The text that the first call makes. Nothing if that is empty.
  void print(const std::function<std::string()>& text);

 private:
  std::once_flag printed_;
};

struct HttpRequest {
  Url url;
  std::string method = "GET";
  httplib::Headers headers{};
  std::string body{};
  // https: shared by all connections. The certificate is checked in the handshake. The first
  // certificate that is not accepted is reported on standard error, because the counts only show
  // errors.
  std::shared_ptr<SSL_CTX> tls{};
  // Printed if this machine has no descriptor, port or memory left for an attempt.
  std::shared_ptr<OnceNotice> shortage = std::make_shared<OnceNotice>();
  // Printed if the first answer is not that of a service.
  std::shared_ptr<OnceNotice> found = std::make_shared<OnceNotice>();
};

// Looks up the host and reads the files. Throws std::runtime_error with a readable message if one
// of them is not available, or if something cannot be sent as it is.
HttpRequest make_request(const RequestOptions& options);

// The same request to several hosts.
std::vector<HttpRequest> make_requests(const RequestOptions& options,
                                       const std::vector<std::string>& urls);

// The host and the port, as the request's headers name them.
std::string authority_of(const HttpRequest& request);

// Throws std::invalid_argument if options contradict each other, or if a header is not valid. Reads
// nothing.
void check(const RequestOptions& options);

}  // namespace retrystorm
