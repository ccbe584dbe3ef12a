#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

TEST(HostPath, CountsWhateverIsInItAndWhoeverMountsIt) {
  Pod pod = good_pod();
  pod.volumes = {{.index = 0, .name = "claimed", .claim = "data"},
                 {.index = 1, .name = "run", .has_host_path = true, .host_path = "/var/run"},
                 {.index = 2, .name = "empty", .has_host_path = true},
                 {.index = 3, .name = "", .has_host_path = true, .host_path = "/\n\"etc\""}};
  EXPECT_EQ(
      find("host-path", pod),
      (Violations{
          {"host-path", "spec.volumes[1].hostPath", "run",
           R"(spec.volumes[1] "run" is a path of the node, "/var/run", use an emptyDir or a PersistentVolumeClaim)"},
          {"host-path", "spec.volumes[2].hostPath", "empty",
           R"(spec.volumes[2] "empty" is a path of the node, use an emptyDir or a PersistentVolumeClaim)"},
          {"host-path", "spec.volumes[3].hostPath", "",
           R"(spec.volumes[3] is a path of the node, "/\n\"etc\"", use an emptyDir or a PersistentVolumeClaim)"},
      }));
}

TEST(HostPath, APathWithoutTheFieldIsNone) {
  Pod pod = good_pod();
  pod.volumes = {{.name = "scratch"}};
  EXPECT_TRUE(find("host-path", pod).empty());
}

}  // namespace
}  // namespace xila::policy
