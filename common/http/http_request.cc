#include "common/http/http_request.h"

#include <openssl/x509_vfy.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "common/os/foreign_file.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

constexpr std::size_t kLongestBody = 16'000'000;

// The characters of a header's name (RFC 9110, "token").
bool is_token(std::string_view text) {
  constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !text.empty() && text.find_first_not_of(kToken) == std::string_view::npos;
}

std::pair<std::string, std::string> parse_header(const std::string& text) {
  const auto refuse = [&text](const std::string& why) {
    // Escaped, because it may contain line breaks.
    std::string shown = text;
    for (char& c : shown) {
      if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
    }
    return std::invalid_argument("--header: '" + shown + "' " + why);
  };
  // A line break in it would begin another header, or the body.
  if (std::any_of(text.begin(), text.end(),
                  [](unsigned char c) { return (c < ' ' && c != '\t') || c == 127; })) {
    throw refuse("has control characters in it");
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw refuse("is not a header like 'Name: value'");
  const std::string name = text.substr(0, colon);
  if (!is_token(name)) throw refuse("has no valid name before its colon");
  return {name, std::string(trimmed(std::string_view(text).substr(colon + 1)))};
}

std::string read_body(const std::string& body) {
  if (body.empty() || body.front() != '@') return body;
  return read_foreign_file(body.substr(1), kLongestBody, "--body: ");
}

// OpenSSL calls this in the handshake, for each certificate of the server's chain.
int check_certificate(int accepted, X509_STORE_CTX* chain) {
  if (accepted != 0) return accepted;
  const void* const tls = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
  auto* const notice =
      static_cast<OnceNotice*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(static_cast<const SSL*>(tls))));
  notice->print(std::string("the server's certificate is not accepted: ") +
                X509_verify_cert_error_string(X509_STORE_CTX_get_error(chain)) + " (see --cacert)");
  return accepted;
}

// Accepts only a server with a trusted certificate for `host`.
void trust(SSL_CTX* tls, const std::string& host, const RequestOptions& options) {
  if (options.cacert.empty()) {
    SSL_CTX_set_default_verify_paths(tls);
  } else if (SSL_CTX_load_verify_locations(tls, options.cacert.c_str(), nullptr) != 1) {
    const bool is_there = std::ifstream(options.cacert).is_open();
    throw UnreadableFile("--cacert: " +
                         (is_there ? "no certificate can be read from '" + options.cacert + "'"
                                   : "cannot open '" + options.cacert + "'"));
  }
  SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, check_certificate);
  X509_VERIFY_PARAM* const wanted = SSL_CTX_get0_param(tls);
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) != 1) {
    X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size());
  }
}

std::shared_ptr<SSL_CTX> make_tls(const std::string& host, const RequestOptions& options) {
  const auto notice = std::make_shared<OnceNotice>();  // shared with the TLS context
  const std::shared_ptr<SSL_CTX> tls(SSL_CTX_new(TLS_client_method()),
                                     [notice](SSL_CTX* each) { SSL_CTX_free(each); });
  SSL_CTX_set_app_data(tls.get(), notice.get());
  if (!options.insecure) trust(tls.get(), host, options);
  return tls;
}

}  // namespace

void OnceNotice::print(const std::string& text) {
  std::call_once(printed_, [&text] { std::cerr << text + '\n'; });
}

void OnceNotice::print(const std::function<std::string()>& text) {
  std::call_once(printed_, [&text] {
    if (const std::string made = text(); !made.empty()) std::cerr << made + '\n';
  });
}

std::string authority_of(const HttpRequest& request) {
  const auto host = request.headers.find("Host");
  if (host != request.headers.end()) return host->second;
  const Url& url = request.url;
  const bool is_numeric_v6 = url.host.find(':') != std::string::npos && url.host.front() != '[';
  const std::string name = is_numeric_v6 ? '[' + url.host + ']' : url.host;
  return url.port == (url.tls ? 443 : 80) ? name : name + ':' + std::to_string(url.port);
}

void check(const RequestOptions& options) {
  for (const std::string& each : options.headers) parse_header(each);
  if (options.insecure && !options.cacert.empty()) {
    throw std::invalid_argument(
        "--insecure accepts any certificate, --cacert those in a file: give one");
  }
  if (!is_https(options.url) && (options.insecure || !options.cacert.empty())) {
    throw std::invalid_argument(std::string(options.insecure ? "--insecure" : "--cacert") +
                                " has no effect unless --url begins with https://");
  }
}

HttpRequest make_request(const RequestOptions& options) {
  HttpRequest request{.url = resolve_url(options.url), .method = options.method};
  for (const std::string& each : options.headers) request.headers.insert(parse_header(each));
  request.body = read_body(options.body);
  if (request.url.tls) request.tls = make_tls(request.url.host, options);
  return request;
}

}  // namespace retrystorm
