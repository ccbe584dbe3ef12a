#include <gtest/gtest.h>

#include <functional>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

const std::string kController{kDefaultDaemonSetController};

// The legitimate one: a device plugin's Pod, with all the host access that it needs.
Review trusted_review() {
  Pod pod = good_pod();
  pod.scheduler_name = "default-scheduler";
  pod.host_network = true;
  pod.containers[0].privileged = true;
  pod.service_account_name = "nvidia-device-plugin";
  pod.owners = {{.api_version = "apps/v1",
                 .kind = "DaemonSet",
                 .name = "nvidia-device-plugin",
                 .uid = "u",
                 .controller = true}};
  Review review = create_review(pod);
  review.subject.space = "gpu-system";
  review.subject.user = kController;
  return review;
}

TEST(Exemption, ATrustedDaemonSetsPodIsNotJudged) {
  const Decision decision = decide(trusted_review(), "volcano",
                                   TenantResolution::unresolved("no label"), volcano_rulebook());
  EXPECT_EQ(decision,
            (Decision{.outcome = Outcome::exempt, .mode = Mode::enforce, .profile = "volcano"}));
}

TEST(Exemption, HoldsInEveryModeAndWithoutViolations) {
  for (const Mode mode : {Mode::enforce, Mode::warn, Mode::audit}) {
    EXPECT_EQ(decide_volcano(trusted_review(), volcano_rulebook(mode)).outcome, Outcome::exempt);
  }
  Review review = trusted_review();
  review.object->scheduler_name = "volcano";
  review.object->host_network = false;
  review.object->containers[0].privileged = false;
  EXPECT_EQ(decide_volcano(review).outcome, Outcome::exempt);
}

