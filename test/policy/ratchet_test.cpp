#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

using enum ContainerKind;

struct Case {
  const char* name;
  Pod before;
  Pod after;
  std::vector<std::string> charged;  // fields
};

Pod with_containers(std::vector<Container> containers) {
  Pod pod = good_pod();
  pod.containers = std::move(containers);
  return pod;
}

Pod with_volumes(std::vector<Volume> volumes) {
  Pod pod = good_pod();
  pod.volumes = std::move(volumes);
  return pod;
}

Pod with_host(bool network, bool pid, bool ipc) {
  Pod pod = good_pod();
  pod.host_network = network;
  pod.host_pid = pid;
  pod.host_ipc = ipc;
  return pod;
}

Pod host_process(std::vector<Container> containers) {
  Pod pod = with_containers(std::move(containers));
  pod.host_process = true;
  return pod;
}

Container with_host_process(Container c, bool value) {
  c.host_process = value;
  return c;
}

Volume host_path(std::string name, std::size_t index = 0, std::string path = "/data") {
  return {
      .index = index, .name = std::move(name), .has_host_path = true, .host_path = std::move(path)};
}

void expect_charged(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    for (const char* resource : {"pods", "pods/ephemeralcontainers"}) {
      SCOPED_TRACE(std::string(c.name) + " of " + resource);
      const Decision decision =
          decide_volcano(update_review(c.before, c.after, resource), strictest_rulebook());
      EXPECT_EQ(fields_of(decision.violations), c.charged);
      EXPECT_EQ(decision.outcome, c.charged.empty() ? Outcome::allowed : Outcome::denied);
    }
  }
}

TEST(Ratchet, PrivilegedContainersCoverOnlyThemselves) {
  const Container a = privileged_container("a");
  const Container harmless = container("b", regular, 1);
  const std::string debug = "spec.ephemeralContainers[0].securityContext.privileged";
  const auto added = [](std::string name) {
    return privileged_container(std::move(name), ephemeral);
  };
  expect_charged({
      {"kept", with_containers({a}), with_containers({a}), {}},
      {"a harmless one is added", with_containers({a}), with_containers({a, harmless}), {}},
      {"moved in its list",
       with_containers({a}),
       with_containers({container("new"), privileged_container("a", regular, 1)}),
       {}},
      {"a second is added", with_containers({a}), with_containers({a, added("debug")}), {debug}},
      {"a second of the same name",
       with_containers({a}),
       with_containers({a, added("a")}),
       {debug}},
      {"a second of the same name in the same list",
       with_containers({a}),
       with_containers({a, privileged_container("a", regular, 1)}),
       {"spec.containers[1].securityContext.privileged"}},
      {"a third of two",
       with_containers({a, privileged_container("a", regular, 1)}),
       with_containers(
           {a, privileged_container("a", regular, 1), privileged_container("a", regular, 2)}),
       {"spec.containers[2].securityContext.privileged"}},
      {"one replaces another",
       with_containers({a}),
       with_containers({privileged_container("z")}),
       {"spec.containers[0].securityContext.privileged"}},
      {"to another list under the same name",
       with_containers({a}),
       with_containers({added("a")}),
       {debug}},
      {"a harmless one turns privileged",
       with_containers({container("a")}),
       with_containers({a}),
       {"spec.containers[0].securityContext.privileged"}},
      {"nameless ones are counted",
       with_containers({privileged_container("")}),
       with_containers({privileged_container(""), privileged_container("", regular, 1)}),
       {"spec.containers[1].securityContext.privileged"}},
      {"a name that goes on after NUL",
       with_containers({a}),
       with_containers({privileged_container(std::string("a\0", 2))}),
       {"spec.containers[0].securityContext.privileged"}},
      {"a name that looks like an index",
       with_containers({privileged_container("[0]")}),
       with_containers({privileged_container("[1]")}),
       {"spec.containers[0].securityContext.privileged"}},
      {"taken off", with_containers({a}), with_containers({container("a")}), {}},
  });
}

TEST(Ratchet, HostProcessesCoverOnlyThemselves) {
  const Container a = container("a");
  const Container debug = container("debug", ephemeral);
  const std::string of_pod = "spec.securityContext.windowsOptions.hostProcess";
  const std::string of_debug =
      "spec.ephemeralContainers[0].securityContext.windowsOptions.hostProcess";
  expect_charged({
      {"kept", host_process({a}), host_process({a}), {}},
      {"a container inherits it", host_process({a}), host_process({a, debug}), {of_pod}},
      {"one of the same name inherits it",
       host_process({a}),
       host_process({a, container("a", ephemeral)}),
       {of_pod}},
      {"one that declines",
       host_process({a}),
       host_process({a, with_host_process(debug, false)}),
       {}},
      {"one that says so itself",
       host_process({a}),
       host_process({a, with_host_process(debug, true)}),
       {of_debug}},
      {"the Pod turns", with_containers({a}), host_process({a}), {of_pod}},
      {"privileged does not cover it",
       with_containers({privileged_container("a")}),
       host_process({a}),
       {of_pod}},
  });
}

