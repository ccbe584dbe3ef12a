#pragma once

#include <chrono>
#include <string>

#include "xila/policy/decide.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::webhook {

// Counts a review. A profile that the rulebook does not have is counted as "unknown": its name is
// whatever the client put into the path.
void count(const policy::Review& review, const policy::Decision& decision,
           const policy::Rulebook& rulebook, std::chrono::duration<double> took,
           telemetry::Metrics& metrics);

// Logs a review: info where it was or would have been denied, else debug.
void log_decision(const policy::Review& review, const policy::Decision& decision,
                  const std::string& message, const std::string& peer);

}  // namespace xila::webhook
