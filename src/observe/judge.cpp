#include "judge.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "xila/base/text.hpp"
#include "xila/policy/decide.hpp"
#include "xila/policy/placement.hpp"

namespace xila::observe {
namespace {

using policy::Profile;
using policy::TenantResolution;

constexpr std::string_view kSystemSpace = "kube-system";
constexpr std::string_view kSchedulerField = "spec.schedulerName";
constexpr std::size_t kChooserBytes = 128;

// Every bound Pod has a node, and after binding a scheduler may have pinned it by host name.
constexpr std::array<std::string_view, 2> kNotOfBoundPods{"node-pin", "node-affinity-pin"};

Verdict& verdict_of(std::string_view check, Judgement& judgement) {
  for (Verdict& verdict : judgement.violated) {
    if (verdict.check == check) return verdict;
  }
  return judgement.violated.emplace_back(Verdict{.check = std::string(check)});
}

// One Pod with what the rulebook reads of its surroundings, as values.
class Judge {
 public:
  Judge(const PodRecord& pod, const Surroundings& around)
      : pod_(pod), around_(around), rulebook_(*around.rules.rulebook) {
    labels_ = project(pod.labels, around.rules.pod_keys);
    space_labels_ = project(pod.space->labels, around.rules.space_keys);
  }

  Judgement judge() {
    judgement_.tenant = policy::tenant_name(pod_.space->tenant);
    const Profile* profile = policy::profile_for(rulebook_, labels_);
    if (profile != nullptr) judgement_.profile = profile->name;
    judgement_.is_judged =
        !judgement_.tenant.empty() || !pod_.first_tenant->empty() || is_reviewed();
    if (!judgement_.is_judged) return std::move(judgement_);

    boundary();
    if (judgement_.is_exempt) return std::move(judgement_);
    tenant();
    route();
    pinned();
    claims();
    return std::move(judgement_);
  }

 private:
  bool is_system_space() const {
    return pod_.space->name == kSystemSpace || pod_.space->name == around_.own_space;
  }

  // A profile's webhook sees the Pod when it is made.
  bool is_reviewed() const {
    if (is_system_space()) return false;
    return std::ranges::any_of(rulebook_.profiles, [&](const Profile& profile) {
      return covers(profile, space_labels_) &&
             (policy::selects(profile, labels_) || (profile.route_guard && is_route_of(profile)));
    });
  }

  // The default scheduler's Pods are everybody's: their scheduler says nothing about a profile.
  bool is_route_of(const Profile& profile) const {
    const std::string_view scheduler = policy::scheduler_of(pod_.shape->pod);
    return scheduler == profile.scheduler_name && scheduler != policy::kDefaultScheduler;
  }

  policy::Review review() const {
    policy::Review review{.subject = {.operation = policy::Operation::create,
                                      .space = pod_.space->name,
                                      .name = pod_.name,
                                      .resource = "pods"},
                          .object = pod_.shape->pod,
                          .malformed = pod_.shape->malformed};
    review.object->name = pod_.name;
    review.object->labels = labels_;
    return review;
  }

  // The webhook's own decision, on the Pod as it is now.
  void boundary() {
    const policy::Decision decision =
        policy::decide(review(), policy::kEnforcementProfile, pod_.space->tenant, rulebook_,
                       policy::Requester::unknown);
    judgement_.is_exempt = decision.outcome == policy::Outcome::exempt;
    for (const policy::Violation& violation : decision.violations) {
      if (std::ranges::find(kNotOfBoundPods, violation.check) != kNotOfBoundPods.end()) continue;
      verdict_of(violation.check, judgement_)
          .evidence.push_back({.field = violation.field, .message = violation.message});
    }
  }

  // Its namespace had another tenant when the Pod was first judged.
  void tenant() {
    const std::string& first = *pod_.first_tenant;
    if (first.empty() || first == judgement_.tenant) return;
    const std::string& now = judgement_.tenant;
    Verdict& verdict = verdict_of("tenant", judgement_);
    verdict.evidence = {{.field = "metadata.namespace",
                         .wanted = "tenant " + first,
                         .found = now.empty() ? "no tenant" : "tenant " + now,
                         .message = "namespace " + pod_.space->name + " was tenant " + first +
                                    "'s when the Pod was first seen, and is " +
                                    (now.empty() ? "no tenant's" : "tenant " + now + "'s") +
                                    " now"}};
  }

