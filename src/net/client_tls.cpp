#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>

#include "xila/net/client.hpp"

namespace xila::net {
namespace {

namespace ssl = boost::asio::ssl;
using base::fail;

std::string reason(const boost::system::error_code& error) {
  ERR_clear_error();
  const char* text = ERR_reason_error_string(static_cast<unsigned long>(error.value()));
  return text == nullptr ? error.message() : text;
}

}  // namespace

base::Result<ClientTls> client_tls(const ClientTlsOptions& options) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);

  boost::system::error_code error;
  if (options.ca.empty()) {
    context->set_default_verify_paths(error);
    if (error) return fail("the system's CA certificates: " + reason(error));
  } else {
    // Any certificate given is an anchor, as for other Kubernetes clients: a cluster's CA may
    // itself be signed by one that is not in the file.
    X509_STORE_set_flags(SSL_CTX_get_cert_store(context->native_handle()),
                         X509_V_FLAG_PARTIAL_CHAIN);
    context->add_certificate_authority(boost::asio::buffer(options.ca), error);
    if (error) return fail("the CA is no PEM certificate: " + reason(error));
  }
  if (!options.certificate.empty() || !options.key.empty()) {
    context->use_certificate_chain(boost::asio::buffer(options.certificate), error);
    if (error) return fail("the client certificate is no PEM certificate: " + reason(error));
    context->use_private_key(boost::asio::buffer(options.key), ssl::context::pem, error);
    if (error) return fail("the client key does not fit or is no PEM key: " + reason(error));
  }
  context->set_verify_mode(options.insecure_skip_verify ? ssl::verify_none : ssl::verify_peer,
                           error);
  if (error) return fail(reason(error));
  return context;
}

}  // namespace xila::net
