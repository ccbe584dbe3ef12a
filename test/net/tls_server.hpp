#pragma once

#include <optional>
#include <utility>

#include "fakes/certificates.hpp"
#include "xila/net/server.hpp"

namespace xila::net::test {

inline TlsMaterial material_of(const xila::test::PemPair& pair) {
  return {pair.certificate, pair.key, {}};
}

inline xila::test::PemPair for_localhost(const xila::test::Authority& authority,
                                         const std::string& subject = "localhost") {
  return authority.issue(subject, "DNS:localhost,IP:127.0.0.1");
}

// A server with TLS on a free port.
class TlsServer {
 public:
  TlsServer(TlsIdentity identity, decltype(Service::answer) answer, Limits limits = {})
      : service_{[](const RequestHead&) { return std::nullopt; }, std::move(answer)},
        server_({.listener = "test", .address = "127.0.0.1", .tls = true, .limits = limits},
                service_, metrics_) {
    server_.use(std::move(identity));
    port_ = server_.start().value();
  }
  Server& server() { return server_; }
  std::uint16_t port() const { return port_; }
  telemetry::Metrics& metrics() { return metrics_; }

 private:
  telemetry::Metrics metrics_;
  Service service_;
  Server server_;
  std::uint16_t port_ = 0;
};

}  // namespace xila::net::test
