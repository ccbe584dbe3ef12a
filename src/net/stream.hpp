#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

struct ssl_st;
struct ssl_ctx_st;

namespace xila::net {

// A server's end of a connection, in the clear. As in TlsStream no `try_` waits: what cannot be
// done now fails with would_block, and wanted() is what to wait for before the same call again.
class PlainStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  explicit PlainStream(Socket socket) : socket_(std::move(socket)) {}

  Socket& socket() { return socket_; }
  Socket::wait_type wanted() const { return wanted_; }
  bool holds_input() const { return false; }

  std::size_t try_read(boost::asio::mutable_buffer room, boost::system::error_code& error) {
    wanted_ = Socket::wait_read;
    return socket_.read_some(room, error);
  }
  std::size_t try_write(boost::asio::const_buffer data, boost::system::error_code& error) {
    wanted_ = Socket::wait_write;
    return socket_.write_some(data, error);
  }

 private:
  Socket socket_;  // non-blocking
  Socket::wait_type wanted_ = Socket::wait_read;
};

// The same in TLS: OpenSSL at work on the socket itself. Asio's ssl::stream has two buffers and a
// pair of queues between the two, and copies each byte twice more.
class TlsStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  // The socket is non-blocking.
  TlsStream(Socket socket, ssl_ctx_st& context);
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  Socket& socket() { return socket_; }
  Socket::wait_type wanted() const { return wanted_; }
  // Bytes that were received and not read yet; what is left of a record may be all there is.
  bool holds_input() const;

  std::size_t try_read(boost::asio::mutable_buffer room, boost::system::error_code& error);
  // Writes all of it or fails.
  std::size_t try_write(boost::asio::const_buffer data, boost::system::error_code& error);

  boost::asio::awaitable<boost::system::error_code> handshake();
  // Says goodbye and hears the peer's.
  boost::asio::awaitable<boost::system::error_code> shutdown();

 private:
  struct Free {
    void operator()(ssl_st* tls) const;
  };
  boost::system::error_code outcome(int result);
  boost::asio::awaitable<boost::system::error_code> complete(int (*step)(ssl_st*));

  Socket socket_;
  std::unique_ptr<ssl_st, Free> tls_;  // reads and writes socket_
  Socket::wait_type wanted_ = Socket::wait_read;
};

}  // namespace xila::net
