#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xila::policy {

// Labels in the order in which they were written; keys are unique.
using Labels = std::vector<std::pair<std::string, std::string>>;

enum class ContainerKind : std::uint8_t { regular, init, ephemeral };

// "containers", "initContainers" or "ephemeralContainers": the field of a Pod spec that holds the
// kind.
std::string_view field_of(ContainerKind kind);

inline constexpr ContainerKind kContainerKinds[] = {ContainerKind::regular, ContainerKind::init,
                                                    ContainerKind::ephemeral};

// True for environment variables that reach GPUs which the Pod did not ask for. The codec keeps
// only these.
bool is_gpu_visibility_variable(std::string_view name);

// One container, of any of the three lists.
struct Container {
  ContainerKind kind = ContainerKind::regular;
  std::size_t index = 0;  // its place in that list
  std::string name;
  bool privileged = false;
  std::optional<bool>
      host_process;        // securityContext.windowsOptions.hostProcess; absent: the Pod's counts
  std::string proc_mount;  // securityContext.procMount; "" = absent
  std::vector<std::string> added_capabilities;  // securityContext.capabilities.add
  std::vector<std::pair<std::size_t, std::int64_t>>
      host_ports;  // place in ports, hostPort that is not 0
  std::vector<std::pair<std::size_t, std::string>> gpu_variables;  // place in env, name

  bool operator==(const Container&) const = default;
};

struct Volume {
  std::size_t index = 0;
  std::string name;
  bool has_host_path = false;  // hostPath is there and not null, whatever is in it
  std::string host_path;       // hostPath.path; "" = absent
  std::string claim;           // persistentVolumeClaim.claimName; "" = another kind of volume

  bool operator==(const Volume&) const = default;
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;

  bool operator==(const OwnerReference&) const = default;
};

// One requirement of a required node affinity that concerns the node's name.
struct NodeRequirement {
  std::string field;  // its path, as spec.affinity.nodeAffinity....matchFields[0]
  std::string key;    // kubernetes.io/hostname or metadata.name
  std::string op;
  std::vector<std::string> values;

  bool operator==(const NodeRequirement&) const = default;
};

// The parts of a Pod that decide where it may run and what it may reach. Owns its texts, so that a
// Pod can outlive the document it was read from. Source: core/v1 Pod, Kubernetes v1.34.
struct Pod {
  std::string name;
  std::string generate_name;
  Labels labels;
  std::vector<OwnerReference> owners;

  std::string scheduler_name;  // "" = absent, which means default-scheduler
  std::string node_name;
  std::string service_account_name;  // "" = absent, which means default
  bool host_network = false;
  bool host_pid = false;
  bool host_ipc = false;
  bool host_process = false;          // securityContext.windowsOptions.hostProcess of the Pod
  std::vector<Container> containers;  // of all three lists
  std::vector<Volume> volumes;
  std::optional<std::string> hostname_selector;  // nodeSelector["kubernetes.io/hostname"]
  std::vector<NodeRequirement> node_requirements;

  bool operator==(const Pod&) const = default;
};

inline constexpr std::string_view kDefaultScheduler = "default-scheduler";
inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

// The scheduler that will place the Pod: schedulerName, or the default one where it is absent or
// empty.
inline std::string_view scheduler_of(const Pod& pod) {
  return pod.scheduler_name.empty() ? kDefaultScheduler : std::string_view(pod.scheduler_name);
}

// The owner that manages the Pod, or null. Kubernetes allows at most one.
const OwnerReference* controller_of(const Pod& pod);

}  // namespace xila::policy
