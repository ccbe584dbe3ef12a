#pragma once

#include <cstddef>

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace xila::net {

// Reads what a stream holds already, without waiting; 0 = nothing. For TLS that is what came in
// behind the record that the last read took: a body of 16 KB has two, the API server's have many
// small ones, and each asynchronous read of one is a turn through the scheduler, in which the other
// connections' bodies push this one out of the cache.
inline std::size_t read_at_hand(boost::asio::ip::tcp::socket& /*stream*/,
                                boost::asio::mutable_buffer /*room*/) {
  return 0;
}

// The socket must be non-blocking, for the record may not be whole. An error, that one too, is met
// again by the asynchronous read which must follow on 0.
inline std::size_t read_at_hand(boost::asio::ssl::stream<boost::asio::ip::tcp::socket>& stream,
                                boost::asio::mutable_buffer room) {
  SSL* const tls = stream.native_handle();
  if (SSL_pending(tls) == 0 && BIO_pending(SSL_get_rbio(tls)) == 0) return 0;
  boost::system::error_code error;
  const std::size_t size = stream.read_some(room, error);
  return error ? 0 : size;
}

}  // namespace xila::net
