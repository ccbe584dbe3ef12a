// How a connection comes about: look-up, TCP, TLS.
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "client_state.hpp"
#include "xila/base/text.hpp"

namespace xila::net {

namespace asio = boost::asio;
using asio::awaitable;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

// What a host name means, looked up on the resolver's own thread, which nothing can interrupt: so
// it outlives whoever waits.
struct Resolution {
  explicit Resolution(const asio::any_io_executor& executor)
      : resolver(executor), done(executor, Deadline::max()) {}

  tcp::resolver resolver;
  asio::steady_timer done;
  bool is_done = false;
  error_code error;
  std::vector<tcp::endpoint> endpoints;
};

namespace {

// A dead peer is noticed after 10 + 3 * 5 s without traffic, unsent data after 20 s; without these
// Linux waits two hours.
constexpr int kKeepAliveIdle = 10;     // s
constexpr int kKeepAliveInterval = 5;  // s
constexpr int kKeepAliveProbes = 3;
constexpr int kUnsentLimit = 20'000;  // ms

awaitable<void> resolve(std::shared_ptr<Resolution> resolution, std::string host,
                        std::string port) {
  auto into_error = asio::redirect_error(asio::use_awaitable, resolution->error);
  const auto found = co_await resolution->resolver.async_resolve(host, port, into_error);
  for (const auto& entry : found) resolution->endpoints.push_back(entry.endpoint());
  resolution->is_done = true;
  resolution->done.cancel();
}

void keep_watch_over(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  const int handle = socket.native_handle();
  const auto set = [handle](int option, int value) {
    ::setsockopt(handle, IPPROTO_TCP, option, &value, sizeof value);
  };
  set(TCP_KEEPIDLE, kKeepAliveIdle);
  set(TCP_KEEPINTVL, kKeepAliveInterval);
  set(TCP_KEEPCNT, kKeepAliveProbes);
  set(TCP_USER_TIMEOUT, kUnsentLimit);
}

}  // namespace

awaitable<ClientResult<std::vector<tcp::endpoint>>> ClientConnection::State::addresses(
    Deadline deadline) {
  const std::string host = origin.connect_host.empty() ? origin.host : origin.connect_host;
  const std::uint16_t port = origin.connect_port == 0 ? origin.port : origin.connect_port;
  error_code error;
  const auto literal = asio::ip::make_address(host, error);
  if (!error) co_return std::vector<tcp::endpoint>{tcp::endpoint(literal, port)};

  auto lookup = std::make_shared<Resolution>(executor);
  resolution = lookup;
  asio::co_spawn(executor, resolve(lookup, host, std::to_string(port)), asio::detached);
  lookup->done.expires_at(deadline);
  auto into_error = asio::redirect_error(asio::use_awaitable, error);
  co_await lookup->done.async_wait(into_error);
  resolution.reset();
  if (is_closed) co_return cannot_connect("it was given up");
  if (!lookup->is_done) {
    lookup->resolver.cancel();
    co_return failed(ClientFailure::timeout,
                     "the look-up of host " + base::quote(host) + " did not end in time");
  }
  if (lookup->error || lookup->endpoints.empty()) {
    co_return cannot_connect("host " + base::quote(host) + ": " +
                             (lookup->error ? lookup->error.message() : "no address"));
  }
  co_return std::move(lookup->endpoints);
}

awaitable<ClientResult<void>> ClientConnection::State::connect(Deadline deadline) {
  if (origin.tls && !tls_context) co_return refuse_tls("there is no TLS context");
  const auto endpoints = co_await addresses(deadline);
  if (!endpoints) co_return std::unexpected(endpoints.error());

  error_code error;
  auto into_error = asio::redirect_error(asio::use_awaitable, error);
  for (std::size_t i = 0; i < endpoints->size(); ++i) {
    // An address that swallows packets must not use up the time of the others.
    const auto now = Clock::now();
    const auto tries_left = static_cast<Clock::rep>(endpoints->size() - i);
    tcp.expires_at(tries_left == 1 ? deadline : now + (deadline - now) / tries_left);
    const tcp::endpoint endpoint = (*endpoints)[i];
    co_await tcp.async_connect(endpoint, into_error);
    if (!error || is_closed || Clock::now() >= deadline) break;
    tcp.close();
  }
  if (is_closed) co_return cannot_connect("it was given up");
  if (is_timeout(error)) {
    co_return failed(ClientFailure::timeout,
                     "cannot connect to " + to_text(origin) + ": no answer in time");
  }
  if (error) co_return cannot_connect(error.message());
  keep_watch_over(tcp.socket());
  if (origin.tls) co_return co_await handshake(deadline);
  is_open = true;
  co_return ClientResult<void>();
}

awaitable<ClientResult<void>> ClientConnection::State::handshake(Deadline deadline) {
  tls.emplace(tcp, *tls_context);
  SSL* const session = tls->native_handle();
  const std::string name = origin.server_name.empty() ? origin.host : origin.server_name;
  error_code error;
  asio::ip::make_address(name, error);
  if (!error) {  // no SNI for addresses: RFC 6066, section 3
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name.c_str());
  } else {
    SSL_set_hostflags(session,
                      X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    SSL_set1_host(session, name.c_str());
    SSL_set_tlsext_host_name(session, name.c_str());
  }

  tcp.expires_at(deadline);
  auto into_error = asio::redirect_error(asio::use_awaitable, error);
  co_await tls->async_handshake(asio::ssl::stream_base::client, into_error);
  if (is_timeout(error)) co_return timed_out();
  if (error) {
    const long verdict = SSL_get_verify_result(session);
    co_return refuse_tls(verdict == X509_V_OK
                             ? error.message()
                             : "its certificate is not accepted: " +
                                   std::string(X509_verify_cert_error_string(verdict)));
  }
  is_open = true;
  co_return ClientResult<void>();
}

void ClientConnection::State::give_up_look_up() {
  if (resolution) resolution->done.cancel();
}

}  // namespace xila::net
