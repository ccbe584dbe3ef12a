#include "checks/checks.hpp"
#include "place.hpp"

namespace xila::policy {

// A host port is a resource of one node: it tells nodes apart and listens on the node's own
// address.
//
//   Field    spec.{containers,initContainers,ephemeralContainers}[*].ports[*].hostPort
//   Allowed  absent or 0
void check_host_port(const CheckInput& input, Violations& found) {
  for (const Container& container : input.pod.containers) {
    for (const auto& [place, port] : container.host_ports) {
      found.push_back({"host-port",
                       path_of(container) + ".ports[" + std::to_string(place) + "].hostPort",
                       container.name,
                       named(container) + " opens port " + std::to_string(port) +
                           " of the node, remove hostPort and use a Service"});
    }
  }
}

}  // namespace xila::policy
