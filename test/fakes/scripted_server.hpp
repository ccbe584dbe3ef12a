#pragma once

#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "fakes/certificates.hpp"

namespace xila::test {

struct ServerRequest {
  std::size_t connection = 0;  // counted from 0
  std::string method;
  std::string target;
  std::string path;
  std::map<std::string, std::string> query;    // as written, not decoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  bool is_watch() const { return query.contains("watch"); }
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
  std::string parameter(const std::string& name) const {
    const auto found = query.find(name);
    return found == query.end() ? "" : found->second;
  }
};

// The server's side of one connection, written as it is spoken: blocking, on a thread of its own.
class ServerSession {
  using tcp = boost::asio::ip::tcp;

 public:
  ServerSession(tcp::socket& socket, boost::asio::ssl::stream<tcp::socket&>* tls)
      : socket_(socket), tls_(tls) {}

  void send(std::string_view bytes) {
    boost::system::error_code error;
    const auto buffer = boost::asio::buffer(bytes.data(), bytes.size());
    tls_ ? boost::asio::write(*tls_, buffer, error) : boost::asio::write(socket_, buffer, error);
    is_over_ = is_over_ || error.failed();
  }
  void respond(int status, std::string_view body, const std::string& headers = "") {
    send("HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: application/json\r\n" +
         headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body));
  }
  void begin_stream() { send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"); }
  void chunk(std::string_view bytes) {
    char size[32];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    send(size + std::string(bytes) + "\r\n");
  }
  void end_stream() { send("0\r\n\r\n"); }
  // Ends the connection in the middle of whatever was said.
  void cut() {
    boost::system::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    is_over_ = true;
  }
  // As a process that was killed: the peer sees a reset.
  void reset() {
    boost::system::error_code ignored;
    socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    is_over_ = true;  // the server closes it when the script returns
  }
  // Says nothing more until the client, or the end of the test, ends the connection.
  void wait_for_end() {
    char byte = 0;
    while (read_some(&byte, 1) > 0) continue;
    is_over_ = true;
  }
  std::size_t read_some(char* to, std::size_t size) {
    boost::system::error_code error;
    const auto buffer = boost::asio::buffer(to, size);
    const std::size_t read =
        tls_ ? tls_->read_some(buffer, error) : socket_.read_some(buffer, error);
    return error ? 0 : read;
  }
  bool is_over() const { return is_over_; }

 private:
  tcp::socket& socket_;
  boost::asio::ssl::stream<tcp::socket&>* tls_;
  bool is_over_ = false;
};

// An HTTP/1.1 server on a free loopback port that answers each request as `script` says; with an
// identity over TLS. It keeps what it was asked.
class ScriptedServer {
  using tcp = boost::asio::ip::tcp;

 public:
  using Script = std::function<void(const ServerRequest&, ServerSession&)>;

  explicit ScriptedServer(Script script, std::optional<PemPair> identity = std::nullopt,
                          std::uint16_t port = 0)
      : script_(std::move(script)),
        acceptor_(io_, {boost::asio::ip::address_v4::loopback(), port}) {
    if (identity) use(*identity);
    port_ = acceptor_.local_endpoint().port();
    accepting_ = std::thread([this] { accept(); });
  }
  ~ScriptedServer() { stop(); }

