#include "placement.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "selectors.hpp"
#include "xila/base/text.hpp"

namespace xila::config {
namespace {

using policy::PlacementRule;

constexpr std::string_view kEveryTenant = "*";

// Where each name was first used, as placement.rules[0].
using Names = std::map<std::string, std::string>;

// The name becomes part of a finding, placement/<name>.
std::string read_name(MapReader& map, const std::string& path, Names& names) {
  const auto name = map.required_text("name");
  if (!name) return {};
  if (auto valid = policy::validate_dns_label(*name); !valid) {
    map.report("name", valid.error().message);
  } else if (const auto [first, is_new] = names.emplace(*name, path); !is_new) {
    map.report("name", base::quote(*name) + " is already the name of " + first->second);
  }
  return *name;
}

std::optional<std::string> read_tenant_or_every(const Value& value, Findings& findings) {
  auto text = read_text(value, findings);
  if (!text || *text == kEveryTenant) return text;
  return read_tenant(value, findings);
}

std::vector<std::string> read_tenants(MapReader& map, Findings& findings) {
  std::vector<std::string> tenants;
  const auto list = map.required("tenants", "a list of tenants, or [\"*\"] for all");
  if (!list) return tenants;
  for (const Value& item : read_list(*list, findings)) {
    auto tenant = read_tenant_or_every(item, findings);
    if (!tenant) continue;
    if (std::ranges::find(tenants, *tenant) != tenants.end()) {
      findings.report(item.node.mark, item.path, base::quote(*tenant) + " is listed twice");
    }
    tenants.push_back(std::move(*tenant));
  }
  if (list->node.kind == yaml::Kind::sequence && list->node.items.empty()) {
    map.report("tenants", "empty, so the rule would apply to nobody; [\"*\"] means every tenant");
  }
  if (tenants.size() > 1 && std::ranges::find(tenants, kEveryTenant) != tenants.end()) {
    map.report("tenants", "\"*\" is every tenant already; leave the others out");
  }
  return tenants;
}

PlacementRule read_rule(const Value& value, Names& names, Findings& findings) {
  MapReader map(value, findings);
  PlacementRule rule;
  rule.name = read_name(map, value.path, names);
  rule.tenants = read_tenants(map, findings);
  const auto require = map.value("require");
  if (require) {
    const std::size_t problems_before = findings.size();
    rule.require = read_selector(*require, SelectorValues::labels_or_tenant, findings);
    if (rule.require.requirements.empty() && findings.size() == problems_before) {
      map.report("require", "asks nothing of a node; name a label, or leave the key out");
    }
  }
  const auto exclusive = map.value("exclusive");
  rule.exclusive = exclusive && read_flag(*exclusive, findings).value_or(true);
  if (!require && !rule.exclusive) {
    map.report("asks nothing of a node, expected require, exclusive: true, or both");
  }
  return rule;
}

}  // namespace

std::optional<std::string> read_tenant(const Value& value, Findings& findings) {
  auto tenant = read_text(value, findings);
  if (!tenant) return std::nullopt;
  if (tenant->empty()) {
    findings.report(value.node.mark, value.path, "empty, expected a tenant's name");
    return std::nullopt;
  }
  if (auto valid = policy::validate_label_value(*tenant); !valid) {
    findings.report(value.node.mark, value.path, valid.error().message);
    return std::nullopt;
  }
  return tenant;
}

std::vector<PlacementRule> read_placement(const Value& value, Findings& findings) {
  MapReader map(value, findings);
  std::vector<PlacementRule> rules;
  Names names;
  for (const Value& item : map.list("rules")) rules.push_back(read_rule(item, names, findings));
  return rules;
}

}  // namespace xila::config
