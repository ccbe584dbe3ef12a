#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xila/policy/pod.hpp"
#include "xila/policy/profile.hpp"
#include "xila/policy/rulebook.hpp"
#include "xila/policy/subject.hpp"
#include "xila/policy/tenant.hpp"

namespace xila::policy {

// One thing that a check found.
struct Violation {
  std::string check;    // id, as node-pin
  std::string field;    // path from the object, as spec.containers[1].securityContext.privileged
  std::string part;     // the container's or volume's name, where there is one
  std::string message;  // what, where, and what to do; no control characters

  bool operator==(const Violation&) const = default;
};

using Violations = std::vector<Violation>;

inline constexpr std::string_view kMalformed = "malformed";

// What a check may look at. All references outlive the call.
struct CheckInput {
  const Pod& pod;
  const Pod* old_pod = nullptr;  // UPDATE only
  const Subject& subject;
  const TenantResolution& tenant;
  const Profile* profile = nullptr;  // null on /validate and for an unknown profile
  const Rulebook& rulebook;
};

// When a check runs.
enum class Applies : std::uint8_t {
  on_create,             // a bound Pod may have what a new one may not
  on_create_and_update,  // ratchets: an UPDATE is charged only with what it adds
  on_pod_update,         // UPDATE of `pods` itself
};

struct Check {
  std::string_view id;
  Applies applies;
  bool opt_in;                   // runs only when the policy's extraChecks names it
  std::string_view description;  // one line for docs and SARIF
  void (*find)(const CheckInput&, Violations& found);
};

// Every check, in the order in which a denial names them.
std::span<const Check> checks();

}  // namespace xila::policy
