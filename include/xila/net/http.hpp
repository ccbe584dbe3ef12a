#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/awaitable.hpp>

namespace xila::net {

// Who is at the other end of a connection.
struct Peer {
  std::string address;           // "10.0.0.7:41822"
  bool client_verified = false;  // showed a certificate of --client-ca-file
};

// What is known of a request before its body is read. Views are valid only during the call.
struct RequestHead {
  std::string_view method;
  std::string_view path;          // without the query
  std::string_view query;         // without the "?"
  std::string_view content_type;  // "" = none
};

// A whole request. Behind `body` kBodyPadding more bytes can be read, for the JSON parser.
struct Request {
  std::string method;
  std::string path;
  std::string query;
  std::string content_type;
  std::string_view body;  // the connection's; valid until the answer is made
  Peer peer;
};

inline constexpr std::size_t kBodyPadding = 64;

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>>
      headers;  // besides Content-Type and Content-Length
};

// An answer, or how to get it: most are made at once, and a coroutine costs them a percent or two.
using Answer = std::variant<Response, boost::asio::awaitable<Response>>;

// What a server answers with. Both functions are called on the connection's own thread,
// concurrently from several threads, and outlive the server.
struct Service {
  // Looks at the head alone and may refuse before the body is read (404, 405, 415).
  std::function<std::optional<Response>(const RequestHead&)> refuse;
  // Answers a request, which outlives the coroutine. An exception that leaves it is a program
  // error.
  std::function<Answer(const Request& request)> answer;
};

}  // namespace xila::net
