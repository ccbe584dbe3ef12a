#include "checks/checks.hpp"
#include "place.hpp"
#include "xila/base/text.hpp"

namespace xila::policy {
namespace {

constexpr std::size_t kListedValues = 3;

// `kubernetes.io/hostname In "a", "b"`.
std::string text_of(const NodeRequirement& requirement) {
  std::string text = base::escape_control(requirement.key) + ' ' + name_text(requirement.op);
  if (!requirement.values.empty()) {
    text +=
        ' ' + quoted_list({requirement.values.begin(), requirement.values.end()}, kListedValues);
  }
  return text;
}

// `Exists` on the host name's label is true of every node that a kubelet registered. Every other
// operator can single nodes out, NotIn with enough names and Gt and Lt too.
bool pins(const NodeRequirement& requirement) {
  return requirement.key != kHostnameLabel || requirement.op != "Exists";
}

}  // namespace

// Node selectors and node affinity choose a node as surely as spec.nodeName does.
//
//   Fields   spec.nodeSelector[kubernetes.io/hostname]
//            spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution:
//            matchExpressions on kubernetes.io/hostname, matchFields on metadata.name
//   Allowed  operator Exists on the label; what is only preferred
//   When     CREATE only: queueing controllers pin a gated Pod by host name when they admit it
void check_node_affinity_pin(const CheckInput& input, Violations& found) {
  if (input.pod.hostname_selector.has_value()) {
    found.push_back({"node-affinity-pin", "spec.nodeSelector[" + std::string(kHostnameLabel) + ']',
                     "",
                     "spec.nodeSelector pins host " + base::quote(*input.pod.hostname_selector) +
                         ", leave the choice to the scheduler"});
  }
  for (const NodeRequirement& requirement : input.pod.node_requirements) {
    if (!pins(requirement)) continue;
    found.push_back({"node-affinity-pin", requirement.field, "",
                     requirement.field + " chooses nodes by name (" + text_of(requirement) +
                         "), leave the choice to the scheduler"});
  }
}

}  // namespace xila::policy
