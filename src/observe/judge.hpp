#pragma once

#include <span>
#include <string>
#include <vector>

#include "records.hpp"
#include "rules.hpp"
#include "storage.hpp"
#include "xila/observe/finding.hpp"

namespace xila::observe {

// What does not hold about a Pod, by one check.
struct Verdict {
  std::string check;
  std::vector<Evidence> evidence;
  bool is_certain = true;
};

// Everything about one Pod, as it stands. What could not be judged is neither held nor violated.
struct Judgement {
  bool is_judged = false;  // it is a tenant's Pod, or one that a profile's webhook would review
  bool is_exempt = false;
  std::string tenant;   // "" = none
  std::string profile;  // the first that selects it; "" = none
  std::vector<Verdict> violated;
  bool is_placement_known = true;
  bool are_claims_known = true;
};

// What a judgement rests on besides the Pod.
struct Surroundings {
  const Rules& rules;
  const Storage& storage;
  bool is_storage_known = true;  // claims and volumes are synced
  bool all_reviewed = false;     // the webhook sees every Pod of a tenant: none came past it
  std::string own_space;         // the webhook never sees it, nor kube-system
};

// The boundary checks, and who came past them. Pure.
Judgement judge_boundary(const PodRecord& pod, const Surroundings& around);

// Adds what placement rules say. `tenants` are those of all Pods on its node.
void judge_placement(const PodRecord& pod, const Surroundings& around,
                     std::span<const std::string> tenants, Judgement& judgement);

}  // namespace xila::observe
