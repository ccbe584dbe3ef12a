#include "xila/net/client.hpp"

#include <algorithm>
#include <optional>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "client_state.hpp"

namespace xila::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::awaitable;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::uint32_t kHeadLimit = 32 << 10;
// An answer without end comes in chunks; one that announces more than this is no watch.
constexpr std::uint64_t kMaxStreamLength = std::uint64_t{64} << 20;

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

}  // namespace

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
  if (buffer.size() == kClientReadBuffer) co_return broken("what came is not HTTP");
  error_code error;
  auto into_error = asio::redirect_error(asio::use_awaitable, error);
  const auto room = buffer.prepare(kClientReadBuffer - buffer.size());
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
  state_->buffer.reserve(kClientReadBuffer);
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
  state_->give_up_look_up();
  state_->tcp.close();
}

}  // namespace xila::net
