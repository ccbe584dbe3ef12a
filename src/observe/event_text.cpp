#include "event_text.hpp"

#include <algorithm>
#include <string_view>

#include "fingerprint.hpp"

namespace xila::observe {
namespace {

constexpr std::size_t kMostNameBytes = 253;  // a DNS subdomain
constexpr std::size_t kNameDigits = 16;
constexpr std::size_t kMostInstanceBytes = 128;

std::string text_of(std::string_view check) {
  if (check.starts_with(kPlacementPrefix)) {
    return "The Pod's node does not satisfy placement rule " +
           std::string(check.substr(kPlacementPrefix.size())) +
           ", or is shared with another tenant against it.";
  }
  if (check == kRoute) {
    return "The Pod runs on a guarded scheduler without a label that the guard selects by, so it "
           "came past the admission webhook.";
  }
  if (check == kPinned) {
    return "The Pod was created with spec.nodeName, so no scheduler placed it.";
  }
  if (check == kHostPathClaim) {
    return "A PersistentVolumeClaim of the Pod is bound to a path of its node.";
  }
  if (check == "tenant") {
    return "The Pod's namespace belongs to no tenant, or to another one than before.";
  }
  return "The Pod violates check " + std::string(check) + " of the placement boundary.";
}

std::string note_of(const Transition& transition) {
  const Finding& finding = transition.finding;
  if (transition.change == Change::resolved) return "Resolved: " + finding.check + ".";
  if (finding.name != kDrift) return text_of(finding.check);
  return "What held when the Pod was first seen no longer does. " + text_of(finding.check);
}

std::string_view reason_of(const Transition& transition) {
  if (transition.change == Change::resolved) return "PlacementResolved";
  return transition.finding.name == kDrift ? "PlacementDrift" : "PlacementViolation";
}

}  // namespace

std::optional<codec::Event> event_of(const Transition& transition, const std::string& instance,
                                     Wall time) {
  const Finding& finding = transition.finding;
  const bool is_gone = transition.resolution == Resolution::pod_gone;
  if (finding.pod.empty() || is_gone || !finding.is_certain) return std::nullopt;

  const std::string_view reason = reason_of(transition);
  codec::Event event{.space = finding.space,
                     .reason = std::string(reason),
                     .action = "Observe",
                     .note = note_of(transition),
                     .is_warning = transition.change != Change::resolved,
                     .controller = kReportingController,
                     .instance = instance.substr(0, kMostInstanceBytes),
                     .time = time};
  std::string pod = finding.pod.substr(0, kMostNameBytes - kNameDigits - 1);
  while (!pod.empty() && (pod.back() == '.' || pod.back() == '-')) pod.pop_back();
  event.name = pod + "." + Fingerprint().add(finding.id).add(reason).text(kNameDigits);
  event.regarding = {
      .kind = "Pod", .space = finding.space, .name = finding.pod, .uid = finding.pod_uid};
  if (!finding.node.empty()) {
    event.related = {.kind = "Node", .name = finding.node, .uid = finding.node_uid};
  }
  return event;
}

}  // namespace xila::observe