  // Ends the listener and every connection, as a killed process would.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(stopped_, true)) return;
      ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
      for (const int handle : open_) ::shutdown(handle, SHUT_RDWR);
    }
    accepting_.join();
    for (std::thread& session : sessions_) session.join();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
  }

  // For new connections.
  void use(const PemPair& identity) {
    auto context =
        std::make_shared<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
    context->use_certificate_chain(boost::asio::buffer(identity.certificate));
    context->use_private_key(boost::asio::buffer(identity.key), boost::asio::ssl::context::pem);
    const std::lock_guard lock(mutex_);
    tls_ = std::move(context);
  }
  void require_client_certificate(const std::string& authority) {
    tls_->add_certificate_authority(boost::asio::buffer(authority));
    tls_->set_verify_mode(boost::asio::ssl::verify_peer |
                          boost::asio::ssl::verify_fail_if_no_peer_cert);
  }

  std::uint16_t port() const { return port_; }
  std::string url() const {
    return (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
  }
  std::vector<ServerRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::size_t connections() const {
    const std::lock_guard lock(mutex_);
    return connections_;
  }
  // False when the time is up before so many requests have come.
  bool wait_for_requests(std::size_t count,
                         std::chrono::milliseconds patience = std::chrono::seconds(20)) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return requests_.size() >= count; });
  }

 private:
  void accept() {
    for (;;) {
      tcp::socket socket(io_);
      boost::system::error_code error;
      acceptor_.accept(socket, error);
      const std::lock_guard lock(mutex_);
      if (stopped_ || error) return;
      open_.insert(socket.native_handle());
      sessions_.emplace_back(
          [this, number = connections_++, context = tls_, s = std::move(socket)]() mutable {
            serve(number, context.get(), s);
          });
    }
  }

  void serve(std::size_t number, boost::asio::ssl::context* context, tcp::socket& socket) {
    const int handle = socket.native_handle();
    boost::system::error_code error;
    std::optional<boost::asio::ssl::stream<tcp::socket&>> tls;
    if (context) {
      tls.emplace(socket, *context);
      tls->handshake(boost::asio::ssl::stream_base::server, error);
    }
    ServerSession session(socket, tls ? &*tls : nullptr);
    std::string unread;
    while (!error && !session.is_over()) {
      std::optional<ServerRequest> request = read_request(session, unread);
      if (!request) break;
      request->connection = number;
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(*request);
        changed_.notify_all();
      }
      script_(*request, session);
    }
    const std::lock_guard lock(mutex_);
    open_.erase(handle);
    boost::system::error_code ignored;
    socket.close(ignored);
  }

  static std::optional<ServerRequest> read_request(ServerSession& session, std::string& unread) {
    const auto read_until = [&](auto is_there) {
      char bytes[4096];
      while (!is_there()) {
        const std::size_t size = session.read_some(bytes, sizeof bytes);
        if (size == 0) return false;
        unread.append(bytes, size);
      }
      return true;
    };
    if (!read_until([&] { return unread.find("\r\n\r\n") != std::string::npos; }))
      return std::nullopt;
    const std::size_t end = unread.find("\r\n\r\n");
    ServerRequest request = parse_head(unread.substr(0, end));
    unread.erase(0, end + 4);
    const std::string length = request.header("content-length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    if (!read_until([&] { return unread.size() >= size; })) return std::nullopt;
    request.body = unread.substr(0, size);
    unread.erase(0, size);
    return request;
  }

  static ServerRequest parse_head(const std::string& head) {
    ServerRequest request;
    std::size_t line_end = std::min(head.find("\r\n"), head.size());
    const std::string line = head.substr(0, line_end);
    const std::size_t first = line.find(' ');
    request.method = line.substr(0, first);
    request.target = line.substr(first + 1, line.rfind(' ') - first - 1);
    const std::size_t mark = std::min(request.target.find('?'), request.target.size());
    request.path = request.target.substr(0, mark);
    each_part(request.target.substr(std::min(mark + 1, request.target.size())), "&", "=",
              [&](std::string key, std::string value) {
                request.query[std::move(key)] = std::move(value);
              });
    each_part(head.substr(std::min(line_end + 2, head.size())), "\r\n", ": ",
              [&](std::string key, std::string value) {
                for (char& c : key)
                  c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
                request.headers[std::move(key)] = std::move(value);
              });
    return request;
  }

  template <class Take>
  static void each_part(const std::string& text, std::string_view separator,
                        std::string_view equals, Take take) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(separator, begin), text.size());
      const std::string part = text.substr(begin, end - begin);
      const std::size_t middle = std::min(part.find(equals), part.size());
      take(part.substr(0, middle), part.substr(std::min(middle + equals.size(), part.size())));
      begin = end + separator.size();
    }
  }

  Script script_;
  boost::asio::io_context io_;
  tcp::acceptor acceptor_;
  std::shared_ptr<boost::asio::ssl::context> tls_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool stopped_ = false;
  std::size_t connections_ = 0;
  std::set<int> open_;
  std::vector<ServerRequest> requests_;
  std::vector<std::thread> sessions_;
  std::thread accepting_;
};

}  // namespace xila::test
