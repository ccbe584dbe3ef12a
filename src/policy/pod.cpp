#include "xila/policy/pod.hpp"

#include <algorithm>

namespace xila::policy {
namespace {

// Read by a container runtime's hook, which then mounts the devices, or by the vendor's library,
// which then chooses among what is mounted. Source: the vendors' container toolkits and runtime
// manuals.
constexpr std::string_view kGpuVisibilityVariables[] = {
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_MIG_CONFIG_DEVICES",
    "NVIDIA_MIG_MONITOR_DEVICES",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_VERSION",  // NVIDIA; with this one the toolkit takes an image for an old one: all GPUs
    "AMD_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",  // AMD
    "ZE_AFFINITY_MASK",
    "ONEAPI_DEVICE_SELECTOR",
    "SYCL_DEVICE_FILTER",
    "HABANA_VISIBLE_DEVICES",  // Intel
    "ASCEND_VISIBLE_DEVICES",
    "ASCEND_RT_VISIBLE_DEVICES",  // Huawei
    "MTHREADS_VISIBLE_DEVICES",
    "MUSA_VISIBLE_DEVICES",  // Moore Threads
};

// One of 64 bits for a name: asked of every variable of every container, so that most take one
// look.
constexpr std::uint64_t bit_of(std::string_view name) {
  if (name.empty()) return 0;
  return 1ULL << ((name.size() * 5 + static_cast<unsigned char>(name.back())) % 64);
}

constexpr std::uint64_t kGpuBits = [] {
  std::uint64_t bits = 0;
  for (const std::string_view name : kGpuVisibilityVariables) bits |= bit_of(name);
  return bits;
}();

}  // namespace

std::string_view field_of(ContainerKind kind) {
  switch (kind) {
    case ContainerKind::regular:
      return "containers";
    case ContainerKind::init:
      return "initContainers";
    case ContainerKind::ephemeral:
      return "ephemeralContainers";
  }
  return "";
}

bool is_gpu_visibility_variable(std::string_view name) {
  if ((kGpuBits & bit_of(name)) == 0) return false;
  return std::ranges::find(kGpuVisibilityVariables, name) != std::end(kGpuVisibilityVariables);
}

const OwnerReference* controller_of(const Pod& pod) {
  const OwnerReference* controller = nullptr;
  for (const OwnerReference& owner : pod.owners) {
    if (!owner.controller) continue;
    if (controller != nullptr) return nullptr;  // two claim it: nobody is believed
    controller = &owner;
  }
  return controller;
}

}  // namespace xila::policy
