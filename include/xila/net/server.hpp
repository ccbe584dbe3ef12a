#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "xila/base/result.hpp"
#include "xila/net/http.hpp"
#include "xila/net/tls.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::net {

// What one listener lets its peers use up. Times are enforced to about a second.
struct Limits {
  std::size_t body_bytes = std::size_t{8}
                           << 20;  // an UPDATE review holds two objects of at most 3 MiB
  std::size_t header_bytes = std::size_t{16} << 10;
  // Bodies that are held at once by all connections, counted as they arrive; a request over it is
  // answered 503.
  std::size_t total_body_bytes = std::size_t{128} << 20;
  // So much of each body is not counted, since `connections` bounds it: an ordinary review is
  // answered whoever fills the memory with large ones.
  std::size_t uncounted_body_bytes = std::size_t{64} << 10;
  std::size_t connections = 1024;
  std::chrono::seconds handshake{10};
  std::chrono::seconds header{10};  // from a request's first byte to the end of its head
  std::chrono::seconds body{30};    // from the head to the end of the body
  std::chrono::seconds answer{60};  // for the handler; as much again for a peer that reads slowly
  // Above the 90 s after which the API server's client drops an idle connection: closing first
  // would race with its next request, and a lost review is a denial.
  std::chrono::seconds idle{120};
  std::chrono::seconds closing{2};  // for the peer to read the last answer
  // An older connection's next answer says "Connection: close", so that no peer sits on a retired
  // certificate.
  std::chrono::seconds age{600};
};

struct ServerOptions {
  std::string listener;    // its name in metrics and logs: "webhook", "operations"
  std::string address;     // an IP literal; "" = all addresses
  std::uint16_t port = 0;  // 0: any free one
  unsigned threads = 1;
  bool tls = false;
  Limits limits;
};

// An HTTP/1.1 server, with TLS or without, on threads of its own. One io_context per thread;
// accepted connections are dealt out in turn, so that few connections still use all threads. A
// connection stays on its thread, needs no lock, and keeps its buffers from request to request.
class Server {
 public:
  // `service` and `metrics` outlive the server.
  Server(ServerOptions options, const Service& service, telemetry::Metrics& metrics);
  ~Server();  // stops at once

  // Gives the identity to new handshakes; connections live on with theirs. Thread-safe; before
  // `start` with TLS.
  void use(TlsIdentity identity);

  // Binds and serves. Error: address and reason. Returns the port.
  base::Result<std::uint16_t> start();

  // From now on each answer says "Connection: close"; new connections are still taken. Thread-safe.
  void drain();

  // Takes what waits in the listen queue, closes it, answers what is in flight for at most
  // `patience`, closes idle connections, and joins the threads. Returns the number of requests cut
  // off.
  std::size_t stop(std::chrono::milliseconds patience);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xila::net
