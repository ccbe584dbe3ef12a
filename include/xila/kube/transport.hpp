#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "xila/base/result.hpp"
#include "xila/kube/cluster_access.hpp"
#include "xila/net/client.hpp"

namespace xila::kube {

enum class ApiFailure : std::uint8_t {
  connect,    // no address, refused, unreachable
  tls,        // handshake or certificate
  timeout,    // the deadline passed first
  broken,     // the connection ended early, or what came is not HTTP
  too_large,  // an answer or a line over its limit
  status,     // the API server answered, but not with a success: see ApiError::status
};

struct ApiError {
  ApiFailure what = ApiFailure::broken;
  int status = 0;       // HTTP; 0 = no answer
  std::string reason;   // of a metav1.Status, as "Expired"; "" = none
  std::string message;  // what happened, for logs: it may name our own account
  std::optional<std::chrono::seconds> retry_after;
};

template <class T>
using ApiResult = std::expected<T, ApiError>;

// An answer that is not a stream is one object or one page of a list. 500 namespaces or Pods are
// below 5 MiB; a page above this is asked for again in smaller ones.
inline constexpr std::size_t kAnswerLimit = std::size_t{8} << 20;
// One watch event. etcd's own limit keeps objects below 1.5 MiB by default.
inline constexpr std::size_t kLineLimit = std::size_t{4} << 20;

struct ApiRequest {
  std::string method = "GET";
  std::string target;  // path and query, encoded
  std::string accept = "application/json";
  std::string content_type;  // "" = no body
  std::string body;
};

// The lines of a watch, as they arrive.
class LineStream {
 public:
  virtual ~LineStream() = default;
  // The next line without its end, valid until the next call; nothing = the server ended the stream
  // after a whole line.
  virtual boost::asio::awaitable<ApiResult<std::optional<std::string_view>>> read_line(
      net::Deadline deadline) = 0;
  // Ends it; who waits on it gets an error.
  virtual void close() = 0;
};

// The way to an API server. For one thread: that of its executor.
class Transport {
 public:
  virtual ~Transport() = default;
  // The body of a successful answer (2xx).
  virtual boost::asio::awaitable<ApiResult<std::string>> send(ApiRequest request,
                                                              net::Deadline deadline) = 0;
  // Waits until `deadline` for the head of the answer; the lines have deadlines of their own.
  virtual boost::asio::awaitable<ApiResult<std::unique_ptr<LineStream>>> open(
      ApiRequest request, net::Deadline deadline) = 0;
  // For good: requests under way and later ones fail at once.
  virtual void close() = 0;
};

// Makes a transport for an executor; whoever runs the executor calls it.
using MakeTransport =
    std::function<base::Result<std::unique_ptr<Transport>>(const boost::asio::any_io_executor&)>;

struct ApiClientOptions {
  std::string user_agent = "xila-guard";
  // Bound tokens are renewed hourly by the kubelet, CAs seldom: files are read again when what was
  // read is older than this, and at once on a 401 or a TLS failure.
  std::chrono::milliseconds file_age{60'000};
};

// HTTP/1.1 to a real API server. Error: credentials that cannot be read.
base::Result<std::unique_ptr<Transport>> make_api_client(
    const boost::asio::any_io_executor& executor, ClusterAccess access,
    const ApiClientOptions& options = {});

}  // namespace xila::kube