  // It runs on a profile's scheduler, and no profile's webhook sees such a Pod.
  void route() {
    if (around_.all_reviewed || is_system_space() || is_reviewed()) return;
    const auto profile = std::ranges::find_if(
        rulebook_.profiles, [&](const Profile& candidate) { return is_route_of(candidate); });
    if (profile == rulebook_.profiles.end()) return;
    const bool is_covered = covers(*profile, space_labels_);
    Evidence evidence{.field = is_covered ? "metadata.labels" : "metadata.namespace",
                      .wanted = is_covered
                                    ? "a label that profile " + profile->name + " selects by"
                                    : "a namespace that profile " + profile->name + " selects",
                      .found = "none"};
    evidence.message = std::string(kSchedulerField) + " " + base::quote(profile->scheduler_name) +
                       " is that of profile " + profile->name + ", which " +
                       (is_covered ? "selects the Pod by none of its labels and has no routeGuard"
                                   : "does not select namespace " + pod_.space->name) +
                       ": the Pod came past the admission webhook";
    verdict_of(kRoute, judgement_).evidence.push_back(std::move(evidence));
  }

  // A Pod that was made with its node never met a scheduler. Managed fields show it until somebody
  // erases them; a Pod without any is said to be unknown, since no API server makes one.
  void pinned() {
    if (pod_.node_choice == codec::NodeChoice::by_binding) return;
    const bool is_known = pod_.node_choice == codec::NodeChoice::by_creator;
    Verdict& verdict = verdict_of(kPinned, judgement_);
    verdict.is_certain = is_known;
    Evidence evidence{.field = "spec.nodeName", .wanted = "set through pods/binding"};
    if (is_known) {
      evidence.found = "set by " + base::quote(*pod_.node_chooser, kChooserBytes);
      evidence.message = "spec.nodeName was set by whoever made the Pod, as the field manager " +
                         base::quote(*pod_.node_chooser, kChooserBytes) + " owns it";
    } else {
      evidence.found = kUnknown;
      evidence.message =
          "nobody manages a field of the Pod's spec, so metadata.managedFields were erased and "
          "who set spec.nodeName is unknown";
    }
    verdict.evidence.push_back(std::move(evidence));
  }

  void claims() {
    if (!pod_.claims) return;
    judgement_.are_claims_known = around_.is_storage_known;
    if (!around_.is_storage_known) return;
    for (const std::string& claim : *pod_.claims) {
      const Storage::PathVolume* volume = around_.storage.path_behind(claim_key(pod_, claim));
      if (volume == nullptr) continue;
      const std::string kind =
          volume->source == codec::VolumeSource::host_path ? "hostPath" : "local";
      Evidence evidence{.field = "spec.volumes",
                        .wanted = "a claim to a volume that is no path of a node",
                        .found = kind + " " + base::quote(volume->path)};
      evidence.message = "claim " + base::quote(claim) + " is bound to PersistentVolume " +
                         base::quote(volume->name) + ", which is the " + kind + " " +
                         base::quote(volume->path);
      verdict_of(kHostPathClaim, judgement_).evidence.push_back(std::move(evidence));
    }
  }

  const PodRecord& pod_;
  const Surroundings& around_;
  const policy::Rulebook& rulebook_;
  policy::Labels labels_;
  policy::Labels space_labels_;
  Judgement judgement_;
};

}  // namespace

Judgement judge_boundary(const PodRecord& pod, const Surroundings& around) {
  return Judge(pod, around).judge();
}

void judge_placement(const PodRecord& pod, const Surroundings& around,
                     std::span<const std::string> tenants, Judgement& judgement) {
  // Without a tenant there is no rule to hold it to; that it has none is said already.
  if (!judgement.is_judged || judgement.is_exempt || judgement.tenant.empty()) return;
  judgement.is_placement_known = pod.node->is_known;
  if (!pod.node->is_known) return;
  const policy::Node node{.name = pod.node->name,
                          .labels = project(pod.node->labels, around.rules.node_keys)};
  for (policy::PlacementViolation& violation :
       policy::evaluate_placement({.pod = pod.shape->pod,
                                   .space = pod.space->name,
                                   .tenant = pod.space->tenant,
                                   .node = node,
                                   .tenants_on_node = tenants},
                                  *around.rules.rulebook)) {
    verdict_of(std::string(kPlacementPrefix) + violation.rule, judgement)
        .evidence.push_back({.field = violation.field.empty() ? "other Pods on the node"
                                                              : std::move(violation.field),
                             .wanted = std::move(violation.wanted),
                             .found = std::move(violation.found),
                             .message = std::move(violation.message)});
  }
}

}  // namespace xila::observe
