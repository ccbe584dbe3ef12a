#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "credentials.hpp"
#include "line_stream.hpp"
#include "xila/base/text.hpp"
#include "xila/codec/watch_event.hpp"
#include "xila/kube/transport.hpp"

namespace xila::kube {
namespace {

using boost::asio::awaitable;
using net::ClientResult;
using net::Deadline;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorBytes = 64 << 10;  // of an answer that is no success
constexpr std::size_t kMessageBytes = 512;     // of such an answer, in our own

bool is_success(int status) {
  return status >= 200 && status < 300;
}

// Only the form in seconds: Kubernetes sends no dates.
std::optional<std::chrono::seconds> retry_after(const net::Headers& headers) {
  const std::string* text = net::find_header(headers, "Retry-After");
  int seconds = 0;
  if (text == nullptr) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error != std::errc() || seconds < 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

ApiError status_error(const net::ClientResponse& response) {
  ApiError error{.what = ApiFailure::status, .status = response.status};
  error.retry_after = retry_after(response.headers);
  error.message = "the API server answered " + std::to_string(response.status);
  const base::Result<codec::Status> status = codec::decode_status(response.body);
  if (!status) return error;
  error.reason = status->reason;
  if (!error.retry_after) error.retry_after = status->retry_after;
  if (!status->message.empty()) {
    error.message += ": " + std::string(base::prefix_at_character(status->message, kMessageBytes));
  }
  return error;
}

class ApiClient final : public Transport {
 public:
  ApiClient(const boost::asio::any_io_executor& executor, Credentials credentials,
            ApiClientOptions options)
      : credentials_(std::move(credentials)),
        options_(std::move(options)),
        http_(executor, credentials_.access().server, credentials_.tls()) {}

  awaitable<ApiResult<std::string>> send(ApiRequest request, Deadline deadline) override {
    refresh_when_old();
    for (bool is_first = true;; is_first = false) {
      net::ClientRequest wire = to_wire(request);
      ClientResult<net::ClientResponse> response =
          co_await http_.send(std::move(wire), deadline, kAnswerLimit);
      if (is_first && wants_new_credentials(response)) continue;
      if (!response) co_return std::unexpected(to_api_error(response.error()));
      if (!is_success(response->status)) co_return std::unexpected(status_error(*response));
      co_return std::move(response->body);
    }
  }

  awaitable<ApiResult<std::unique_ptr<LineStream>>> open(ApiRequest request,
                                                         Deadline deadline) override {
    refresh_when_old();
    for (bool is_first = true;; is_first = false) {
      if (is_closed_) {
        co_return std::unexpected(ApiError{.message = "the client is closed"});
      }
      std::unique_ptr<net::ClientConnection> connection = http_.connection();
      net::ClientConnection* const opening = connection.get();
      opening_.insert(opening);
      net::ClientRequest wire = to_wire(request);
      ClientResult<net::ClientResponse> response =
          co_await opening->open(std::move(wire), deadline);
      if (response && !is_success(response->status)) {
        co_await read_error(*opening, *response, deadline);
      }
      opening_.erase(opening);
      if (is_first && wants_new_credentials(response)) continue;
      if (!response) co_return std::unexpected(to_api_error(response.error()));
      if (!is_success(response->status)) co_return std::unexpected(status_error(*response));
      std::unique_ptr<LineStream> stream =
          std::make_unique<HttpLineStream>(std::move(connection), kLineLimit);
      co_return stream;
    }
  }

  void close() override {
    is_closed_ = true;
    http_.close();
    for (net::ClientConnection* connection : opening_) connection->close();
  }

 private:
  net::ClientRequest to_wire(const ApiRequest& request) const {
    net::ClientRequest wire{.method = request.method,
                            .target = credentials_.access().path_prefix + request.target,
                            .body = request.body};
    // No Accept-Encoding: compression would cost more CPU here than it saves bytes.
    wire.headers = {{"Accept", request.accept}, {"User-Agent", options_.user_agent}};
    if (!request.content_type.empty()) {
      wire.headers.emplace_back("Content-Type", request.content_type);
    }
    if (!credentials_.token().empty()) {
      wire.headers.emplace_back("Authorization", "Bearer " + credentials_.token());
    }
    return wire;
  }

  // As much of the body of an answer that is no success as explains it.
  static awaitable<void> read_error(net::ClientConnection& connection,
                                    net::ClientResponse& response, Deadline deadline) {
    while (response.body.size() < kErrorBytes) {
      const ClientResult<std::size_t> size = co_await connection.read_some(response.body, deadline);
      if (!size || *size == 0) co_return;
    }
  }

  void refresh_when_old() {
    if (Clock::now() - credentials_.read_at() >= options_.file_age) refresh();
  }

  bool refresh() {
    if (!credentials_.refresh()) return false;
    http_.use(credentials_.tls());
    return true;
  }

  // A token that expired, or a CA that was replaced: worth another try if the files are new.
  bool wants_new_credentials(const ClientResult<net::ClientResponse>& response) {
    const bool is_refused =
        response ? response->status == 401 : response.error().what == net::ClientFailure::tls;
    return is_refused && refresh();
  }

  Credentials credentials_;
  ApiClientOptions options_;
  net::HttpClient http_;
  std::set<net::ClientConnection*> opening_;
  bool is_closed_ = false;
};

}  // namespace

base::Result<std::unique_ptr<Transport>> make_api_client(
    const boost::asio::any_io_executor& executor, ClusterAccess access,
    const ApiClientOptions& options) {
  base::Result<Credentials> credentials = Credentials::load(std::move(access));
  if (!credentials) return std::unexpected(credentials.error());
  return std::make_unique<ApiClient>(executor, std::move(*credentials), options);
}

}  // namespace xila::kube