TEST(Exemption, AllThreeConditionsMustHold) {
  struct Case {
    const char* name;
    std::function<void(Review&)> change;
  };
  const Case cases[] = {
      // The requester.
      {"a person asks", [](Review& r) { r.subject.user = "jane"; }},
      {"nobody asks", [](Review& r) { r.subject.user = ""; }},
      {"another controller asks",
       [](Review& r) { r.subject.user = "system:serviceaccount:kube-system:job-controller"; }},
      {"a name of the same beginning", [](Review& r) { r.subject.user += "x"; }},
      {"a name that goes on after NUL", [](Review& r) { r.subject.user += '\0'; }},
      {"the same account elsewhere",
       [](Review& r) { r.subject.user = "system:serviceaccount:team-a:daemon-set-controller"; }},
      // The owner.
      {"no owner", [](Review& r) { r.object->owners.clear(); }},
      {"an owner that does not control", [](Review& r) { r.object->owners[0].controller = false; }},
      {"another kind", [](Review& r) { r.object->owners[0].kind = "ReplicaSet"; }},
      {"another case", [](Review& r) { r.object->owners[0].kind = "daemonset"; }},
      {"another group", [](Review& r) { r.object->owners[0].api_version = "extensions/v1beta1"; }},
      {"a group that begins so",
       [](Review& r) { r.object->owners[0].api_version = "apps.evil/v1"; }},
      {"a group that ends so", [](Review& r) { r.object->owners[0].api_version = "evil.apps/v1"; }},
      {"no version", [](Review& r) { r.object->owners[0].api_version = "apps"; }},
      {"the core group", [](Review& r) { r.object->owners[0].api_version = "v1"; }},
      {"no group", [](Review& r) { r.object->owners[0].api_version = ""; }},
      {"the DaemonSet is one owner, another controls",
       [](Review& r) {
         r.object->owners[0].controller = false;
         r.object->owners.push_back(
             {.api_version = "batch/v1", .kind = "Job", .name = "j", .controller = true});
       }},
      {"two owners claim control",
       [](Review& r) {
         r.object->owners.push_back(
             {.api_version = "batch/v1", .kind = "Job", .name = "j", .controller = true});
       }},
      {"two owners claim control, the DaemonSet last",
       [](Review& r) {
         r.object->owners.insert(
             r.object->owners.begin(),
             {.api_version = "batch/v1", .kind = "Job", .name = "j", .controller = true});
       }},
      // The account.
      {"another account", [](Review& r) { r.object->service_account_name = "other"; }},
      {"no account", [](Review& r) { r.object->service_account_name = ""; }},
      {"the account of another namespace", [](Review& r) { r.subject.space = "team-a"; }},
      {"no namespace", [](Review& r) { r.subject.space = ""; }},
      {"the whole in the account",
       [](Review& r) {
         r.subject.space = "";
         r.object->service_account_name = "gpu-system/nvidia-device-plugin";
       }},
      // The rest.
      {"an update",
       [](Review& r) {
         r.subject.operation = Operation::update;
         r.old_object = good_pod();
       }},
      {"something unread", [](Review& r) { r.malformed = {{"malformed", "spec", "", "x"}}; }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Review review = trusted_review();
    c.change(review);
    const Decision decision = decide_volcano(review);
    EXPECT_FALSE(is_allowed(decision.outcome));
    EXPECT_GE(decision.violations.size(), 2U);
  }
}

TEST(Exemption, ANameIsNotSplitElsewhere) {
  Rulebook rulebook = volcano_rulebook();
  rulebook.trusted_daemon_set_service_accounts = {"a/b/c"};
  for (const auto& [space, account] : {std::pair{"a", "b/c"}, std::pair{"a/b", "c"}}) {
    Review review = trusted_review();
    review.subject.space = space;
    review.object->service_account_name = account;
    EXPECT_EQ(decide_volcano(review, rulebook).outcome, Outcome::denied) << space;
  }
}

TEST(Exemption, AnAbsentAccountIsTheDefaultOne) {
  Rulebook rulebook = volcano_rulebook();
  rulebook.trusted_daemon_set_service_accounts = {"gpu-system/default"};
  Review review = trusted_review();
  review.object->service_account_name = "";
  EXPECT_EQ(decide_volcano(review, rulebook).outcome, Outcome::exempt);
  review.object->service_account_name = "default";
  EXPECT_EQ(decide_volcano(review, rulebook).outcome, Outcome::exempt);
}

TEST(Exemption, TheControllersNameIsConfigured) {
  Rulebook rulebook = volcano_rulebook();
  rulebook.daemon_set_controller_user = "system:kube-controller-manager";
  EXPECT_EQ(decide_volcano(trusted_review(), rulebook).outcome, Outcome::denied);
  Review review = trusted_review();
  review.subject.user = "system:kube-controller-manager";
  EXPECT_EQ(decide_volcano(review, rulebook).outcome, Outcome::exempt);

  rulebook.daemon_set_controller_user = "";
  review.subject.user = "";
  EXPECT_EQ(decide_volcano(review, rulebook).outcome, Outcome::denied) << "nobody is nobody";
}

TEST(Exemption, OfflineOnlyTheRequesterIsTakenForGranted) {
  const auto offline = [](const Review& review) {
    return decide(review, "volcano", team_a(), volcano_rulebook(), Requester::unknown).outcome;
  };
  Review review = trusted_review();
  review.subject.user = "";
  EXPECT_EQ(offline(review), Outcome::exempt);
  review.object->owners.clear();
  EXPECT_EQ(offline(review), Outcome::denied);
  review = trusted_review();
  review.object->service_account_name = "other";
  EXPECT_EQ(offline(review), Outcome::denied);
}

TEST(Exemption, ADebugContainerAddedLaterIsJudged) {
  Review review = trusted_review();
  review.subject.operation = Operation::update;
  review.subject.resource = "pods/ephemeralcontainers";
  review.old_object = review.object;
  EXPECT_EQ(decide_volcano(review).outcome, Outcome::allowed) << "what was there may stay";
  review.object->containers.push_back(privileged_container("debug", ContainerKind::ephemeral));
  EXPECT_EQ(check_ids(decide_volcano(review)), "privileged");
}

}  // namespace
}  // namespace xila::policy
