#include "xila/policy/placement.hpp"

#include <algorithm>

#include "exemption.hpp"
#include "place.hpp"
#include "xila/base/text.hpp"
#include "xila/policy/label_selector.hpp"

namespace xila::policy {
namespace {

constexpr std::string_view kEveryTenant = "*";
constexpr std::string_view kTenantPlaceholder = "$(tenant)";
constexpr std::size_t kListedTenants = 10;

bool applies_to(const PlacementRule& rule, std::string_view tenant) {
  return std::ranges::any_of(rule.tenants, [tenant](const std::string& name) {
    return name == kEveryTenant || name == tenant;
  });
}

// A tenant's name is put in once, so that a name that holds the placeholder stays what it is.
std::string with_tenant(std::string_view value, std::string_view tenant) {
  std::string text;
  for (;;) {
    const std::size_t at = value.find(kTenantPlaceholder);
    text += value.substr(0, at);
    if (at == std::string_view::npos) return text;
    text += tenant;
    value.remove_prefix(at + kTenantPlaceholder.size());
  }
}

SelectorRequirement for_tenant(const SelectorRequirement& requirement, std::string_view tenant) {
  SelectorRequirement result{requirement.key, requirement.op, {}};
  for (const std::string& value : requirement.values) {
    result.values.push_back(with_tenant(value, tenant));
  }
  return result;
}

// As kubectl writes selectors: guard.xila.us/pool in (team-a, shared).
std::string wanted_text(const SelectorRequirement& requirement) {
  switch (requirement.op) {
    case SelectorOperator::exists:
      return requirement.key + " set";
    case SelectorOperator::does_not_exist:
      return requirement.key + " not set";
    case SelectorOperator::in:
      if (requirement.values.size() == 1) return requirement.key + "=" + requirement.values[0];
      return requirement.key + " in (" + base::join(requirement.values, ", ") + ")";
    case SelectorOperator::not_in:
      return requirement.key + " notin (" + base::join(requirement.values, ", ") + ")";
  }
  return requirement.key;
}

std::string found_text(const SelectorRequirement& requirement, const Labels& labels) {
  const std::string* value = find_label(labels, requirement.key);
  if (value == nullptr) return requirement.key + " not set";
  return requirement.key + "=" + base::escape_control(*value);
}

std::string listed(const std::vector<std::string>& tenants) {
  const std::size_t shown = std::min(tenants.size(), kListedTenants);
  std::string list;
  for (std::size_t i = 0; i < shown; ++i) {
    list += (i > 0 ? ", " : "") + name_text(tenants[i]);
  }
  if (shown < tenants.size()) list += " and " + std::to_string(tenants.size() - shown) + " more";
  return list;
}

class Evaluation {
 public:
  explicit Evaluation(const Placement& placement)
      : placement_(placement), tenant_(tenant_name(placement.tenant)) {
    others_.assign(placement.tenants_on_node.begin(), placement.tenants_on_node.end());
    std::ranges::sort(others_);  // evidence must not depend on the order in which Pods are kept
    const auto repeated = std::ranges::unique(others_);
    others_.erase(repeated.begin(), repeated.end());
    std::erase(others_, tenant_);
  }

  void judge(const PlacementRule& rule) {
    if (tenant_.empty()) return without_tenant(rule);
    const bool is_own = applies_to(rule, tenant_);
    if (is_own) labels(rule);
    if (rule.exclusive) exclusive(rule, is_own);
  }

  PlacementViolations take() { return std::move(found_); }

 private:
  std::string node() const { return "node " + name_text(placement_.node.name); }

  void without_tenant(const PlacementRule& rule) {
    found_.push_back(
        {.rule = rule.name,
         .field = "metadata.namespace",
         .wanted = "a tenant",
         .found = "none",
         .message = "the tenant of namespace " + name_text(std::string(placement_.space)) +
                    " is not known, so rule " + rule.name + " cannot be said to hold"});
  }

  void labels(const PlacementRule& rule) {
    for (const SelectorRequirement& written : rule.require.requirements) {
      const SelectorRequirement requirement = for_tenant(written, tenant_);
      if (matches({{requirement}}, placement_.node.labels)) continue;
      PlacementViolation violation{.rule = rule.name,
                                   .field = "metadata.labels[" + requirement.key + "]",
                                   .wanted = base::escape_control(wanted_text(requirement)),
                                   .found = found_text(requirement, placement_.node.labels)};
      violation.message = node() + " has " + violation.found + ", rule " + rule.name + " wants " +
                          violation.wanted + " for tenant " + name_text(tenant_);
      found_.push_back(std::move(violation));
    }
  }

  // `is_own`: the rule gives this Pod's tenant the node for itself; else it gives it to another
  // that is there.
  void exclusive(const PlacementRule& rule, bool is_own) {
    std::vector<std::string> against = others_;
    if (!is_own) {
      std::erase_if(against, [&](const std::string& other) { return !applies_to(rule, other); });
    }
    if (against.empty()) return;
    const std::string names = listed(against);
    found_.push_back(
        {.rule = rule.name,
         .wanted = is_own ? "no other tenant on the node" : "the node left to its tenant",
         .found = names,
         .message = is_own ? node() + " also holds Pods of " + names + ", rule " + rule.name +
                                 " keeps it for tenant " + name_text(tenant_) + " alone"
                           : node() + " holds Pods of " + names + ", for which rule " + rule.name +
                                 " keeps it"});
  }

  const Placement& placement_;
  const std::string& tenant_;
  std::vector<std::string> others_;
  PlacementViolations found_;
};

}  // namespace

PlacementViolations evaluate_placement(const Placement& placement, const Rulebook& rulebook) {
  const Subject subject{.operation = Operation::create, .space = std::string(placement.space)};
  if (rulebook.placement_rules.empty() ||
      is_exempt(placement.pod, subject, rulebook, Requester::unknown)) {
    return {};
  }
  Evaluation evaluation(placement);
  for (const PlacementRule& rule : rulebook.placement_rules) evaluation.judge(rule);
  return evaluation.take();
}

bool has_exclusive_rule(const Rulebook& rulebook) {
  return std::ranges::any_of(rulebook.placement_rules,
                             [](const PlacementRule& rule) { return rule.exclusive; });
}

}  // namespace xila::policy
