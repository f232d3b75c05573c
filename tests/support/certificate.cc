#include "tests/support/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <stdexcept>

namespace retrystorm::test {

Certificate::Certificate(const std::string& name)
    : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), certificate_(X509_new(), X509_free) {
  X509* const certificate = certificate_.get();
  X509_set_version(certificate, 2);  // counted from 0
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 3600);
  X509_set_pubkey(certificate, key_.get());
  X509_NAME* const subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("a test"), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  X509_EXTENSION* const names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, name.c_str());
  X509_add_ext(certificate, names, -1);
  X509_EXTENSION_free(names);
  if (X509_sign(certificate, key_.get(), EVP_sha256()) == 0) {
    throw std::runtime_error("no certificate");
  }
}

std::string Certificate::pem() const {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_X509(memory.get(), certificate_.get());
  char* text = nullptr;
  const auto size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

TlsServer::TlsServer(const Certificate& certificate)
    : server_(certificate.get(), certificate.key()) {
  server_.Get(".*", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok\n", "text/plain");
  });
  port_ = server_.bind_to_any_port("127.0.0.1");
  thread_ = std::thread([this] { server_.listen_after_bind(); });
  while (!server_.is_running()) std::this_thread::yield();
}

TlsServer::~TlsServer() {
  server_.stop();
  thread_.join();
}

}  // namespace retrystorm::test
