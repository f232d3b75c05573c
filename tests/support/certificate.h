// A certificate for a test's server, and the server.
#pragma once

#include <httplib.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <thread>

namespace retrystorm::test {

// A self-signed certificate, valid for one day and one name.
class Certificate {
 public:
  // `name` is an entry for the alternative names, such as "DNS:localhost" or "IP:127.0.0.1".
  explicit Certificate(const std::string& name);

  X509* get() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }

  // The content of a certificate file.
  std::string pem() const;

 private:
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
  std::unique_ptr<X509, decltype(&X509_free)> certificate_;
};

// Answers every GET with 200, over HTTPS, on a free port of loopback.
class TlsServer {
 public:
  explicit TlsServer(const Certificate& certificate);
  ~TlsServer();

  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  std::string url(const std::string& host) const {
    return "https://" + host + ':' + std::to_string(port_) + "/api";
  }

 private:
  httplib::SSLServer server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace retrystorm::test
