#include "xila/policy/check.hpp"

#include "checks/checks.hpp"

namespace xila::policy {

std::span<const Check> checks() {
  return kChecks;
}

}  // namespace xila::policy
