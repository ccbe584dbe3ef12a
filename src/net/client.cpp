#include "xila/net/client.hpp"

#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "xila/base/text.hpp"

namespace xila::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::awaitable;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

namespace {

// Also the largest head and chunk head. Reserved at once: Beast's buffer otherwise grows from 512
// bytes, in as many reads.
constexpr std::size_t kReadBuffer = std::size_t{64} << 10;
constexpr std::uint32_t kHeadLimit = 32 << 10;
// An answer without end comes in chunks; one that announces more than this is no watch.
constexpr std::uint64_t kMaxStreamLength = std::uint64_t{64} << 20;

// A dead peer is noticed after 10 + 3 * 5 s without traffic, unsent data after 20 s; without these
// Linux waits two hours.
constexpr int kKeepAliveIdle = 10;     // s
constexpr int kKeepAliveInterval = 5;  // s
constexpr int kKeepAliveProbes = 3;
constexpr int kUnsentLimit = 20'000;  // ms

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

bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

// The request as it goes over the wire, or nothing where a part of it would break its line.
std::optional<std::string> to_wire(const ClientRequest& request, const Origin& origin) {
  const std::string url = to_text(origin);
  std::string text = request.method + " " + request.target +
                     " HTTP/1.1\r\nHost: " + url.substr(url.find("//") + 2) + "\r\n";
  if (!is_one_line(request.method) || request.target.find_first_of(" \r\n") != std::string::npos) {
    return std::nullopt;
  }
  for (const auto& [name, value] : request.headers) {
    if (!is_one_line(name) || !is_one_line(value)) return std::nullopt;
    text += name + ": " + value + "\r\n";
  }
  if (!request.body.empty() || request.method != "GET") {
    text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  return text + "\r\n" + request.body;
}

bool is_timeout(const error_code& error) {
  return error == beast::error::timeout || error == asio::error::timed_out;
}

}  // namespace

struct ClientConnection::State {
  using Parser = http::response_parser<http::string_body>;

  State(asio::any_io_executor e, Origin o, ClientTls t)
      : executor(std::move(e)), origin(std::move(o)), tls_context(std::move(t)), tcp(executor) {}

  asio::any_io_executor executor;
  const Origin origin;
  const ClientTls tls_context;
  beast::tcp_stream tcp;
  std::optional<asio::ssl::stream<beast::tcp_stream&>> tls;
  std::shared_ptr<Resolution> resolution;
  beast::flat_buffer buffer{kReadBuffer};
  std::optional<Parser> parser;
  Clock::time_point begun;  // the request under way
  bool is_open = false;
  bool is_closed = false;
  bool has_served = false;  // read an answer whole
  bool was_stale = false;

  std::unexpected<ClientError> failed(ClientFailure what, std::string message) {
    is_closed = true;
    tcp.close();
    return std::unexpected(ClientError{what, std::move(message)});
  }
  std::unexpected<ClientError> timed_out() {
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
    return failed(ClientFailure::timeout, to_text(origin) + " did not answer within " +
                                              std::to_string(waited.count()) + " ms");
  }
  std::unexpected<ClientError> cannot_connect(const std::string& why) {
    return failed(ClientFailure::connect, "cannot connect to " + to_text(origin) + ": " + why);
  }
  std::unexpected<ClientError> broken(const std::string& why) {
    return failed(ClientFailure::broken, "the connection to " + to_text(origin) + " broke: " + why);
  }
  std::unexpected<ClientError> broken(const error_code& error) {
    was_stale = has_served && !(parser && parser->got_some()) && buffer.size() == 0 &&
                !is_timeout(error) && error != asio::error::operation_aborted;
    if (is_timeout(error)) return timed_out();
    if (!error || error == asio::error::operation_aborted) return broken("it was closed");
    const bool ended = error == asio::error::eof || error == asio::ssl::error::stream_truncated ||
                       error == http::error::partial_message || error == http::error::end_of_stream;
    return broken(ended ? "the server ended it" : error.message());
  }
  std::unexpected<ClientError> refuse_tls(const std::string& why) {
    return failed(ClientFailure::tls, "no TLS with " + to_text(origin) + ": " + why);
  }

