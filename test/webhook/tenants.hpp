#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "xila/kube/tenant_source.hpp"

namespace xila::webhook {

// A source that knows nothing and answers what it is told to, after a while.
class LateTenants final : public kube::TenantSource {
 public:
  LateTenants(policy::TenantResolution answer, std::chrono::milliseconds after)
      : answer_(std::move(answer)), after_(after) {}

  std::optional<policy::TenantResolution> known(const std::string&,
                                                const policy::Rulebook&) override {
    return at_hand;
  }
  boost::asio::awaitable<policy::TenantResolution> resolve(const std::string& space,
                                                           const policy::Rulebook& rulebook,
                                                           kube::Deadline deadline) override {
    asked.push_back(space);
    allowed_time = deadline - std::chrono::steady_clock::now();
    const auto executor = co_await boost::asio::this_coro::executor;
    boost::asio::steady_timer timer(executor, after_);
    co_await timer.async_wait(boost::asio::use_awaitable);
    // Both outlive the coroutine, whoever waits for it or no longer does.
    seen_tenants = rulebook.static_tenants.size() + space.size();
    co_return answer_;
  }

  std::optional<policy::TenantResolution> at_hand;
  std::vector<std::string> asked;
  std::chrono::steady_clock::duration allowed_time{};
  std::size_t seen_tenants = 0;

 private:
  policy::TenantResolution answer_;
  std::chrono::milliseconds after_;
};

}  // namespace xila::webhook
