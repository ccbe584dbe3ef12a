#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xila/policy/pod.hpp"
#include "xila/policy/rulebook.hpp"
#include "xila/policy/tenant.hpp"

namespace xila::policy {

// What placement rules read of a node. Source: core/v1 Node.
struct Node {
  std::string name;
  Labels labels;

  bool operator==(const Node&) const = default;
};

// One Pod on one node, in place or about to be. All references outlive the call.
struct Placement {
  const Pod& pod;
  std::string_view space;  // the Pod's namespace
  const TenantResolution& tenant;
  const Node& node;
  // Tenants of the other Pods on the node, the Pod's own may be among them. Pods that are exempt,
  // ended or of no tenant count for nobody; who collects them leaves them out.
  std::span<const std::string> tenants_on_node;
};

// What a placement rule asked for and did not get.
struct PlacementViolation {
  std::string rule;     // its name
  std::string field;    // of the node: metadata.labels[guard.xila.us/pool]; "" = who else is on it
  std::string wanted;   // guard.xila.us/pool in (team-a, shared)
  std::string found;    // guard.xila.us/pool=team-b
  std::string message;  // a sentence for the operator: it may name other tenants

  bool operator==(const PlacementViolation&) const = default;
};

using PlacementViolations = std::vector<PlacementViolation>;

// The node-scoped rules, each of them, never only the first that fails. Pure. An `exclusive` rule
// binds both sides: its own tenants' Pods, and every other tenant's Pod on a node that holds one of
// theirs. A Pod that the boundary exempts is exempt here too. Without a resolved tenant every rule
// is violated: nobody can say that it does not apply.
PlacementViolations evaluate_placement(const Placement& placement, const Rulebook& rulebook);

// True where who else is on a node can matter.
bool has_exclusive_rule(const Rulebook& rulebook);

}  // namespace xila::policy
