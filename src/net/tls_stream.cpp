#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <new>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include "stream.hpp"

namespace xila::net {
namespace {

using boost::system::error_code;

// Room for a record of 16 KiB and small ones around it: a review of that size and its head are two
// records, and come with one call.
constexpr std::size_t kReceiveBuffer = std::size_t{32} << 10;

// A peer that sends KeyUpdates without end would keep OpenSSL, and with it every other connection
// of the thread, busy for ever. So a step takes few system calls, and a connection ends after so
// many bytes without data among them; a record with data has 16 KB at most.
constexpr unsigned kMostReceipts = 2;
constexpr std::size_t kMostWithoutData = std::size_t{256} << 10;

bool is_for_later(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

long control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;  // nothing is held back; OpenSSL flushes a handshake
}

}  // namespace

void TlsStream::Free::operator()(ssl_st* tls) const {
  SSL_free(tls);
}

// OpenSSL's own way to a socket (BIO_s_socket) keeps the number of a descriptor, which after a
// close may be another connection's, and raises SIGPIPE.
int TlsStream::receive(BIO* bio, char* room, int size) {
  Line& line = *static_cast<Line*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  line.is_cut_short = ++line.receipts > kMostReceipts;
  ssize_t got = -1;
  if (!line.is_cut_short) {
    got = ::recv(line.socket.native_handle(), room, static_cast<std::size_t>(size), 0);
  }
  if (got > 0) line.without_data += static_cast<std::size_t>(got);
  if (line.is_cut_short || (got < 0 && is_for_later(errno))) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

int TlsStream::transmit(BIO* bio, const char* data, int size) {
  Line& line = *static_cast<Line*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const ssize_t put =
      ::send(line.socket.native_handle(), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (put < 0 && is_for_later(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(put);
}

TlsStream::TlsStream(Socket socket, ssl_ctx_st& context)
    : line_{.socket = std::move(socket)}, tls_(SSL_new(&context)) {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "asio socket");
    if (made == nullptr) throw std::bad_alloc();
    BIO_meth_set_read(made, receive);
    BIO_meth_set_write(made, transmit);
    BIO_meth_set_ctrl(made, control);
    return made;
  }();
  BIO* const bio = BIO_new(method);
  if (!tls_ || bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, &line_);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_.get(), bio, bio);
  SSL_set_default_read_buffer_len(tls_.get(), kReceiveBuffer);
  SSL_set_read_ahead(tls_.get(), 1);
}

// SSL_get_error looks into the thread's queue of errors, which must be empty before a step. Looking
// first is far cheaper than clearing.
void TlsStream::begin_step() {
  if (ERR_peek_error() != 0) ERR_clear_error();
  line_.receipts = 0;
  line_.is_cut_short = false;
}

bool TlsStream::holds_input() const {
  return SSL_has_pending(tls_.get()) == 1;
}

std::size_t TlsStream::try_read(boost::asio::mutable_buffer room, error_code& error) {
  std::size_t size = 0;
  begin_step();
  error = outcome(SSL_read_ex(tls_.get(), room.data(), room.size(), &size));
  if (size != 0) line_.without_data = 0;
  if (line_.without_data > kMostWithoutData) error = boost::asio::error::connection_aborted;
  return size;
}

std::size_t TlsStream::try_write(boost::asio::const_buffer data, error_code& error) {
  std::size_t size = 0;
  begin_step();
  error = outcome(SSL_write_ex(tls_.get(), data.data(), data.size(), &size));
  return size;
}

void TlsStream::end_output() {
  begin_step();
  SSL_shutdown(tls_.get());  // says goodbye, if there is room for it
  error_code ignored;
  line_.socket.shutdown(Socket::shutdown_send, ignored);
}

boost::asio::awaitable<error_code> TlsStream::handshake() {
  return complete(SSL_accept);
}

boost::asio::awaitable<error_code> TlsStream::shutdown() {
  return complete([](ssl_st* tls) {
    const int result = SSL_shutdown(tls);
    return result == 0 ? SSL_shutdown(tls) : result;  // 0: only this side's half is done
  });
}

boost::asio::awaitable<error_code> TlsStream::complete(int (*step)(ssl_st*)) {
  for (;;) {
    begin_step();
    error_code error = outcome(step(tls_.get()));
    if (error != boost::asio::error::would_block) co_return error;
    error = co_await wait_for(*this);
    if (error) co_return error;
  }
}

error_code TlsStream::outcome(int result) {
  const int reason = SSL_get_error(tls_.get(), result);
  switch (reason) {
    case SSL_ERROR_NONE:
      return {};
    case SSL_ERROR_WANT_READ:
      wanted_.reset();
      if (!line_.is_cut_short) wanted_ = Socket::wait_read;
      return boost::asio::error::would_block;
    case SSL_ERROR_WANT_WRITE:
      wanted_ = Socket::wait_write;
      return boost::asio::error::would_block;
    case SSL_ERROR_ZERO_RETURN:
      return boost::asio::error::eof;
    case SSL_ERROR_SSL:
      return {static_cast<int>(ERR_get_error()), boost::asio::error::get_ssl_category()};
    default:
      return boost::asio::error::connection_reset;
  }
}

}  // namespace xila::net
