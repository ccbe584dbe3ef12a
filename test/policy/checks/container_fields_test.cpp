#include <gtest/gtest.h>

#include <map>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

// One violation of each check that looks at containers. A check that is new and looks at them
// belongs here.
const std::map<std::string_view, void (*)(Container&)> kSpoil = {
    {"privileged", [](Container& c) { c.privileged = true; }},
    {"host-port", [](Container& c) { c.host_ports = {{0, 80}}; }},
    {"capabilities", [](Container& c) { c.added_capabilities = {"SYS_ADMIN"}; }},
    {"proc-mount", [](Container& c) { c.proc_mount = "Unmasked"; }},
    {"gpu-visible-devices",
     [](Container& c) { c.gpu_variables = {{0, "NVIDIA_VISIBLE_DEVICES"}}; }},
};

// Checks of the Pod as a whole, or of its volumes.
const std::set<std::string_view> kWithoutContainers = {
    "tenant", "scheduler", "node-pin", "host-namespace", "host-path", "label", "node-affinity-pin"};

TEST(ContainerChecks, EveryCheckIsKnownToLookAtContainersOrNot) {
  for (const Check& check : checks()) {
    EXPECT_NE(kSpoil.contains(check.id), kWithoutContainers.contains(check.id)) << check.id;
  }
}

TEST(ContainerChecks, LookAtEveryListOfContainers) {
  for (const auto& [id, spoil] : kSpoil) {
    for (const ContainerKind kind : kContainerKinds) {
      SCOPED_TRACE(std::string(id) + " in " + std::string(field_of(kind)));
      Pod pod = good_pod();
      pod.containers.push_back(container("x", kind, 3));
      spoil(pod.containers.back());

      const Violations created =
          decide_volcano(create_review(pod), strictest_rulebook()).violations;
      ASSERT_EQ(created.size(), 1U);
      EXPECT_EQ(created[0].check, id);
      EXPECT_EQ(created[0].part, "x");
      EXPECT_TRUE(created[0].field.starts_with("spec." + std::string(field_of(kind)) + "[3]."));
      EXPECT_TRUE(
          created[0].message.starts_with("spec." + std::string(field_of(kind)) + "[3] \"x\" "));

      const Review added = update_review(good_pod(), pod, "pods/ephemeralcontainers");
      EXPECT_EQ(decide_volcano(added, strictest_rulebook()).violations, created);
    }
  }
}

TEST(ContainerChecks, ListsAreNamedAsInAPodSpec) {
  EXPECT_EQ(field_of(ContainerKind::regular), "containers");
  EXPECT_EQ(field_of(ContainerKind::init), "initContainers");
  EXPECT_EQ(field_of(ContainerKind::ephemeral), "ephemeralContainers");
}

}  // namespace
}  // namespace xila::policy
