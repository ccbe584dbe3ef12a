#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>

#include "raw_client.hpp"

namespace xila::net::test {

// A client that has its hand on OpenSSL, so that a test says what goes into which record and which
// records into one piece. Blocking, with a time-out.
class RecordClient {
 public:
  RecordClient(std::uint16_t port, const std::string& trusted, int max_version = TLS1_3_VERSION)
      : context_(boost::asio::ssl::context::tls_client), socket_(io_) {
    context_.add_certificate_authority(boost::asio::buffer(trusted));
    context_.set_verify_mode(boost::asio::ssl::verify_peer);
    SSL_CTX_set_max_proto_version(context_.native_handle(), max_version);
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    socket_.set_option(boost::asio::ip::tcp::no_delay(true));
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    tls_.reset(SSL_new(context_.native_handle()));
    SSL_set_fd(tls_.get(), socket_.native_handle());
    EXPECT_EQ(SSL_connect(tls_.get()), 1);
    BIO* const out = BIO_new(BIO_s_mem());
    SSL_set0_wbio(tls_.get(), out);
  }

  // One record, or several of a large text; kept back until send().
  void put(std::string_view text) {
    EXPECT_EQ(SSL_write(tls_.get(), text.data(), static_cast<int>(text.size())),
              static_cast<int>(text.size()));
  }
  // Takes new keys, and asks the peer for its own or not (RFC 8446, section 4.6.3).
  void put_key_update(int kind) {
    EXPECT_EQ(SSL_key_update(tls_.get(), kind), 1);
    EXPECT_EQ(SSL_do_handshake(tls_.get()), 1);
  }
  void put_goodbye() { SSL_shutdown(tls_.get()); }
  // All that was put and not sent yet, in pieces of at most so many bytes.
  void send(std::size_t piece = SIZE_MAX) {
    while (!unsent().empty()) write(unsent().substr(0, piece));
  }
  void send_half() { write(unsent().substr(0, unsent().size() / 2)); }

  // One answer. "" when the server closed first.
  std::string answer() {
    return take_answer(pending_, [this] { return read_more(); });
  }
  // The server has said goodbye, not just gone.
  bool hears_goodbye() {
    while (read_more()) {
    }
    return (SSL_get_shutdown(tls_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }
  // Gone without a word: the peer's next sending meets a reset.
  void vanish() {
    socket_.set_option(boost::asio::socket_base::linger(true, 0));
    socket_.close();
  }

 private:
  std::string_view unsent() {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(tls_.get()), &bytes);
    return {bytes, static_cast<std::size_t>(size)};
  }
  void write(std::string_view text) {
    std::string taken(text);
    BIO_read(SSL_get_wbio(tls_.get()), taken.data(), static_cast<int>(taken.size()));
    boost::system::error_code ignored;  // the server may have gone, which the test reads
    boost::asio::write(socket_, boost::asio::buffer(taken), ignored);
  }

  struct Free {
    void operator()(SSL* tls) const { SSL_free(tls); }
  };
  bool read_more() {
    char bytes[16384];
    const int size = SSL_read(tls_.get(), bytes, sizeof bytes);
    if (size > 0) pending_.append(bytes, static_cast<std::size_t>(size));
    return size > 0;
  }

  boost::asio::ssl::context context_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<SSL, Free> tls_;
  std::string pending_;
};

}  // namespace xila::net::test
