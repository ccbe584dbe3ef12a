#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "xila/policy/decision.hpp"
#include "xila/policy/pod.hpp"
#include "xila/policy/rulebook.hpp"
#include "xila/policy/subject.hpp"
#include "xila/policy/tenant.hpp"

namespace xila::policy {

// One AdmissionRequest, decoded. `malformed` holds what the decoder could not read as what it must
// be; whatever is in it denies.
struct Review {
  std::string uid;
  Subject subject;
  std::optional<Pod> object;
  std::optional<Pod> old_object;
  Violations malformed;
};

// What is known of the requester. Offline nobody asks: `check` and observe take the DaemonSet
// controller as the requester of every Pod that it controls (product: "they take that one condition
// as met").
enum class Requester : std::uint8_t { from_review, unknown };

// The boundary. Pure: no clock, no I/O, no globals.
//
// `profile_name` is the request's path ("enforcement" on /validate); an unknown one gets the same
// boundary in mode enforce. All checks run; an UPDATE is charged only with what it adds to
// `old_object`. Any gap denies.
Decision decide(const Review& review, std::string_view profile_name, const TenantResolution& tenant,
                const Rulebook& rulebook, Requester requester = Requester::from_review);

// True where the decision reads the tenant: CREATE of a Pod. The server asks for it only then.
bool needs_tenant(const Review& review);

}  // namespace xila::policy
