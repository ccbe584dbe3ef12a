#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

namespace xila::net::test {

// Takes one answer out of `pending`: head and as much body as its Content-Length says. "" when
// `read_more`, which appends to `pending`, fails first.
template <class ReadMore>
std::string take_answer(std::string& pending, ReadMore read_more) {
  std::size_t end = 0;
  while ((end = pending.find("\r\n\r\n")) == std::string::npos) {
    if (!read_more()) return {};
  }
  const std::size_t mark = pending.find("Content-Length: ");
  const std::size_t length = mark < end ? std::stoul(pending.substr(mark + 16)) : 0;
  while (pending.size() < end + 4 + length) {
    if (!read_more()) return {};
  }
  std::string text = pending.substr(0, end + 4 + length);
  pending.erase(0, text.size());
  return text;
}

// Speaks bytes, so that a test can say things that no HTTP library would. Every read ends: a server
// that does not answer closes, and the socket has a receive time-out besides.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(io_) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }

  void send(std::string_view text) {
    boost::system::error_code ignored;  // the server may have closed already, which the test reads
    boost::asio::write(socket_, boost::asio::buffer(text), ignored);
  }

  // One answer. "" when the server closed first.
  std::string answer() {
    return take_answer(pending_, [this] { return read_more(); });
  }

  // All that the server still says until it closes.
  std::string rest() {
    while (read_more()) {
    }
    return std::exchange(pending_, {});
  }
  // True once the server has closed; what it still said is dropped.
  bool is_closed() {
    rest();
    return closed_;
  }

 private:
  bool read_more() {
    char bytes[4096];
    boost::system::error_code error;
    const std::size_t size = socket_.read_some(boost::asio::buffer(bytes), error);
    pending_.append(bytes, size);
    closed_ = error == boost::asio::error::eof || error == boost::asio::error::connection_reset;
    return !error;
  }

  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
  std::string pending_;
  bool closed_ = false;
};

inline std::string post(std::string_view path, std::string_view body,
                        std::string_view more_headers = "") {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(more_headers) + "\r\n" +
         std::string(body);
}

inline int status_of(const std::string& answer) {
  return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3));
}

inline std::string body_of(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? std::string() : answer.substr(end + 4);
}

inline bool says_close(const std::string& answer) {
  return answer.find("\r\nConnection: close\r\n") != std::string::npos;
}

}  // namespace xila::net::test
