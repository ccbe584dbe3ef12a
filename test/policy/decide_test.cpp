#include "xila/policy/decide.hpp"

#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

// A Pod that violates everything that CREATE judges by default.
Pod worst_pod() {
  Pod pod = good_pod();
  pod.scheduler_name = "own";
  pod.node_name = "gpu-7";
  pod.containers = {container("main"), privileged_container("init", ContainerKind::init)};
  pod.host_network = pod.host_pid = pod.host_ipc = true;
  pod.volumes = {{.name = "root", .has_host_path = true, .host_path = "/"}};
  return pod;
}

TEST(Decide, AllowsAPodThatCrossesNothing) {
  EXPECT_EQ(decide_volcano(create_review(good_pod())), (Decision{.outcome = Outcome::allowed,
                                                                 .mode = Mode::enforce,
                                                                 .profile = "volcano",
                                                                 .tenant = "team-a"}));
}

TEST(Decide, NamesEveryViolationInTheTablesOrder) {
  const Decision decision = decide(create_review(worst_pod()), "volcano",
                                   TenantResolution::unresolved("no label"), volcano_rulebook());
  EXPECT_EQ(decision.outcome, Outcome::denied);
  EXPECT_EQ(decision.tenant, "");
  EXPECT_EQ(fields_of(decision.violations),
            (std::vector<std::string>{"metadata.namespace", "spec.schedulerName", "spec.nodeName",
                                      "spec.initContainers[0].securityContext.privileged",
                                      "spec.hostNetwork", "spec.hostPID", "spec.hostIPC",
                                      "spec.volumes[0].hostPath"}));
  EXPECT_EQ(check_ids(decision), "tenant,scheduler,node-pin,privileged,host-namespace,host-path");
}

TEST(Decide, LabelsChooseNothing) {
  Pod pod = worst_pod();
  const Violations with_label = decide_volcano(create_review(pod)).violations;
  pod.labels.clear();
  EXPECT_EQ(decide_volcano(create_review(pod)).violations, with_label);
}

TEST(Decide, ABoundPodIsNotBlamedForItsNodeOnUpdate) {
  Pod before = good_pod();
  before.node_name = "gpu-7";
  before.scheduler_name = "own";
  Pod after = before;
  after.containers.push_back(container("debug", ContainerKind::ephemeral));
  for (const char* resource : {"pods", "pods/ephemeralcontainers"}) {
    const Decision decision =
        decide(update_review(before, after, resource), "volcano", {}, volcano_rulebook());
    EXPECT_EQ(decision.outcome, Outcome::allowed) << resource;
  }
}

TEST(Decide, OptInChecksRunWhereThePolicyNamesThem) {
  Pod pod = good_pod();
  pod.hostname_selector = "gpu-7";
  pod.containers[0].host_ports = {{0, 80}};
  pod.containers[0].added_capabilities = {"ALL"};
  pod.containers[0].proc_mount = "Unmasked";
  pod.containers[0].gpu_variables = {{0, "CUDA_VISIBLE_DEVICES"}};
  EXPECT_EQ(decide_volcano(create_review(pod)).outcome, Outcome::allowed);

  for (const Check& check : checks()) {
    if (!check.opt_in) continue;
    Rulebook rulebook = volcano_rulebook();
    rulebook.extra_checks.emplace(check.id);
    EXPECT_EQ(check_ids(decide_volcano(create_review(pod), rulebook)), check.id);
  }
  EXPECT_EQ(check_ids(decide_volcano(create_review(pod), strictest_rulebook())),
            "host-port,capabilities,proc-mount,node-affinity-pin,gpu-visible-devices");
}

TEST(Decide, NothingTurnsADefaultCheckOff) {
  Rulebook rulebook = volcano_rulebook();
  rulebook.extra_checks = {"no-such-check"};
  EXPECT_EQ(decide_volcano(create_review(worst_pod()), rulebook).violations,
            decide_volcano(create_review(worst_pod())).violations);
}

TEST(Decide, DeleteAndConnectAreAllowedWhateverTheyAreAbout) {
  for (const Operation operation : {Operation::remove, Operation::connect}) {
    for (const char* resource : {"pods", "pods/exec", "pods/binding", "deployments.apps", ""}) {
      Review review = create_review(worst_pod());
      review.subject.operation = operation;
      review.subject.resource = resource;
      review.malformed = {{"malformed", "spec", "", "spec is missing"}};
      EXPECT_EQ(decide(review, "volcano", {}, volcano_rulebook()).outcome, Outcome::allowed);
      review.object.reset();
      EXPECT_EQ(decide(review, "volcano", {}, volcano_rulebook()).outcome, Outcome::allowed);
    }
  }
}

TEST(Decide, TheTenantIsAskedForOnlyWhereItIsRead) {
  EXPECT_TRUE(needs_tenant(create_review(good_pod())));
  EXPECT_FALSE(needs_tenant(update_review(good_pod(), good_pod())));

  Review review = create_review(good_pod());
  review.object.reset();
  EXPECT_FALSE(needs_tenant(review)) << "malformed in any case";
  review = create_review(good_pod());
  review.subject.resource = "pods/binding";
  EXPECT_FALSE(needs_tenant(review)) << "malformed in any case";
  for (const Operation operation : {Operation::remove, Operation::connect}) {
    review = create_review(good_pod());
    review.subject.operation = operation;
    EXPECT_FALSE(needs_tenant(review));
  }
}

TEST(Decide, AnUnansweredTenantDenies) {
  EXPECT_EQ(check_ids(decide(create_review(good_pod()), "volcano", {}, volcano_rulebook())),
            "tenant");
  EXPECT_EQ(decide(create_review(good_pod()), "volcano", TenantResolution::not_judged(),
                   volcano_rulebook())
                .outcome,
            Outcome::allowed);
}

TEST(Decide, OnlyAllowingOutcomesAllow) {
  struct Case {
    Outcome outcome;
    const char* text;
    bool allowed;
  };
  const Case cases[] = {
      {Outcome::undecided, "undecided", false}, {Outcome::allowed, "allowed", true},
      {Outcome::exempt, "exempt", true},        {Outcome::warned, "warned", true},
      {Outcome::audited, "audited", true},      {Outcome::denied, "denied", false},
      {Outcome::malformed, "malformed", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(to_text(c.outcome), c.text);
    EXPECT_EQ(is_allowed(c.outcome), c.allowed) << c.text;
  }
  EXPECT_FALSE(is_allowed(Decision{}.outcome)) << "a decision that nobody filled in";
  EXPECT_FALSE(is_allowed(static_cast<Outcome>(77)));
}

TEST(Subject, OperationsAreSpelledAsKubernetesDoes) {
  EXPECT_EQ(to_text(Operation::create), "CREATE");
  EXPECT_EQ(to_text(Operation::update), "UPDATE");
  EXPECT_EQ(to_text(Operation::remove), "DELETE");
  EXPECT_EQ(to_text(Operation::connect), "CONNECT");
}

}  // namespace
}  // namespace xila::policy
