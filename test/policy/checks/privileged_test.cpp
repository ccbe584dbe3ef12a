#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

TEST(Privileged, EachContainerIsAViolationOfItsOwn) {
  Pod pod = good_pod();
  pod.containers = {container("a", ContainerKind::regular, 0),
                    privileged_container("b", ContainerKind::regular, 1),
                    privileged_container("c", ContainerKind::init, 0),
                    privileged_container("", ContainerKind::ephemeral, 2)};
  EXPECT_EQ(find("privileged", pod),
            (Violations{
                {"privileged", "spec.containers[1].securityContext.privileged", "b",
                 R"(spec.containers[1] "b" is privileged, remove securityContext.privileged)"},
                {"privileged", "spec.initContainers[0].securityContext.privileged", "c",
                 R"(spec.initContainers[0] "c" is privileged, remove securityContext.privileged)"},
                {"privileged", "spec.ephemeralContainers[2].securityContext.privileged", "",
                 "spec.ephemeralContainers[2] is privileged, remove securityContext.privileged"},
            }));
}

TEST(Privileged, HostProcessOfTheContainerCountsElseThePods) {
  struct Case {
    const char* name;
    bool of_pod;
    std::optional<bool> of_container;
    std::vector<std::string> fields;
  };
  const Case cases[] = {
      {"neither", false, {}, {}},
      {"container says no", false, false, {}},
      {"container says yes",
       false,
       true,
       {"spec.containers[0].securityContext.windowsOptions.hostProcess"}},
      {"Pod says yes", true, {}, {"spec.securityContext.windowsOptions.hostProcess"}},
      {"container overrides the Pod", true, false, {}},
      {"both say yes",
       true,
       true,
       {"spec.containers[0].securityContext.windowsOptions.hostProcess"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Pod pod = good_pod();
    pod.host_process = c.of_pod;
    pod.containers[0].host_process = c.of_container;
    EXPECT_EQ(fields_of(find("privileged", pod)), c.fields);
  }
}

TEST(Privileged, HostProcessOfThePodNamesEveryContainerItReaches) {
  Pod pod = good_pod();
  pod.host_process = true;
  pod.containers = {container("a"), container("b", ContainerKind::init)};
  pod.containers.push_back(container("c", ContainerKind::ephemeral));
  pod.containers[0].host_process = false;
  const std::string field = "spec.securityContext.windowsOptions.hostProcess";
  EXPECT_EQ(
      find("privileged", pod),
      (Violations{
          {"privileged", field, "b",
           R"(spec.initContainers[0] "b" runs as a Windows host process, remove )" + field},
          {"privileged", field, "c",
           R"(spec.ephemeralContainers[0] "c" runs as a Windows host process, remove )" + field}}));
}

TEST(Privileged, AContainerCanBeBoth) {
  Pod pod = good_pod();
  pod.containers[0].privileged = true;
  pod.containers[0].host_process = true;
  EXPECT_EQ(messages_of(find("privileged", pod)),
            (std::vector<std::string>{
                R"(spec.containers[0] "main" is privileged, remove securityContext.privileged)",
                R"(spec.containers[0] "main" runs as a Windows host process, remove )"
                R"(securityContext.windowsOptions.hostProcess)"}));
}

}  // namespace
}  // namespace xila::policy
