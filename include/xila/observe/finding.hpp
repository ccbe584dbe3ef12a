#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xila::observe {

// What a finding rests on: a field, what was wanted there and what is there.
struct Evidence {
  std::string field;
  std::string wanted;   // "" = the message says it
  std::string found;    // "" = the message says it; "unknown" = it cannot be told
  std::string message;  // a sentence for the operator: it may name other tenants

  bool operator==(const Evidence&) const = default;
};

inline constexpr std::string_view kDrift = "drift";
inline constexpr std::string_view kRoute = "route";
inline constexpr std::string_view kPinned = "pinned";
inline constexpr std::string_view kHostPathClaim = "host-path-claim";
inline constexpr std::string_view kProfileSilent = "profile-silent";
inline constexpr std::string_view kPlacementPrefix = "placement/";

inline constexpr std::string_view kUnknown = "unknown";

// One thing that is wrong with one Pod (or one profile), as it stands. One per subject and check:
// what a check finds in several places is evidence of the same finding.
struct Finding {
  std::string id;       // the same in every replica and after every restart
  std::string name;     // "drift", or the check
  std::string check;    // what does not hold: privileged, placement/tenant-pools, route, ...
  std::string tenant;   // "" = none
  std::string profile;  // "" = no profile selects the Pod
  std::string space;
  std::string pod;  // "" = about a profile
  std::string pod_uid;
  std::string owner_kind;  // of the Pod's controlling owner; "" = none
  std::string owner_name;
  std::string node;
  std::string node_uid;                         // "" = the node is not known
  std::chrono::system_clock::time_point since;  // when this replica first saw it
  std::vector<Evidence> evidence;               // empty once it is resolved
  bool is_certain = true;                       // false: the evidence was erased

  bool operator==(const Finding&) const = default;
};

enum class Change : std::uint8_t { opened, changed, resolved };

// "opened", "changed", "resolved".
std::string_view to_text(Change change);

// Why a finding was resolved.
enum class Resolution : std::uint8_t {
  none,           // it was not
  holds,          // what was wrong no longer is
  pod_gone,       // the Pod ended, was deleted, or is being deleted
  node_replaced,  // another node has the name now
  policy,         // the policy no longer asks for it
  not_a_tenants,  // the Pod's namespace is no longer judged
};

// "holds", "pod-gone", "node-replaced", "policy", "not-a-tenants"; "" for none.
std::string_view to_text(Resolution resolution);

// One step in the life of a finding.
struct Transition {
  Change change = Change::opened;
  Resolution resolution = Resolution::none;
  Finding finding;
  bool is_baseline = false;  // it stood when this replica first looked

  bool operator==(const Transition&) const = default;
};

}  // namespace xila::observe
