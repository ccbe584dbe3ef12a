#include "rules.hpp"

#include <algorithm>

#include "xila/policy/label_selector.hpp"
#include "xila/policy/placement.hpp"

namespace xila::observe {
namespace {

void add_keys(const policy::LabelSelector& selector, TextPool& texts, std::vector<Text>& keys) {
  for (const policy::SelectorRequirement& requirement : selector.requirements) {
    const Text key = intern(texts, requirement.key);
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
}

const std::string* find_label(const CompactLabels& labels, std::string_view key) {
  for (const auto& [name, value] : labels) {
    if (*name == key) return &*value;
  }
  return nullptr;
}

}  // namespace

Rules rules_of(std::shared_ptr<const policy::Rulebook> rulebook, TextPool& texts) {
  Rules rules{.rulebook = std::move(rulebook)};
  rules.space_keys.push_back(intern(texts, rules.rulebook->tenant_label));
  for (const policy::Profile& profile : rules.rulebook->profiles) {
    for (const policy::LabelSelector& selector : profile.workload_selectors) {
      add_keys(selector, texts, rules.pod_keys);
    }
    if (profile.namespace_selector) {
      add_keys(*profile.namespace_selector, texts, rules.space_keys);
    }
  }
  for (const policy::PlacementRule& rule : rules.rulebook->placement_rules) {
    add_keys(rule.require, texts, rules.node_keys);
  }
  rules.has_exclusive = policy::has_exclusive_rule(*rules.rulebook);
  return rules;
}

policy::TenantResolution tenant_of(const SpaceRecord& space, const policy::Rulebook& rulebook) {
  using policy::TenantResolution;
  const auto entry = rulebook.static_tenants.find(space.name);
  if (entry != rulebook.static_tenants.end()) return TenantResolution::resolved(entry->second);
  if (!space.is_known) return TenantResolution::unresolved("it does not exist");
  const std::string& label = rulebook.tenant_label;
  const std::string* value = find_label(space.labels, label);
  if (value == nullptr) return TenantResolution::unresolved("it has no label " + label);
  if (value->empty()) return TenantResolution::unresolved("its label " + label + " is empty");
  return TenantResolution::resolved(*value);
}

bool covers(const policy::Profile& profile, const policy::Labels& space_labels) {
  return !profile.namespace_selector || policy::matches(*profile.namespace_selector, space_labels);
}

}  // namespace xila::observe
