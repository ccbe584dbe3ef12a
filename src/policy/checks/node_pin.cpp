#include "checks/checks.hpp"
#include "xila/base/text.hpp"

namespace xila::policy {

// A Pod that is created with a node never meets a scheduler, and so meets none of its limits.
//
//   Field    spec.nodeName
//   Allowed  absent or ""
void check_node_pin(const CheckInput& input, Violations& found) {
  if (input.pod.node_name.empty()) return;
  found.push_back({"node-pin", "spec.nodeName", "",
                   "spec.nodeName pins node " + base::quote(input.pod.node_name) +
                       ", leave the choice to the scheduler"});
}

}  // namespace xila::policy
