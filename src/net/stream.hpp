#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

struct bio_st;
struct ssl_st;
struct ssl_ctx_st;

namespace xila::net {

// A server's end of a connection, in the clear. As in TlsStream no `try_` waits: what cannot be
// done now fails with would_block, and wanted() is what to wait for before the same call again;
// nothing = only others' turn.
class PlainStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  explicit PlainStream(Socket socket) : socket_(std::move(socket)) {}

  Socket& socket() { return socket_; }
  std::optional<Socket::wait_type> wanted() const { return wanted_; }
  bool holds_input() const { return false; }

  std::size_t try_read(boost::asio::mutable_buffer room, boost::system::error_code& error) {
    wanted_ = Socket::wait_read;
    return socket_.read_some(room, error);
  }
  std::size_t try_write(boost::asio::const_buffer data, boost::system::error_code& error) {
    wanted_ = Socket::wait_write;
    return socket_.write_some(data, error);
  }
  // The peer sees the end of what was sent, and may still send.
  void end_output() {
    boost::system::error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
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

  Socket& socket() { return line_.socket; }
  std::optional<Socket::wait_type> wanted() const { return wanted_; }
  // Bytes that were received and not read yet; what is left of a record may be all there is.
  bool holds_input() const;

  // Takes a bounded time: records without data, of which a peer may send any number, end it too.
  std::size_t try_read(boost::asio::mutable_buffer room, boost::system::error_code& error);
  // Writes all of it or fails.
  std::size_t try_write(boost::asio::const_buffer data, boost::system::error_code& error);
  void end_output();

  boost::asio::awaitable<boost::system::error_code> handshake();
  // Says goodbye and hears the peer's.
  boost::asio::awaitable<boost::system::error_code> shutdown();

 private:
  struct Free {
    void operator()(ssl_st* tls) const;
  };
  // What OpenSSL reads and writes.
  struct Line {
    Socket socket;
    std::size_t without_data = 0;  // bytes received since the last data
    unsigned receipts = 0;         // system calls in this step
    bool is_cut_short = false;
  };
  static int receive(bio_st* bio, char* room, int size);
  static int transmit(bio_st* bio, const char* data, int size);

  void begin_step();
  boost::system::error_code outcome(int result);
  boost::asio::awaitable<boost::system::error_code> complete(int (*step)(ssl_st*));

  Line line_;
  std::unique_ptr<ssl_st, Free> tls_;
  std::optional<Socket::wait_type> wanted_;
};

// Until what failed with would_block is worth another try. An error: the socket was closed.
template <class Stream>
boost::asio::awaitable<boost::system::error_code> wait_for(Stream& stream) {
  boost::system::error_code error;
  auto into_error = boost::asio::redirect_error(boost::asio::use_awaitable, error);
  if (const auto wanted = stream.wanted()) {
    co_await stream.socket().async_wait(*wanted, into_error);
  } else {
    co_await boost::asio::post(boost::asio::use_awaitable);
  }
  co_return error;
}

}  // namespace xila::net
