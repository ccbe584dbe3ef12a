#include "checks/checks.hpp"

namespace xila::policy {

// The node's namespaces show and reach what belongs to the node and to other tenants' Pods on it.
//
//   Fields   spec.hostNetwork, spec.hostPID, spec.hostIPC; each is a violation of its own
//   Allowed  absent or false
void check_host_namespace(const CheckInput& input, Violations& found) {
  const auto deny = [&](const char* field, const char* what) {
    found.push_back({"host-namespace", field, "", std::string(field) + what + ", remove it"});
  };
  if (input.pod.host_network) deny("spec.hostNetwork", " gives the Pod the node's network");
  if (input.pod.host_pid) deny("spec.hostPID", " shows the Pod the node's processes");
  if (input.pod.host_ipc) deny("spec.hostIPC", " gives the Pod the node's IPC objects");
}

}  // namespace xila::policy