TEST(Ratchet, HostNamespacesCoverOnlyThemselves) {
  expect_charged({
      {"kept", with_host(true, true, true), with_host(true, true, true), {}},
      {"one more", with_host(true, false, false), with_host(true, true, false), {"spec.hostPID"}},
      {"another", with_host(true, false, false), with_host(false, false, true), {"spec.hostIPC"}},
      {"all",
       good_pod(),
       with_host(true, true, true),
       {"spec.hostNetwork", "spec.hostPID", "spec.hostIPC"}},
      {"given back", with_host(true, true, true), good_pod(), {}},
  });
}

TEST(Ratchet, HostPathsCoverTheVolumeOfTheirName) {
  expect_charged({
      {"kept", with_volumes({host_path("data")}), with_volumes({host_path("data")}), {}},
      {"moved",
       with_volumes({host_path("data")}),
       with_volumes({{.name = "new"}, host_path("data", 1)}),
       {}},
      {"a second",
       with_volumes({host_path("data")}),
       with_volumes({host_path("data"), host_path("root", 1)}),
       {"spec.volumes[1].hostPath"}},
      {"a second of the same name",
       with_volumes({host_path("data")}),
       with_volumes({host_path("data"), host_path("data", 1, "/")}),
       {"spec.volumes[1].hostPath"}},
      {"a claim turns into one",
       with_volumes({{.name = "data", .claim = "c"}}),
       with_volumes({host_path("data")}),
       {"spec.volumes[0].hostPath"}},
  });
}

TEST(Ratchet, NoCheckCoversForAnother) {
  Pod before = good_pod();
  before.containers[0].privileged = true;
  before.volumes = {host_path("main")};  // named as the container
  Pod after = before;
  after.containers[0].added_capabilities = {"SYS_ADMIN"};
  after.containers[0].proc_mount = "Unmasked";
  after.containers[0].host_ports = {{0, 80}};
  after.containers[0].gpu_variables = {{0, "CUDA_VISIBLE_DEVICES"}};
  expect_charged(
      {{"all four are new",
        before,
        after,
        {"spec.containers[0].ports[0].hostPort",
         "spec.containers[0].securityContext.capabilities.add[0]",
         "spec.containers[0].securityContext.procMount", "spec.containers[0].env[0].name"}},
       {"and may stay", after, after, {}}});
}

TEST(Ratchet, FieldsWithSeveralPlacesAreCounted) {
  Pod one = good_pod();
  one.containers[0].host_ports = {{0, 80}};
  Pod moved = good_pod();
  moved.containers[0].host_ports = {{5, 80}};
  Pod two = good_pod();
  two.containers[0].host_ports = {{0, 80}, {1, 443}};
  expect_charged({{"moved", one, moved, {}},
                  {"one more", one, two, {"spec.containers[0].ports[1].hostPort"}},
                  {"one less", two, one, {}}});
}

TEST(Ratchet, WhatIsLeftIsToldAsOnCreate) {
  const Pod before = with_containers({privileged_container("a")});
  const Pod after =
      with_containers({privileged_container("a"), privileged_container("debug", ephemeral)});
  EXPECT_EQ(
      decide_volcano(update_review(before, after)).violations,
      (Violations{
          {"privileged", "spec.ephemeralContainers[0].securityContext.privileged", "debug",
           R"(spec.ephemeralContainers[0] "debug" is privileged, remove securityContext.privileged)"}}));
}

TEST(Ratchet, AnOldObjectCoversNothingOnCreate) {
  const Pod pod = with_containers({privileged_container("a")});
  Review review = create_review(pod);
  review.old_object = pod;
  EXPECT_EQ(check_ids(decide_volcano(review)), "privileged");
}

// Comparing each with each takes longer than a test may run.
TEST(Ratchet, ManyViolationsTakeNoQuadraticTime) {
  Pod before = good_pod();
  for (std::size_t i = 0; i < 50'000; ++i)
    before.volumes.push_back(host_path("v" + std::to_string(i), i));
  Pod after = before;
  after.volumes.push_back(host_path("new", after.volumes.size()));
  EXPECT_EQ(fields_of(decide_volcano(update_review(before, after)).violations),
            std::vector<std::string>{"spec.volumes[50000].hostPath"});
}

}  // namespace
}  // namespace xila::policy
