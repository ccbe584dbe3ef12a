#pragma once

#include <chrono>
#include <string>

#include "xila/base/result.hpp"
#include "xila/kube/cluster_access.hpp"
#include "xila/net/client.hpp"

namespace xila::kube {

// What proves who we are and whom we believe, read again as its files are replaced. A file that
// cannot be read later on leaves the last good state in force: a rotation is not atomic everywhere.
class Credentials {
 public:
  // Error: what cannot be read at the start.
  static base::Result<Credentials> load(ClusterAccess access);

  // Reads the files again. True: something changed.
  bool refresh();
  // When the files were last read.
  std::chrono::steady_clock::time_point read_at() const { return read_at_; }

  const std::string& token() const { return token_; }  // "" = none
  const net::ClientTls& tls() const { return tls_; }   // null = plain HTTP
  const ClusterAccess& access() const { return access_; }

 private:
  explicit Credentials(ClusterAccess access) : access_(std::move(access)) {}
  base::Result<bool> read();

  ClusterAccess access_;
  std::chrono::steady_clock::time_point read_at_;
  std::string token_;
  net::ClientTlsOptions pem_;
  net::ClientTls tls_;
};

}  // namespace xila::kube
