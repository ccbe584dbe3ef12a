#include "checks/checks.hpp"
#include "place.hpp"
#include "xila/base/text.hpp"

namespace xila::policy {

// An unmasked /proc shows and changes what the runtime hides of the node.
//
//   Field    spec.{containers,initContainers,ephemeralContainers}[*].securityContext.procMount
//   Allowed  absent or "Default"
void check_proc_mount(const CheckInput& input, Violations& found) {
  for (const Container& container : input.pod.containers) {
    if (container.proc_mount.empty() || container.proc_mount == "Default") continue;
    found.push_back({"proc-mount", path_of(container) + ".securityContext.procMount",
                     container.name,
                     named(container) + " has procMount " + base::quote(container.proc_mount) +
                         ", use \"Default\""});
  }
}

}  // namespace xila::policy
