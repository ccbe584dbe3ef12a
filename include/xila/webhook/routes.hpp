#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "xila/net/http.hpp"
#include "xila/policy/rulebook.hpp"
#include "xila/policy/tenant.hpp"
#include "xila/telemetry/audit.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::webhook {

using Deadline = std::chrono::steady_clock::time_point;

// Whose namespace is this? The seam between the webhook and what knows the cluster. Thread-safe.
class TenantSource {
 public:
  virtual ~TenantSource() = default;
  // The answer, when it is at hand without waiting: the common case, kept free of coroutine frames.
  virtual std::optional<policy::TenantResolution> known(const std::string& space, const policy::Rulebook& rulebook) = 0;
  // Asks for it. Always answers before `deadline`, with lookup_failed when it must. `space` and `rulebook`
  // outlive the coroutine.
  virtual boost::asio::awaitable<policy::TenantResolution> resolve(const std::string& space, const policy::Rulebook& rulebook,
                                                                   Deadline deadline) = 0;
};

// The policy file's static map alone; every other namespace is unresolved.
class StaticTenants final : public TenantSource {
 public:
  std::optional<policy::TenantResolution> known(const std::string& space, const policy::Rulebook& rulebook) override;
  boost::asio::awaitable<policy::TenantResolution> resolve(const std::string& space, const policy::Rulebook& rulebook,
                                                           Deadline deadline) override;
};

// The rulebook in force: read once per review, swapped whole by a reload.
using CurrentRulebook = std::atomic<std::shared_ptr<const policy::Rulebook>>;

// What the webhook is made of. All references outlive the service.
struct Dependencies {
  CurrentRulebook& rulebook;
  TenantSource& tenants;
  telemetry::Metrics& metrics;
  telemetry::AuditLog* audit = nullptr;             // null: no audit log
  std::chrono::milliseconds request_timeout{10'000};  // upper bound on ?timeout=
};

// POST /validate and POST /validate/<profile>.
net::Service admission_service(Dependencies dependencies);

// Not ready is a state with a reason in words.
using Readiness = std::function<std::optional<std::string>()>;  // nothing = ready

// GET /healthz, /readyz, /metrics.
net::Service operations_service(telemetry::Metrics& metrics, Readiness not_ready_because);

}  // namespace xila::webhook
