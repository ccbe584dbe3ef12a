#include "credentials.hpp"

#include <algorithm>

#include "files.hpp"
#include "xila/base/text.hpp"
#include "xila/telemetry/log.hpp"

namespace xila::kube {
namespace {

using base::Result;

Result<std::string> contents(const PemSource& source) {
  if (!source.text.empty() || source.file.empty()) return source.text;
  Result<std::string> text = read_file(source.file);
  if (text && text->empty()) return base::fail(source.file.string() + ": is empty");
  return text;
}

// A token goes into a header: one line of visible characters.
Result<std::string> read_token(const ClusterAccess& access) {
  std::string token = access.token;
  if (!access.token_file.empty()) {
    Result<std::string> text = read_file(access.token_file);
    if (!text) return text;
    token = base::trim(*text);
    if (token.empty()) return base::fail(access.token_file.string() + ": is empty");
  }
  const bool is_clean = std::ranges::all_of(token, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!is_clean) return base::fail("the token has blanks or control characters");
  return token;
}

}  // namespace

Result<Credentials> Credentials::load(ClusterAccess access) {
  Credentials credentials(std::move(access));
  const Result<bool> read = credentials.read();
  if (!read) return std::unexpected(read.error());
  if (credentials.access_.insecure_skip_verify && credentials.access_.server.tls) {
    telemetry::warn("api_server_not_verified",
                    {{"server", net::to_text(credentials.access_.server)},
                     {"consequence", "whoever answers at this address decides every tenant"},
                     {"remedy", "remove insecure-skip-tls-verify, set certificate-authority"}});
  }
  if (!credentials.access_.server.tls && !credentials.token_.empty()) {
    telemetry::warn("token_sent_in_clear", {{"server", net::to_text(credentials.access_.server)},
                                            {"remedy", "use https"}});
  }
  return credentials;
}

Result<bool> Credentials::read() {
  read_at_ = std::chrono::steady_clock::now();
  Result<std::string> token = read_token(access_);
  if (!token) return std::unexpected(token.error());
  Result<std::string> ca = contents(access_.ca);
  if (!ca) return std::unexpected(ca.error());
  Result<std::string> certificate = contents(access_.certificate);
  if (!certificate) return std::unexpected(certificate.error());
  Result<std::string> key = contents(access_.key);
  if (!key) return std::unexpected(key.error());

  net::ClientTlsOptions pem{.ca = std::move(*ca),
                            .certificate = std::move(*certificate),
                            .key = std::move(*key),
                            .insecure_skip_verify = access_.insecure_skip_verify};
  bool changed = token_ != *token;
  if (access_.server.tls && (!tls_ || pem != pem_)) {
    base::Result<net::ClientTls> tls = net::client_tls(pem);
    if (!tls) return std::unexpected(tls.error());
    tls_ = std::move(*tls);
    pem_ = std::move(pem);
    changed = true;
  }
  token_ = std::move(*token);
  return changed;
}

bool Credentials::refresh() {
  const Result<bool> changed = read();
  if (!changed) telemetry::warn("credentials_not_read", {{"error", changed.error().message}});
  return changed.value_or(false);
}

}  // namespace xila::kube
