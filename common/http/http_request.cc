#include "common/http/http_request.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "common/os/foreign_file.h"
#include "model/base/text.h"

namespace retrystorm {

namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";

int parse_port(std::string_view text, const std::string& url) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535) {
    refuse(in_quotes(url) + " has no valid port (a number from 1 to 65535)");
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

std::string host_in_url(const std::string& host) {
  return host.find(':') == host.npos ? host : '[' + host + ']';
}

Url parse_url(const std::string& text) {
  const bool tls = is_https(text);
  const std::string_view scheme = tls ? kHttps : kHttp;
  if (text.rfind(scheme, 0) != 0) {
    const bool bare = !text.empty() && text.find("://") == text.npos;
    refuse(in_quotes(text) + " is not a URL like http://127.0.0.1:8070/api" +
           (bare ? ": write http://" + text : ""));
  }
  // In a request they would end the line, and what follows would be headers.
  if (std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c == 127; })) {
    refuse("a URL has no spaces or control characters in it");
  }
  const std::string rest = text.substr(scheme.size());
  const std::size_t slash = rest.find('/');
  std::string authority = rest.substr(0, slash);
  if (authority.find('@') != std::string::npos) {  // there may be a password, which is not shown
    refuse("a URL has no user in it: give --header='Authorization: ...'");
  }
  Url url{.port = tls ? 443 : 80, .tls = tls};
  if (slash != std::string::npos) url.path = rest.substr(slash);

  const std::size_t bracket = authority.find(']');  // an IPv6 address: [::1]:8070
  if (bracket == authority.npos && std::ranges::count(authority, ':') > 1) {
    refuse(in_quotes(text) + ": an IPv6 address stands in brackets, as in http://[::1]:8070/api");
  }
  const std::size_t colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
  if (colon != std::string::npos) {
    url.port = parse_port(std::string_view(authority).substr(colon + 1), text);
    authority.resize(colon);
  }
  url.host = bracket != std::string::npos && authority.front() == '['
                 ? authority.substr(1, bracket - 1)
                 : authority;
  if (url.host.empty()) refuse(in_quotes(text) + " names no host");
  return url;
}

Url resolve_url(const std::string& text) {
  Url url = parse_url(text);
  url.address = look_up(url.host);
  return url;
}

namespace {

constexpr std::size_t kLongestBody = 16'000'000;

// The characters of a header's name (RFC 9110, "token").
bool is_token(std::string_view text) {
  constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !text.empty() && text.find_first_not_of(kToken) == std::string_view::npos;
}

std::pair<std::string, std::string> parse_header(const std::string& text) {
  const std::string shown = "--header: " + in_quotes(text);
  // A line break in it would begin another header, or the body.
  if (std::ranges::any_of(text,
                          [](unsigned char c) { return (c < ' ' && c != '\t') || c == 127; })) {
    refuse(shown + " has control characters in it");
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) refuse(shown + " is not a header like 'Name: value'");
  const std::string name = text.substr(0, colon);
  if (!is_token(name)) refuse(shown + " has no valid name before its colon");
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
  notice->print([chain] {
    return std::string("the server's certificate is not accepted: ") +
           X509_verify_cert_error_string(X509_STORE_CTX_get_error(chain)) + " (see --cacert)";
  });
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

void OnceNotice::print(const std::function<std::string()>& text) {
  std::call_once(printed_, [&text] {
    if (const std::string made = text(); !made.empty()) std::cerr << made + '\n';
  });
}

std::string authority_of(const HttpRequest& request) {
  const auto host = request.headers.find("Host");
  if (host != request.headers.end()) return host->second;
  const Url& url = request.url;
  const std::string name = host_in_url(url.host);
  return url.port == (url.tls ? 443 : 80) ? name : name + ':' + std::to_string(url.port);
}

void check(const RequestOptions& options) {
  for (const std::string& each : options.headers) parse_header(each);
  if (options.insecure && !options.cacert.empty()) {
    refuse("--insecure accepts any certificate, --cacert those in a file: give one");
  }
  if (!is_https(options.url) && (options.insecure || !options.cacert.empty())) {
    refuse(std::string(options.insecure ? "--insecure" : "--cacert") +
           " has no effect unless --url begins with https://");
  }
}

std::vector<HttpRequest> make_requests(const RequestOptions& options,
                                       const std::vector<std::string>& urls) {
  HttpRequest request{.url = {}, .method = options.method};
  for (const std::string& each : options.headers) request.headers.insert(parse_header(each));
  request.body = read_body(options.body);  // once: it may be a pipe
  std::vector<HttpRequest> requests;
  for (const std::string& each : urls) {
    request.url = resolve_url(each);
    request.tls = request.url.tls ? make_tls(request.url.host, options) : nullptr;
    requests.push_back(request);
  }
  return requests;
}

HttpRequest make_request(const RequestOptions& options) {
  return make_requests(options, {options.url}).front();
}

}  // namespace retrystorm
