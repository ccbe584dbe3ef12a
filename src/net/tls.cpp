#include "xila/net/tls.hpp"

#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <boost/asio/ssl/context.hpp>

namespace xila::net {

namespace {

namespace ssl = boost::asio::ssl;
using base::fail;
using base::Result;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;

Bio bio_of(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// OpenSSL's newest error in words; it keeps them in a queue per thread, which this empties.
std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown reason" : reason;
}

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(path.string() + ": " + std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || file.bad()) return fail(path.string() + ": cannot be read");
  return std::move(text).str();
}

std::chrono::system_clock::time_point time_of(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  return std::chrono::system_clock::from_time_t(timegm(&parts));
}

std::string subject_of(const X509* certificate) {
  const Bio out(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(out.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

Result<void> read_leaf(const std::string& chain, TlsIdentity& identity) {
  const Certificate leaf(PEM_read_bio_X509(bio_of(chain).get(), nullptr, nullptr, nullptr));
  if (!leaf) return fail("certificate: " + openssl_reason());
  identity.subject = subject_of(leaf.get());
  identity.not_before = time_of(X509_get0_notBefore(leaf.get()));
  identity.not_after = time_of(X509_get0_notAfter(leaf.get()));
  return {};
}

Result<void> require_client_certificate(ssl::context& context, const std::string& authorities) {
  boost::system::error_code error;
  context.add_certificate_authority(boost::asio::buffer(authorities), error);
  if (error) return fail("client CA: " + error.message());

  // The names go into the server's request, so that a client with several certificates picks the
  // right one.
  const Bio bio = bio_of(authorities);
  while (const Certificate authority{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    SSL_CTX_add_client_CA(context.native_handle(), authority.get());
  }
  ERR_clear_error();
  context.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
  return {};
}

// The API server speaks HTTP/1.1 to webhook Services, and offers h2 to a loopback URL: pick
// http/1.1.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* match = nullptr;
  if (SSL_select_next_proto(&match, chosen_size, kHttp11, sizeof kHttp11 - 1, offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *chosen = match;
  return SSL_TLSEXT_ERR_OK;
}

void set_protocol_options(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(
      context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_cipher_list(context,
                          "ECDHE+AESGCM:ECDHE+CHACHA20");       // TLS 1.2; 1.3 has only good ones
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // tickets need no memory here
  static constexpr unsigned char kSessionContext[] =
      "xila-guard";  // wanted once clients are verified
  SSL_CTX_set_session_id_context(context, kSessionContext, sizeof kSessionContext - 1);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
}

}  // namespace

Result<TlsMaterial> read_tls_files(const TlsFiles& files) {
  TlsMaterial material;
  auto certificate = read_file(files.certificate);
  if (!certificate) return std::unexpected(certificate.error());
  material.certificate_chain = std::move(*certificate);

  auto key = read_file(files.private_key);
  if (!key) return std::unexpected(key.error());
  material.private_key = std::move(*key);

  if (files.client_ca) {
    auto authorities = read_file(*files.client_ca);
    if (!authorities) return std::unexpected(authorities.error());
    material.client_ca = std::move(*authorities);
  }
  return material;
}

Result<TlsIdentity> make_tls_identity(const TlsMaterial& material) {
  ERR_clear_error();
  TlsIdentity identity;
  if (auto leaf = read_leaf(material.certificate_chain, identity); !leaf)
    return std::unexpected(leaf.error());

  identity.context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const native = identity.context->native_handle();
  set_protocol_options(native);

  // Without this an encrypted key would ask for its passphrase on the terminal.
  SSL_CTX_set_default_passwd_cb(native, [](char*, int, int, void*) { return 0; });

  boost::system::error_code error;
  identity.context->use_certificate_chain(boost::asio::buffer(material.certificate_chain), error);
  if (error) return fail("certificate: " + error.message());
  identity.context->use_private_key(boost::asio::buffer(material.private_key), ssl::context::pem,
                                    error);
  if (error || SSL_CTX_check_private_key(native) != 1) {
    ERR_clear_error();
    const std::string reason = error ? error.message() : "key values mismatch";
    return fail("private key: " + reason +
                "; expected the certificate's own key as unencrypted PEM");
  }
  if (material.client_ca) {
    if (auto done = require_client_certificate(*identity.context, *material.client_ca); !done) {
      return std::unexpected(done.error());
    }
    identity.asks_for_client_certificate = true;
  }
  return identity;
}

}  // namespace xila::net
