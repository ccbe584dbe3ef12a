#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "xila/kube/transport.hpp"

namespace xila::kube {

ApiError to_api_error(net::ClientError error);

// Cuts the body of an open answer into lines.
class HttpLineStream final : public LineStream {
 public:
  HttpLineStream(std::unique_ptr<net::ClientConnection> connection, std::size_t line_limit)
      : connection_(std::move(connection)), line_limit_(line_limit) {}

  boost::asio::awaitable<ApiResult<std::optional<std::string_view>>> read_line(
      net::Deadline deadline) override;
  void close() override { connection_->close(); }

 private:
  std::unique_ptr<net::ClientConnection> connection_;
  std::size_t line_limit_;
  std::string unread_;
  std::size_t begin_ = 0;     // of the next line
  std::size_t searched_ = 0;  // no line end before this
};

}  // namespace xila::kube
