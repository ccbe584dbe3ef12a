#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <utility>

namespace xila::test {

struct PemPair {
  std::string certificate;
  std::string key;
};

// A throw-away CA with P-256 keys, and what it signs.
class Authority {
 public:
  explicit Authority(std::string name = "test-ca")
      : issuer_(std::move(name)), key_(EVP_EC_gen("P-256")) {
    certificate_ = make(issuer_, key_.get(), "", "critical,CA:TRUE");
  }
  // One whose certificate `parent` signed.
  Authority(std::string name, const Authority& parent)
      : issuer_(std::move(name)), key_(EVP_EC_gen("P-256")) {
    certificate_ = parent.make(issuer_, key_.get(), "", "critical,CA:TRUE");
  }

  // PEM.
  std::string certificate() const {
    return to_pem([&](BIO* out) { PEM_write_bio_X509(out, certificate_.get()); });
  }

  // `names` as OpenSSL's subjectAltName wants them: "IP:127.0.0.1,DNS:localhost"; "" = none.
  PemPair issue(const std::string& subject, const std::string& names) const {
    const Key key(EVP_EC_gen("P-256"));
    const Certificate leaf = make(subject, key.get(), names, "CA:FALSE");
    return {to_pem([&](BIO* out) { PEM_write_bio_X509(out, leaf.get()); }), to_pem([&](BIO* out) {
              PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
            })};
  }

 private:
  template <auto Free>
  struct Freed {
    template <class T>
    void operator()(T* object) const {
      Free(object);
    }
  };
  using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
  using Certificate = std::unique_ptr<X509, Freed<X509_free>>;

  template <class Write>
  static std::string to_pem(Write write) {
    const std::unique_ptr<BIO, Freed<BIO_free_all>> out(BIO_new(BIO_s_mem()));
    write(out.get());
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return std::string(text, static_cast<std::size_t>(size));
  }

  static void add(X509* certificate, int id, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }

  static void name(X509_NAME* to, const std::string& common) {
    X509_NAME_add_entry_by_txt(to, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(common.c_str()), -1, -1, 0);
  }

  Certificate make(const std::string& subject, EVP_PKEY* key, const std::string& names,
                   const std::string& constraints) const {
    static long serial = 1;
    Certificate certificate(X509_new());
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86'400);
    X509_set_pubkey(certificate.get(), key);
    name(X509_get_subject_name(certificate.get()), subject);
    name(X509_get_issuer_name(certificate.get()), issuer_);
    add(certificate.get(), NID_basic_constraints, constraints);
    if (!names.empty()) add(certificate.get(), NID_subject_alt_name, names);
    X509_sign(certificate.get(), key_.get(), EVP_sha256());
    return certificate;
  }

  std::string issuer_;
  Key key_;
  Certificate certificate_;
};

}  // namespace xila::test
