#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <new>

#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "stream.hpp"

namespace xila::net {
namespace {

using boost::system::error_code;
using Socket = TlsStream::Socket;

// Room for a record of 16 KiB and small ones around it: a review of that size and its head are two
// records, and come with one call.
constexpr std::size_t kReceiveBuffer = std::size_t{32} << 10;

// OpenSSL's way to the socket. Its own (BIO_s_socket) keeps the number of a descriptor, which after
// a close may be another connection's, and raises SIGPIPE.
int descriptor(BIO* bio) {
  return static_cast<Socket*>(BIO_get_data(bio))->native_handle();
}

bool is_for_later(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

int receive(BIO* bio, char* room, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = ::recv(descriptor(bio), room, static_cast<std::size_t>(size), 0);
  if (got < 0 && is_for_later(errno)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

int transmit(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t put = ::send(descriptor(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (put < 0 && is_for_later(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(put);
}

long control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;  // nothing is held back; OpenSSL flushes a handshake
}

const BIO_METHOD* socket_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "asio socket");
    if (made == nullptr) throw std::bad_alloc();
    BIO_meth_set_read(made, receive);
    BIO_meth_set_write(made, transmit);
    BIO_meth_set_ctrl(made, control);
    return made;
  }();
  return method;
}

// SSL_get_error looks into the thread's queue, which must be empty before the call. Looking first
// is far cheaper than clearing.
void forget_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

void TlsStream::Free::operator()(ssl_st* tls) const {
  SSL_free(tls);
}

TlsStream::TlsStream(Socket socket, ssl_ctx_st& context)
    : socket_(std::move(socket)), tls_(SSL_new(&context)) {
  BIO* const bio = BIO_new(socket_method());
  if (!tls_ || bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, &socket_);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_.get(), bio, bio);
  SSL_set_default_read_buffer_len(tls_.get(), kReceiveBuffer);
  SSL_set_read_ahead(tls_.get(), 1);
}

bool TlsStream::holds_input() const {
  return SSL_has_pending(tls_.get()) == 1;
}

std::size_t TlsStream::try_read(boost::asio::mutable_buffer room, error_code& error) {
  std::size_t size = 0;
  forget_errors();
  error = outcome(SSL_read_ex(tls_.get(), room.data(), room.size(), &size));
  return size;
}

std::size_t TlsStream::try_write(boost::asio::const_buffer data, error_code& error) {
  std::size_t size = 0;
  forget_errors();
  error = outcome(SSL_write_ex(tls_.get(), data.data(), data.size(), &size));
  return size;
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
  error_code error;
  auto into_error = boost::asio::redirect_error(boost::asio::use_awaitable, error);
  for (;;) {
    forget_errors();
    error = outcome(step(tls_.get()));
    if (error != boost::asio::error::would_block) co_return error;
    co_await socket_.async_wait(wanted_, into_error);
    if (error) co_return error;
  }
}

error_code TlsStream::outcome(int result) {
  const int reason = SSL_get_error(tls_.get(), result);
  switch (reason) {
    case SSL_ERROR_NONE:
      return {};
    case SSL_ERROR_WANT_READ:
      wanted_ = Socket::wait_read;
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
