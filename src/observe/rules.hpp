#pragma once

#include <memory>
#include <string>
#include <vector>

#include "records.hpp"
#include "xila/policy/rulebook.hpp"

namespace xila::observe {

// A rulebook, with what follows from it for watching a cluster.
struct Rules {
  std::shared_ptr<const policy::Rulebook> rulebook;
  // Labels that something in the rulebook reads: a change of any other changes no judgement.
  std::vector<Text> pod_keys;
  std::vector<Text> node_keys;
  std::vector<Text> space_keys;
  bool has_exclusive = false;
};

Rules rules_of(std::shared_ptr<const policy::Rulebook> rulebook, TextPool& texts);

// Whose the namespace is: by the static map, else by its label, as the webhook resolves it.
policy::TenantResolution tenant_of(const SpaceRecord& space, const policy::Rulebook& rulebook);

// True where `profile`'s webhook sees the namespace.
bool covers(const policy::Profile& profile, const policy::Labels& space_labels);

}  // namespace xila::observe
