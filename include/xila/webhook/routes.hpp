#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "xila/base/current.hpp"
#include "xila/kube/tenant_source.hpp"
#include "xila/net/http.hpp"
#include "xila/policy/rulebook.hpp"
#include "xila/telemetry/audit.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::webhook {

// The rulebook in force: read once per review, swapped whole by a reload.
using CurrentRulebook = base::Current<policy::Rulebook>;

// What the webhook is made of. All references outlive the service.
struct Dependencies {
  CurrentRulebook& rulebook;
  kube::TenantSource& tenants;
  telemetry::Metrics& metrics;
  telemetry::AuditLog* audit = nullptr;               // null: no audit log
  std::chrono::milliseconds request_timeout{10'000};  // upper bound on ?timeout=
};

// POST /validate and POST /validate/<profile>.
net::Service admission_service(Dependencies dependencies);

// Not ready is a state with a reason in words.
using Readiness = std::function<std::optional<std::string>()>;  // nothing = ready

// GET /healthz, /readyz, /metrics.
net::Service operations_service(telemetry::Metrics& metrics, Readiness not_ready_because);

}  // namespace xila::webhook
