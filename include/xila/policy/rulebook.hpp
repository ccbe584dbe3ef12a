#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "xila/policy/profile.hpp"

namespace xila::policy {

inline constexpr std::string_view kDefaultTenantLabel = "guard.xila.us/tenant";
inline constexpr std::string_view kDefaultDaemonSetController =
    "system:serviceaccount:kube-system:daemon-set-controller";
inline constexpr std::string_view kEnforcementProfile = "enforcement";

// Node-scoped: what a tenant's Pods ask of the node they are on. Observe reports it.
struct PlacementRule {
  std::string name;
  std::vector<std::string> tenants;  // {"*"} = every tenant
  LabelSelector require;   // on the node's labels; "$(tenant)" in a value is the Pod's tenant
  bool exclusive = false;  // no other tenant's Pods on the same node

  bool operator==(const PlacementRule&) const = default;
};

// Everything that decides and is read from files: immutable once built, swapped whole on a reload.
struct Rulebook {
  std::vector<Profile> profiles;
  // Every schedulerName of a profile and of --external-schedulers, with "" written as
  // default-scheduler.
  std::set<std::string, std::less<>> accepted_schedulers;

  std::string tenant_label{kDefaultTenantLabel};
  std::map<std::string, std::string, std::less<>> static_tenants;          // namespace → tenant
  std::set<std::string, std::less<>> trusted_daemon_set_service_accounts;  // "namespace/name"
  std::string daemon_set_controller_user{kDefaultDaemonSetController};
  std::set<std::string, std::less<>> extra_checks;  // ids of opt-in checks
  std::vector<PlacementRule> placement_rules;

  bool operator==(const Rulebook&) const = default;
};

// The profile of that name, or null.
const Profile* find_profile(const Rulebook& rulebook, std::string_view name);

// The first profile one of whose selectors matches, or null: how `check` and observe, which have no
// path, name the profile.
const Profile* profile_for(const Rulebook& rulebook, const Labels& labels);

}  // namespace xila::policy
