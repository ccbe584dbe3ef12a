#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "document.hpp"
#include "map_reader.hpp"
#include "placement.hpp"
#include "xila/base/text.hpp"
#include "xila/config/load.hpp"
#include "xila/policy/check.hpp"

namespace xila::config {
namespace {

using policy::Rulebook;

// Namespaces are what the API server takes for one: RFC 1123 labels. A tenant is a label's value.
void read_tenants(const Value& value, Rulebook& rulebook, Findings& findings) {
  MapReader map(value, findings);
  if (const auto label = map.text("namespaceLabel")) {
    if (auto valid = policy::validate_label_key(*label); !valid) {
      map.report("namespaceLabel", valid.error().message);
    }
    rulebook.tenant_label = *label;
  }
  const auto spaces = map.value("namespaces");
  if (!spaces) return;
  for (const Field& field : read_fields(*spaces, findings)) {
    if (auto valid = policy::validate_dns_label(field.key); !valid) {
      findings.report(field.mark, field.value.path, valid.error().message);
    }
    if (auto tenant = read_tenant(field.value, findings)) {
      rulebook.static_tenants.emplace(field.key, std::move(*tenant));
    }
  }
}

// "namespace/name", each by Kubernetes' rules for it.
base::Result<void> validate_service_account(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) {
    return base::fail(base::quote(text) + ", expected namespace/name of a service account");
  }
  if (auto valid = policy::validate_dns_label(text.substr(0, slash)); !valid) return valid;
  return policy::validate_dns_subdomain(text.substr(slash + 1));
}

void read_trusted_accounts(MapReader& map, Rulebook& rulebook, Findings& findings) {
  for (const Value& item : map.list("trustedDaemonSetServiceAccounts")) {
    auto account = read_text(item, findings);
    if (!account) continue;
    if (auto valid = validate_service_account(*account); !valid) {
      findings.report(item.node.mark, item.path, valid.error().message);
    }
    rulebook.trusted_daemon_set_service_accounts.insert(std::move(*account));
  }
}

void read_controller_user(MapReader& map, Rulebook& rulebook) {
  auto user = map.text("daemonSetControllerUser");
  if (!user) return;
  if (user->empty()) map.report("daemonSetControllerUser", "empty, expected a user name");
  rulebook.daemon_set_controller_user = std::move(*user);
}

std::vector<std::string> opt_in_check_ids() {
  std::vector<std::string> ids;
  for (const policy::Check& check : policy::checks()) {
    if (check.opt_in) ids.emplace_back(check.id);
  }
  return ids;
}

void read_extra_checks(MapReader& map, Rulebook& rulebook, Findings& findings) {
  const std::vector<std::string> known = opt_in_check_ids();
  for (const Value& item : map.list("extraChecks")) {
    const auto id = read_text(item, findings);
    if (!id) continue;
    if (std::ranges::find(known, *id) == known.end()) {
      findings.report(item.node.mark, item.path,
                      base::quote(*id) + ", expected one of " + base::join(known, ", "));
    } else if (!rulebook.extra_checks.insert(*id).second) {
      findings.report(item.node.mark, item.path, base::quote(*id) + " is listed twice");
    }
  }
}

}  // namespace

std::expected<Rulebook, Problems> parse_policy(std::string_view text, const std::string& file) {
  Findings findings(file);
  Rulebook rulebook;
  if (const auto root = read_document(text, findings)) {
    MapReader map({*root, ""}, findings);
    if (!check_header(map, "GuardPolicy")) map.ignore_unknown_keys();
    if (const auto tenants = map.value("tenants")) read_tenants(*tenants, rulebook, findings);
    read_trusted_accounts(map, rulebook, findings);
    read_controller_user(map, rulebook);
    read_extra_checks(map, rulebook, findings);
    if (const auto placement = map.value("placement")) {
      rulebook.placement_rules = read_placement(*placement, findings);
    }
  }
  if (!findings.empty()) return std::unexpected(findings.take());
  return rulebook;
}

}  // namespace xila::config
