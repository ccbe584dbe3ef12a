#include "checks/checks.hpp"
#include "place.hpp"
#include "xila/base/text.hpp"

namespace xila::policy {

// A path of the node outlives the Pod, is shared by tenants, and often leads to the kubelet or a
// runtime.
//
//   Field    spec.volumes[*].hostPath
//   Denied   present and not null, whatever is in it, mounted or not: a container may be added that
//   mounts it
void check_host_path(const CheckInput& input, Violations& found) {
  for (const Volume& volume : input.pod.volumes) {
    if (!volume.has_host_path) continue;
    std::string message = named(volume) + " is a path of the node";
    if (!volume.host_path.empty()) message += ", " + base::quote(volume.host_path);
    message += ", use an emptyDir or a PersistentVolumeClaim";
    found.push_back({"host-path", path_of(volume) + ".hostPath", volume.name, std::move(message)});
  }
}

}  // namespace xila::policy