  awaitable<ClientResult<std::vector<tcp::endpoint>>> addresses(Deadline deadline);
  awaitable<ClientResult<void>> connect(Deadline deadline);
  awaitable<ClientResult<void>> handshake(Deadline deadline);
  awaitable<ClientResult<void>> write(const ClientRequest& request, Deadline deadline);
  awaitable<ClientResult<void>> read_more(Deadline deadline);
  awaitable<ClientResult<ClientResponse>> read_head(Deadline deadline);
  ClientResult<void> parse();
};

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

awaitable<ClientResult<void>> ClientConnection::State::write(const ClientRequest& request,
                                                             Deadline deadline) {
  const std::optional<std::string> text = to_wire(request, origin);
  if (!text) co_return broken("the request has a line break in its target or a header");
  error_code error;
  auto into_error = asio::redirect_error(asio::use_awaitable, error);
  const auto bytes = asio::buffer(*text);
  tcp.expires_at(deadline);
  if (tls) {
    co_await asio::async_write(*tls, bytes, into_error);
  } else {
    co_await asio::async_write(tcp, bytes, into_error);
  }
  if (error || is_closed) co_return broken(error);
  co_return ClientResult<void>();
}

// One read into the buffer; the end of the stream goes to the parser.
awaitable<ClientResult<void>> ClientConnection::State::read_more(Deadline deadline) {
  if (buffer.size() == kReadBuffer) co_return broken("what came is not HTTP");
  error_code error;
  auto into_error = asio::redirect_error(asio::use_awaitable, error);
  const auto room = buffer.prepare(kReadBuffer - buffer.size());
  tcp.expires_at(deadline);
  std::size_t size = 0;
  if (tls) {
    size = co_await tls->async_read_some(room, into_error);
  } else {
    size = co_await tcp.async_read_some(room, into_error);
  }
  buffer.commit(size);
  if (error == asio::error::eof && parser->got_some()) {
    // Only TLS's own farewell or a plain FIN may end a body that has no other end.
    error = {};
    parser->put_eof(error);
    if (error) error = asio::error::eof;
  }
  if (error || is_closed) co_return broken(error);
  co_return ClientResult<void>();
}

// Feeds the buffer to the parser as far as it goes.
ClientResult<void> ClientConnection::State::parse() {
  error_code error;
  buffer.consume(parser->put(buffer.data(), error));
  if (!error || error == http::error::need_more) return {};
  if (error == http::error::body_limit) {
    return failed(ClientFailure::too_large,
                  "the answer of " + to_text(origin) + " is larger than what is accepted here");
  }
  return broken("what came is not HTTP: " + error.message());
}

awaitable<ClientResult<ClientResponse>> ClientConnection::State::read_head(Deadline deadline) {
  for (;;) {
    parser.emplace();
    parser->header_limit(kHeadLimit);
    parser->body_limit(boost::none);  // set once the status is known
    while (!parser->is_header_done()) {
      if (buffer.size() > 0) {
        if (const auto parsed = parse(); !parsed) co_return std::unexpected(parsed.error());
        if (parser->is_header_done()) break;
      }
      const auto read = co_await read_more(deadline);
      if (!read) co_return std::unexpected(read.error());
    }
    if (parser->get().result_int() >= 200) break;  // 1xx only announces the answer
  }
  ClientResponse response;
  response.status = static_cast<int>(parser->get().result_int());
  for (const auto& field : parser->get()) {
    response.headers.emplace_back(field.name_string(), field.value());
  }
  parser->eager(true);
  co_return response;
}

ClientConnection::ClientConnection(asio::any_io_executor executor, Origin origin, ClientTls tls)
    : state_(std::make_shared<State>(std::move(executor), std::move(origin), std::move(tls))) {
  state_->buffer.reserve(kReadBuffer);
}

ClientConnection::~ClientConnection() {
  close();
}

awaitable<ClientResult<ClientResponse>> ClientConnection::open(ClientRequest request,
                                                               Deadline deadline) {
  const std::shared_ptr<State> state = state_;
  state->begun = Clock::now();
  state->was_stale = false;
  state->parser.reset();
  if (state->is_closed) co_return state->broken("it is closed");
  if (!state->is_open) {
    const auto connected = co_await state->connect(deadline);
    if (!connected) co_return std::unexpected(connected.error());
  }
  const auto written = co_await state->write(request, deadline);
  if (!written) co_return std::unexpected(written.error());
  ClientResult<ClientResponse> response = co_await state->read_head(deadline);
  if (response && state->parser->content_length().value_or(0) > kMaxStreamLength) {
    co_return state->failed(ClientFailure::too_large,
                            "the answer of " + to_text(state->origin) + " announces too much");
  }
  co_return response;
}

awaitable<ClientResult<ClientResponse>> ClientConnection::send(ClientRequest request,
                                                               Deadline deadline,
                                                               std::size_t body_limit) {
  const std::shared_ptr<State> state = state_;
  ClientResult<ClientResponse> response = co_await open(std::move(request), deadline);
  if (!response) co_return response;

  state->parser->body_limit(body_limit);
  if (state->parser->content_length().value_or(0) > body_limit) {
    co_return state->failed(ClientFailure::too_large, "the answer of " + to_text(state->origin) +
                                                          " is larger than " +
                                                          std::to_string(body_limit) + " bytes");
  }
  for (;;) {
    const ClientResult<std::size_t> size = co_await read_some(response->body, deadline);
    if (!size) co_return std::unexpected(size.error());
    if (*size == 0) co_return response;
  }
}

awaitable<ClientResult<std::size_t>> ClientConnection::read_some(std::string& body,
                                                                 Deadline deadline) {
  const std::shared_ptr<State> state = state_;
  if (state->is_closed || !state->parser) co_return state->broken("it is closed");
  std::string& arrived = state->parser->get().body();
  for (;;) {
    if (!state->parser->is_done() && state->buffer.size() > 0) {
      if (const auto parsed = state->parse(); !parsed) co_return std::unexpected(parsed.error());
    }
    if (!arrived.empty()) {
      const std::size_t size = arrived.size();
      body += arrived;
      arrived.clear();
      co_return size;
    }
    if (state->parser->is_done()) {
      state->has_served = true;
      if (!state->parser->keep_alive()) close();
      co_return 0;
    }
    const auto read = co_await state->read_more(deadline);
    if (!read) co_return std::unexpected(read.error());
  }
}

bool ClientConnection::is_reusable() const {
  return state_->is_open && !state_->is_closed && state_->parser && state_->parser->is_done() &&
         state_->buffer.size() == 0;
}

bool ClientConnection::was_stale() const {
  return state_->was_stale;
}

void ClientConnection::close() {
  state_->is_closed = true;
  if (state_->resolution) state_->resolution->done.cancel();
  state_->tcp.close();
}

}  // namespace xila::net
