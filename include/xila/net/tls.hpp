#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "xila/base/result.hpp"

namespace boost::asio::ssl {
class context;
}

namespace xila::net {

// A server's TLS identity, complete and checked: the key belongs to the leaf. TLS 1.2 and newer.
struct TlsIdentity {
  std::shared_ptr<boost::asio::ssl::context> context;
  std::chrono::system_clock::time_point
      not_before;  // of the leaf; whether to serve it is the caller's choice
  std::chrono::system_clock::time_point not_after;
  std::string subject;  // of the leaf, RFC 2253
  bool asks_for_client_certificate = false;
};

// The PEM texts of an identity. Texts, not paths, so that what was compared, checked and taken over
// is one and the same version of the files.
struct TlsMaterial {
  std::string certificate_chain;  // leaf first
  std::string private_key;
  std::optional<std::string> client_ca;  // given: a client must show a certificate of it

  bool operator==(const TlsMaterial&) const = default;
};

struct TlsFiles {
  std::filesystem::path certificate;
  std::filesystem::path private_key;
  std::optional<std::filesystem::path> client_ca;
};

// Error: names the file that cannot be read.
base::Result<TlsMaterial> read_tls_files(const TlsFiles& files);

// Error: says which part is unusable (no PEM, key of another certificate, leaf expired or not yet
// valid, ...).
base::Result<TlsIdentity> make_tls_identity(const TlsMaterial& material);

}  // namespace xila::net
