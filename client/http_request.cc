#include "client/http_request.h"

#include <openssl/x509_vfy.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "model/base/text.h"

namespace retrystorm {
namespace {

constexpr std::size_t kLongestBody = 16'000'000;

// What a header's name is made of (RFC 9110, "token").
bool is_token(std::string_view text) {
  constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !text.empty() && text.find_first_not_of(kToken) == std::string_view::npos;
}

std::pair<std::string, std::string> parse_header(const std::string& text) {
  const auto refuse = [&text](const std::string& why) {
    // Not as it is: it may have line ends, and would make several lines.
    std::string shown = text;
    for (char& c : shown) {
      if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
    }
    return std::runtime_error("--header: '" + shown + "' " + why);
  };
  // A line end in it would begin a header of its own, or the body.
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
  const std::string path = body.substr(1);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("--body: cannot open '" + path + "'");
  std::string content(kLongestBody + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  // Such as a folder, which can be opened.
  if (file.bad()) throw std::runtime_error("--body: cannot read '" + path + "'");
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (content.size() > kLongestBody) {
    throw std::runtime_error("--body: '" + path + "' is longer than 16 MB");
  }
  return content;
}

std::shared_ptr<X509_STORE> trusted_by(const RequestOptions& options) {
  std::shared_ptr<X509_STORE> store(X509_STORE_new(), X509_STORE_free);
  if (options.cacert.empty()) {
    X509_STORE_set_default_paths(store.get());
  } else if (X509_STORE_load_locations(store.get(), options.cacert.c_str(), nullptr) != 1) {
    const bool is_there = std::ifstream(options.cacert).is_open();
    throw std::runtime_error("--cacert: " +
                             (is_there ? "no certificate can be read from '" + options.cacert + "'"
                                       : "cannot open '" + options.cacert + "'"));
  }
  return store;
}

}  // namespace

void Distrust::tell(const std::string& why) {
  std::call_once(told_, [&why] {
    std::cerr << "the server's certificate is not accepted: " + why + " (see --cacert)\n";
  });
}

void check(const RequestOptions& options) {
  for (const std::string& each : options.headers) parse_header(each);
  if (options.insecure && !options.cacert.empty()) {
    throw std::runtime_error(
        "--insecure trusts any certificate, --cacert those of a file: give one");
  }
  if (!is_https(options.url) && (options.insecure || !options.cacert.empty())) {
    throw std::runtime_error(std::string(options.insecure ? "--insecure" : "--cacert") +
                             " has no effect unless --url begins with https://");
  }
}

HttpRequest make_request(const RequestOptions& options) {
  HttpRequest request{.url = resolve_url(options.url), .method = options.method};
  for (const std::string& each : options.headers) request.headers.insert(parse_header(each));
  request.body = read_body(options.body);
  if (request.url.tls && !options.insecure) request.trusted = trusted_by(options);
  return request;
}

}  // namespace retrystorm
