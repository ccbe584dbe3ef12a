#include <algorithm>

#include "checks/checks.hpp"
#include "place.hpp"

namespace xila::policy {
namespace {

constexpr std::size_t kListedLabels = 5;

// The labels on which the selectors that matched before no longer agree. An update that lost the
// Pod changed at least one in each.
std::vector<std::string_view> lost_labels(const Profile& profile, const Labels& before,
                                          const Labels& after) {
  std::vector<std::string_view> lost;
  for (const LabelSelector& selector : profile.workload_selectors) {
    if (!matches(selector, before)) continue;
    for (const SelectorRequirement& requirement : selector.requirements) {
      const bool seen = std::ranges::find(lost, requirement.key) != lost.end();
      if (!seen && !matches({{requirement}}, after)) lost.push_back(requirement.key);
    }
  }
  return lost;
}

}  // namespace

// A Pod that loses the label leaves the webhook's reach: the next update, a debug container say, is
// then judged by nobody.
//
//   Field    metadata.labels
//   Denied   the profile selected the old object and does not select the new one
void check_label(const CheckInput& input, Violations& found) {
  if (input.profile == nullptr || input.old_pod == nullptr) return;
  const Labels& before = input.old_pod->labels;
  const Labels& after = input.pod.labels;
  if (!selects(*input.profile, before) || selects(*input.profile, after)) return;

  found.push_back({"label", "metadata.labels", "",
                   "metadata.labels would no longer select the Pod for profile " +
                       name_text(input.profile->name) + ", leave " +
                       quoted_list(lost_labels(*input.profile, before, after), kListedLabels) +
                       " as it was"});
}

}  // namespace xila::policy
