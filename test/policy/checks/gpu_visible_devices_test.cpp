#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

TEST(GpuVisibleDevices, VariablesAreKnownByTheirExactNames) {
  for (const char* name :
       {"NVIDIA_VISIBLE_DEVICES", "NVIDIA_MIG_CONFIG_DEVICES", "NVIDIA_MIG_MONITOR_DEVICES",
        "CUDA_VISIBLE_DEVICES", "CUDA_VERSION", "AMD_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK", "ONEAPI_DEVICE_SELECTOR",
        "SYCL_DEVICE_FILTER", "HABANA_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES",
        "ASCEND_RT_VISIBLE_DEVICES", "MTHREADS_VISIBLE_DEVICES", "MUSA_VISIBLE_DEVICES"}) {
    EXPECT_TRUE(is_gpu_visibility_variable(name)) << name;
  }
  for (const char* name :
       {"", "nvidia_visible_devices", "NVIDIA_VISIBLE_DEVICES ", "VISIBLE_DEVICES",
        "MY_NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "PATH"}) {
    EXPECT_FALSE(is_gpu_visibility_variable(name)) << name;
  }
}

TEST(GpuVisibleDevices, EachIsNamedWithItsPlace) {
  EXPECT_TRUE(find("gpu-visible-devices", good_pod()).empty());

  Pod pod = good_pod();
  pod.containers[0].gpu_variables = {{1, "NVIDIA_VISIBLE_DEVICES"}, {4, "HIP_VISIBLE_DEVICES"}};
  const std::string rest =
      ", which can reach GPUs that it did not request, remove it and request GPUs as a resource";
  EXPECT_EQ(find("gpu-visible-devices", pod),
            (Violations{{"gpu-visible-devices", "spec.containers[0].env[1].name", "main",
                         "spec.containers[0] \"main\" sets NVIDIA_VISIBLE_DEVICES" + rest},
                        {"gpu-visible-devices", "spec.containers[0].env[4].name", "main",
                         "spec.containers[0] \"main\" sets HIP_VISIBLE_DEVICES" + rest}}));
}

}  // namespace
}  // namespace xila::policy
