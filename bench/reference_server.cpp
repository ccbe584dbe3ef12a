// The yardstick of bench-server.sh: what HTTPS itself costs on this machine. Beast and Asio in
// their authors' callback style, TLS, keep-alive; it reads the body and answers a constant, right
// for nobody.
//
//   reference_server PORT CERTIFICATE KEY
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr const char* kAnswer =
    R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",)"
    R"("response":{"uid":"00000000-0000-0000-0000-000000000000","allowed":false}})";

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, asio::ssl::context& tls) : stream_(std::move(socket), tls) {
    buffer_.reserve(std::size_t{64} << 10);  // as our own server does
  }

  void start() {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = shared_from_this()](error_code error) {
                              if (!error) self->read();
                            });
  }

 private:
  void read() {
    parser_.emplace();
    parser_->body_limit(std::size_t{8} << 20);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       if (!error) self->write();
                     });
  }

  void write() {
    answer_ = {http::status::ok, 11};
    answer_.set(http::field::content_type, "application/json");
    answer_.body() = kAnswer;
    answer_.prepare_payload();
    http::async_write(stream_, answer_, [self = shared_from_this()](error_code error, std::size_t) {
      if (!error) self->read();
    });
  }

  asio::ssl::stream<tcp::socket> stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> answer_;
};

void accept(tcp::acceptor& acceptor, asio::ssl::context& tls) {
  acceptor.async_accept([&](error_code error, tcp::socket socket) {
    if (!error) {
      socket.set_option(tcp::no_delay(true), error);
      std::make_shared<Session>(std::move(socket), tls)->start();
    }
    accept(acceptor, tls);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: reference_server PORT CERTIFICATE KEY\n");
    return 2;
  }
  asio::io_context io(1);
  asio::ssl::context tls(asio::ssl::context::tls_server);
  tls.use_certificate_chain_file(argv[2]);
  tls.use_private_key_file(argv[3], asio::ssl::context::pem);
  tcp::acceptor acceptor(
      io, {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(std::atoi(argv[1]))});
  accept(acceptor, tls);
  io.run();
}
