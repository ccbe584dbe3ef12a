#include <map>
#include <optional>
#include <string>
#include <utility>

#include "document.hpp"
#include "map_reader.hpp"
#include "selectors.hpp"
#include "xila/base/text.hpp"
#include "xila/config/load.hpp"

namespace xila::config {
namespace {

using policy::Profile;

// Where each name was first used, as profiles[0].
using Names = std::map<std::string, std::string>;

std::string read_name(MapReader& map, const std::string& path, Names& names) {
  const auto name = map.required_text("name");
  if (!name) return {};
  if (auto valid = policy::validate_dns_label(*name); !valid) {
    map.report("name", valid.error().message);
  } else if (*name == policy::kEnforcementProfile) {
    map.report("name", base::quote(*name) + " is reserved for the path without a profile");
  } else if (const auto [first, is_new] = names.emplace(*name, path); !is_new) {
    map.report("name", base::quote(*name) + " is already the name of " + first->second);
  }
  return *name;
}

// An objectSelector that matches everything would send every Pod of the cluster to this profile's
// path.
void read_workload_selector(const Value& value, Profile& profile, Findings& findings) {
  const std::size_t problems_before = findings.size();
  auto selector = read_selector(value, SelectorValues::labels, findings);
  if (selector.requirements.empty() && findings.size() == problems_before) {
    findings.report(value.node.mark, value.path,
                    "selects every Pod; name a label of the orchestrator's Pods, or let "
                    "enforcement.enabled cover whole namespaces");
  }
  profile.workload_selectors.push_back(std::move(selector));
}

// One selector, or several that are ORed; one of the two keys.
void read_workload_selectors(MapReader& map, Profile& profile, Findings& findings) {
  const auto one = map.value("workloadSelector");
  const auto several = map.value("workloadSelectors");
  if (one && several) {
    map.report("workloadSelectors", "stands beside workloadSelector, expected one of the two");
  }
  if (!one && !several) {
    (void)map.required("workloadSelector", "a label selector, or several in workloadSelectors");
  }
  if (one) read_workload_selector(*one, profile, findings);
  if (!several) return;
  for (const Value& item : map.list("workloadSelectors")) {
    read_workload_selector(item, profile, findings);
  }
  if (several->node.kind == yaml::Kind::sequence && several->node.items.empty()) {
    map.report("workloadSelectors", "empty, expected at least one label selector");
  }
}

policy::Mode read_mode(MapReader& map) {
  const auto text = map.text("mode");
  if (!text) return policy::Mode::enforce;
  if (auto mode = policy::mode(*text)) return *mode;
  map.report("mode", base::quote(*text) + ", expected enforce, warn or audit");
  return policy::Mode::enforce;
}

policy::Verification read_verification(MapReader& map) {
  const auto text = map.text("verification");
  if (!text) return policy::Verification::example;
  for (const auto known : {policy::Verification::example, policy::Verification::verified}) {
    if (*text == policy::to_text(known)) return known;
  }
  map.report("verification", base::quote(*text) + ", expected verified or example");
  return policy::Verification::example;
}

bool read_route_guard(MapReader& map, const std::optional<std::string>& scheduler) {
  const bool is_on = map.flag("routeGuard").value_or(false);
  if (is_on && scheduler && (scheduler->empty() || *scheduler == policy::kDefaultScheduler)) {
    map.report("routeGuard",
               "true, but every ordinary Pod has the default scheduler; let "
               "enforcement.enabled cover whole namespaces instead");
  }
  return is_on;
}

Profile read_profile(const Value& value, Names& names, Findings& findings) {
  MapReader map(value, findings);
  Profile profile;
  profile.name = read_name(map, value.path, names);
  const auto scheduler =
      map.required_text("schedulerName", "a string, \"\" for the default scheduler");
  profile.scheduler_name = scheduler.value_or("");
  read_workload_selectors(map, profile, findings);
  if (const auto spaces = map.value("namespaceSelector")) {
    profile.namespace_selector = read_selector(*spaces, SelectorValues::labels, findings);
  }
  profile.mode = read_mode(map);
  profile.route_guard = read_route_guard(map, scheduler);
  profile.verification = read_verification(map);
  return profile;
}

}  // namespace

std::expected<std::vector<Profile>, Problems> parse_profiles(std::string_view text,
                                                             const std::string& file) {
  Findings findings(file);
  std::vector<Profile> profiles;
  if (const auto root = read_document(text, findings)) {
    MapReader map({*root, ""}, findings);
    if (!check_header(map, "OrchestratorProfiles")) map.ignore_unknown_keys();
    Names names;
    for (const Value& item : map.required_list("profiles")) {
      profiles.push_back(read_profile(item, names, findings));
    }
  }
  if (!findings.empty()) return std::unexpected(findings.take());
  return profiles;
}

}  // namespace xila::config
