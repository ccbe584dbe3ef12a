#include <algorithm>

#include "xila/net/client.hpp"

namespace xila::net {
namespace {

using boost::asio::awaitable;
using Clock = std::chrono::steady_clock;

// Below the 90 s after which servers written in Go end an idle connection, so that a request seldom
// meets the end of its connection.
constexpr std::chrono::seconds kIdleLimit{60};
constexpr std::size_t kMaxIdle = 4;

}  // namespace

HttpClient::HttpClient(boost::asio::any_io_executor executor, Origin origin, ClientTls tls)
    : executor_(std::move(executor)), origin_(std::move(origin)), tls_(std::move(tls)) {}

HttpClient::~HttpClient() {
  close();
}

void HttpClient::use(ClientTls tls) {
  tls_ = std::move(tls);
  idle_.clear();
}

std::unique_ptr<ClientConnection> HttpClient::connection() const {
  return std::make_unique<ClientConnection>(executor_, origin_, tls_);
}

HttpClient::Shared HttpClient::take_idle() {
  std::erase_if(idle_, [](const auto& entry) { return entry.second <= Clock::now(); });
  if (idle_.empty()) return nullptr;
  Shared newest = std::move(idle_.back().first);
  idle_.pop_back();
  return newest;
}

void HttpClient::give_back(const Shared& connection, const ClientTls& tls) {
  std::erase(busy_, connection);
  if (connection->is_reusable() && idle_.size() < kMaxIdle && tls == tls_) {
    idle_.emplace_back(connection, Clock::now() + kIdleLimit);
  }
}

awaitable<ClientResult<ClientResponse>> HttpClient::send(ClientRequest request, Deadline deadline,
                                                         std::size_t body_limit) {
  for (;;) {
    if (is_closed_) {
      co_return std::unexpected(ClientError{.message = "the client is closed"});
    }
    Shared connection = take_idle();
    const ClientTls tls = tls_;
    const bool is_new = connection == nullptr;
    if (is_new) connection = std::make_shared<ClientConnection>(executor_, origin_, tls);
    busy_.push_back(connection);
    ClientRequest copy = request;
    ClientResult<ClientResponse> response =
        co_await connection->send(std::move(copy), deadline, body_limit);
    give_back(connection, tls);
    const bool again = !response && !is_new && connection->was_stale() && request.body.empty();
    if (!again) co_return response;
  }
}

void HttpClient::close() {
  is_closed_ = true;
  idle_.clear();
  for (const auto& connection : busy_) connection->close();
}

}  // namespace xila::net
