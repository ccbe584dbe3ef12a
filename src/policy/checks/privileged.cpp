#include "checks/checks.hpp"
#include "place.hpp"

namespace xila::policy {
namespace {

void check_host_process(const Pod& pod, const Container& container, Violations& found) {
  // The container's own value counts where there is one, `false` too; else the Pod's.
  if (!container.host_process.value_or(pod.host_process)) return;

  const std::string what = named(container) + " runs as a Windows host process, remove ";
  if (container.host_process.has_value()) {
    found.push_back({"privileged",
                     path_of(container) + ".securityContext.windowsOptions.hostProcess",
                     container.name, what + "securityContext.windowsOptions.hostProcess"});
  } else {
    // One violation for each container, so that an update that adds a container is charged with it.
    found.push_back({"privileged", "spec.securityContext.windowsOptions.hostProcess",
                     container.name, what + "spec.securityContext.windowsOptions.hostProcess"});
  }
}

}  // namespace

// A privileged container, or its Windows form, owns the node and with it every GPU and every tenant
// on it.
//
//   Fields   spec.{containers,initContainers,ephemeralContainers}[*].securityContext.privileged
//            ....securityContext.windowsOptions.hostProcess, else spec.securityContext's
//   Allowed  absent or false
void check_privileged(const CheckInput& input, Violations& found) {
  for (const Container& container : input.pod.containers) {
    if (container.privileged) {
      found.push_back({"privileged", path_of(container) + ".securityContext.privileged",
                       container.name,
                       named(container) + " is privileged, remove securityContext.privileged"});
    }
    check_host_process(input.pod, container, found);
  }
}

}  // namespace xila::policy
