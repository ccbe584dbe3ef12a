#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "xila/base/result.hpp"

namespace boost::asio::ssl {
class context;
}

namespace xila::net {

using Deadline = std::chrono::steady_clock::time_point;

// Where an HTTP server is, and whom its certificate must name.
struct Origin {
  bool tls = true;
  std::string host;  // a DNS name or an IP literal without brackets
  std::uint16_t port = 443;
  std::string server_name;       // for SNI and verification; "" = host
  std::string connect_host;      // connect here instead; "" = host
  std::uint16_t connect_port{};  // likewise; 0 = port

  bool operator==(const Origin&) const = default;
};

// "https://10.0.0.1:443", with brackets around IPv6.
std::string to_text(const Origin& origin);

struct Url {
  Origin origin;
  std::string target;  // path and query, at least "/"
};

// "https://host[:port][/path[?query]]", or http. No user, no fragment.
base::Result<Url> parse_url(std::string_view text);

// "10.0.0.1:443" or "[::1]:443".
base::Result<std::pair<std::string, std::uint16_t>> parse_address(std::string_view text);

// How a client proves itself and whom it believes. All PEM; "" = none.
struct ClientTlsOptions {
  std::string ca;  // "" = the system's store
  std::string certificate;
  std::string key;
  bool insecure_skip_verify = false;

  bool operator==(const ClientTlsOptions&) const = default;
};

using ClientTls = std::shared_ptr<boost::asio::ssl::context>;

// TLS 1.2 and newer. Error: which of the parts is unusable, and why.
base::Result<ClientTls> client_tls(const ClientTlsOptions& options);

enum class ClientFailure : std::uint8_t {
  connect,    // no address, refused, unreachable
  tls,        // handshake or certificate
  timeout,    // the deadline passed first
  broken,     // the connection ended early, or what came is not HTTP
  too_large,  // the answer is over the limit
};

struct ClientError {
  ClientFailure what = ClientFailure::broken;
  std::string message;  // "cannot connect to https://10.0.0.1:443: Connection refused"
};

template <class T>
using ClientResult = std::expected<T, ClientError>;

using Headers = std::vector<std::pair<std::string, std::string>>;

// By name, whose case does not matter; null = absent.
const std::string* find_header(const Headers& headers, std::string_view name);

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";
  Headers headers;  // besides Host, Content-Length, Connection
  std::string body;
};

struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;
};

// One HTTP/1.1 connection, opened by the first request. For one coroutine at a time, on an executor
// of one thread (or a strand); must outlive the coroutines that use it. Without TLS context an
// https origin fails with ClientFailure::tls.
class ClientConnection {
 public:
  ClientConnection(boost::asio::any_io_executor executor, Origin origin, ClientTls tls);
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  // Sends a request and reads the whole answer. An answer of any status is a success here.
  boost::asio::awaitable<ClientResult<ClientResponse>> send(ClientRequest request,
                                                            Deadline deadline,
                                                            std::size_t body_limit);

  // Sends a request and reads the head of its answer; `body` stays empty. read_some brings the
  // rest.
  boost::asio::awaitable<ClientResult<ClientResponse>> open(ClientRequest request,
                                                            Deadline deadline);
  // Appends what has arrived of the body, at least a byte; 0 = its end, as HTTP frames it.
  boost::asio::awaitable<ClientResult<std::size_t>> read_some(std::string& body, Deadline deadline);

  // True while another request may be sent: the last answer was read whole and lets the connection
  // live.
  bool is_reusable() const;
  // True when the last failure came before a byte of the answer on a connection that had served
  // before: the server ended it while it idled, and the request may be sent again.
  bool was_stale() const;

  // Ends the connection; what waits on it fails at once.
  void close();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Sends requests over connections that it keeps open while they idle. For one thread, like its
// connections.
class HttpClient {
 public:
  HttpClient(boost::asio::any_io_executor executor, Origin origin, ClientTls tls);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // From now on new connections use this context; idle ones are closed.
  void use(ClientTls tls);
  const Origin& origin() const { return origin_; }

  // As ClientConnection::send. A request without body that meets a stale connection is sent once
  // more.
  boost::asio::awaitable<ClientResult<ClientResponse>> send(ClientRequest request,
                                                            Deadline deadline,
                                                            std::size_t body_limit);
  // A connection of the caller's own, for an answer without end.
  std::unique_ptr<ClientConnection> connection() const;

  // For good: requests under way and later ones fail at once.
  void close();

 private:
  using Shared = std::shared_ptr<ClientConnection>;

  Shared take_idle();
  void give_back(const Shared& connection, const ClientTls& tls);

  boost::asio::any_io_executor executor_;
  Origin origin_;
  ClientTls tls_;
  std::vector<std::pair<Shared, Deadline>> idle_;  // until when
  std::vector<Shared> busy_;
  bool is_closed_ = false;
};

}  // namespace xila::net
