#include "line_stream.hpp"

#include <algorithm>
#include <utility>

namespace xila::kube {

using boost::asio::awaitable;

namespace {

// Memory that one long line took is given back once it is read.
constexpr std::size_t kKeptCapacity = std::size_t{256} << 10;

ApiFailure to_api_failure(net::ClientFailure what) {
  switch (what) {
    case net::ClientFailure::connect:
      return ApiFailure::connect;
    case net::ClientFailure::tls:
      return ApiFailure::tls;
    case net::ClientFailure::timeout:
      return ApiFailure::timeout;
    case net::ClientFailure::too_large:
      return ApiFailure::too_large;
    case net::ClientFailure::broken:
      break;
  }
  return ApiFailure::broken;
}

}  // namespace

ApiError to_api_error(net::ClientError error) {
  return {.what = to_api_failure(error.what), .message = std::move(error.message)};
}

awaitable<ApiResult<std::optional<std::string_view>>> HttpLineStream::read_line(
    net::Deadline deadline) {
  for (;;) {
    const std::size_t end = unread_.find('\n', searched_);
    if (end != std::string::npos) {
      const std::string_view line(unread_.data() + begin_, end - begin_);
      begin_ = searched_ = end + 1;
      co_return line;
    }
    unread_.erase(0, std::exchange(begin_, 0));
    searched_ = unread_.size();
    if (unread_.empty() && unread_.capacity() > kKeptCapacity) std::string().swap(unread_);
    if (unread_.size() > line_limit_) {
      close();
      co_return std::unexpected(ApiError{
          .what = ApiFailure::too_large,
          .message = "a watch line is longer than " + std::to_string(line_limit_) + " bytes"});
    }
    const net::ClientResult<std::size_t> size = co_await connection_->read_some(unread_, deadline);
    if (!size) co_return std::unexpected(to_api_error(size.error()));
    if (*size > 0) continue;
    if (unread_.find_first_not_of(" \r\t") == std::string::npos) co_return std::nullopt;
    co_return std::unexpected(
        ApiError{.what = ApiFailure::broken, .message = "the watch ended in the middle of a line"});
  }
}

}  // namespace xila::kube
