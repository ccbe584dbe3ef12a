#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "xila/net/client.hpp"

namespace xila::net {

// Also the largest head and chunk head. Reserved at once: Beast's buffer otherwise grows from 512
// bytes, in as many reads.
inline constexpr std::size_t kClientReadBuffer = std::size_t{64} << 10;

// A host's addresses, as they are being looked up.
struct Resolution;

inline bool is_timeout(const boost::system::error_code& error) {
  return error == boost::beast::error::timeout || error == boost::asio::error::timed_out;
}

// One connection under way: what connecting, writing and reading share.
struct ClientConnection::State {
  using Parser = boost::beast::http::response_parser<boost::beast::http::string_body>;

  State(boost::asio::any_io_executor e, Origin o, ClientTls t)
      : executor(std::move(e)), origin(std::move(o)), tls_context(std::move(t)), tcp(executor) {}

  boost::asio::any_io_executor executor;
  const Origin origin;
  const ClientTls tls_context;
  boost::beast::tcp_stream tcp;
  std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream&>> tls;
  std::shared_ptr<Resolution> resolution;
  boost::beast::flat_buffer buffer{kClientReadBuffer};
  std::optional<Parser> parser;
  std::chrono::steady_clock::time_point begun;  // the request under way
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
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begun);
    return failed(ClientFailure::timeout, to_text(origin) + " did not answer within " +
                                              std::to_string(waited.count()) + " ms");
  }
  std::unexpected<ClientError> cannot_connect(const std::string& why) {
    return failed(ClientFailure::connect, "cannot connect to " + to_text(origin) + ": " + why);
  }
  std::unexpected<ClientError> broken(const std::string& why) {
    return failed(ClientFailure::broken, "the connection to " + to_text(origin) + " broke: " + why);
  }
  std::unexpected<ClientError> broken(const boost::system::error_code& error) {
    was_stale = has_served && !(parser && parser->got_some()) && buffer.size() == 0 &&
                !is_timeout(error) && error != boost::asio::error::operation_aborted;
    if (is_timeout(error)) return timed_out();
    if (!error || error == boost::asio::error::operation_aborted) return broken("it was closed");
    const bool ended = error == boost::asio::error::eof ||
                       error == boost::asio::ssl::error::stream_truncated ||
                       error == boost::beast::http::error::partial_message ||
                       error == boost::beast::http::error::end_of_stream;
    return broken(ended ? "the server ended it" : error.message());
  }
  std::unexpected<ClientError> refuse_tls(const std::string& why) {
    return failed(ClientFailure::tls, "no TLS with " + to_text(origin) + ": " + why);
  }

  boost::asio::awaitable<ClientResult<std::vector<boost::asio::ip::tcp::endpoint>>> addresses(
      Deadline deadline);
  void give_up_look_up();
  boost::asio::awaitable<ClientResult<void>> connect(Deadline deadline);
  boost::asio::awaitable<ClientResult<void>> handshake(Deadline deadline);
  boost::asio::awaitable<ClientResult<void>> write(const ClientRequest& request, Deadline deadline);
  boost::asio::awaitable<ClientResult<void>> read_more(Deadline deadline);
  boost::asio::awaitable<ClientResult<ClientResponse>> read_head(Deadline deadline);
  ClientResult<void> parse();
};

}  // namespace xila::net
