#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "xila/policy/rulebook.hpp"
#include "xila/policy/tenant.hpp"

namespace xila::kube {

using Deadline = std::chrono::steady_clock::time_point;

// Whose namespace is this? The seam between the webhook and what knows the cluster. Thread-safe.
class TenantSource {
 public:
  virtual ~TenantSource() = default;
  // The answer, when it is at hand without waiting: the common case, kept free of coroutine frames.
  virtual std::optional<policy::TenantResolution> known(const std::string& space,
                                                        const policy::Rulebook& rulebook) = 0;
  // Asks for it. Always answers before `deadline`, with lookup_failed when it must. `space` and
  // `rulebook` outlive the coroutine.
  virtual boost::asio::awaitable<policy::TenantResolution> resolve(const std::string& space,
                                                                   const policy::Rulebook& rulebook,
                                                                   Deadline deadline) = 0;
};

// The policy file's static map alone; every other namespace is unresolved.
class StaticTenants final : public TenantSource {
 public:
  std::optional<policy::TenantResolution> known(const std::string& space,
                                                const policy::Rulebook& rulebook) override;
  boost::asio::awaitable<policy::TenantResolution> resolve(const std::string& space,
                                                           const policy::Rulebook& rulebook,
                                                           Deadline deadline) override;
};

}  // namespace xila::kube
