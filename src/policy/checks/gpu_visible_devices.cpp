#include "checks/checks.hpp"
#include "place.hpp"
#include "xila/base/text.hpp"

namespace xila::policy {

// Container runtimes for GPUs mount what these variables name, whatever the Pod requested: all GPUs
// of the node for `all`. The device plugin sets them for those who request a GPU; nobody else needs
// to.
//
//   Field    spec.{containers,initContainers,ephemeralContainers}[*].env[*].name
//   Denied   a name of is_gpu_visibility_variable, whatever its value
void check_gpu_visible_devices(const CheckInput& input, Violations& found) {
  for (const Container& container : input.pod.containers) {
    for (const auto& [place, variable] : container.gpu_variables) {
      found.push_back({"gpu-visible-devices",
                       path_of(container) + ".env[" + std::to_string(place) + "].name",
                       container.name,
                       named(container) + " sets " + name_text(variable) +
                           ", which can reach GPUs that it did not request, remove it and request "
                           "GPUs as a resource"});
    }
  }
}

}  // namespace xila::policy
