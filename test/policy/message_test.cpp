#include <gtest/gtest.h>

#include "policy/examples.hpp"
#include "xila/base/text.hpp"

namespace xila::policy {
namespace {

Decision denied(Violations violations, Outcome outcome = Outcome::denied) {
  return {.outcome = outcome,
          .profile = "volcano",
          .tenant = "team-a",
          .violations = std::move(violations)};
}

TEST(Message, NamesThePodTheProfileAndEveryViolation) {
  Pod pod = good_pod();
  pod.node_name = "gpu-7";
  pod.containers = {container("main"), privileged_container("init", ContainerKind::regular, 1)};
  const Review review = create_review(pod);
  EXPECT_EQ(message(decide_volcano(review), review.subject),
            "Pod team-a/train-0 crosses the placement boundary of profile volcano: "
            "[node-pin] spec.nodeName pins node \"gpu-7\", leave the choice to the scheduler; "
            "[privileged] spec.containers[1] \"init\" is privileged, remove "
            "securityContext.privileged");
}

TEST(Message, IsEmptyWithoutViolations) {
  EXPECT_EQ(message(decide_volcano(create_review(good_pod())), {}), "");
}

TEST(Message, SaysWhatCouldNotBeJudged) {
  Review review = create_review(good_pod());
  review.subject.resource = "pods/binding";
  EXPECT_EQ(
      message(decide_volcano(review), review.subject),
      "\"pods/binding\" team-a/train-0 cannot be judged for profile volcano: [malformed] a "
      "rule of the webhook configuration sends CREATE of \"pods/binding\", which no check can "
      "judge, take it out: the rules are CREATE of pods, UPDATE of pods/ephemeralcontainers "
      "and, with labelGuard, UPDATE of pods");

  review = update_review(good_pod(), good_pod(), "pods/ephemeralcontainers");
  review.old_object.reset();
  EXPECT_EQ(message(decide(review, "enforcement", team_a(), volcano_rulebook()), review.subject),
            "Pod team-a/train-0 cannot be judged for profile enforcement: [malformed] "
            "request.oldObject is missing, no UPDATE can be judged without it");
}

TEST(Message, QuotesNamesThatAreNone) {
  struct Case {
    const char* name;
    Subject subject;
    const char* profile;
    const char* opening;
  };
  const Case cases[] = {
      {"generated",
       {.space = "team-a", .name = "train-*", .resource = "pods"},
       "volcano",
       "Pod team-a/train-* crosses the placement boundary of profile volcano: "},
      {"no name",
       {.space = "team-a", .resource = "pods"},
       "volcano",
       "Pod in namespace team-a crosses the placement boundary of profile volcano: "},
      {"no namespace",
       {.name = "train-0", .resource = "pods"},
       "volcano",
       "Pod train-0 crosses the placement boundary of profile volcano: "},
      {"neither",
       {.resource = "pods"},
       "volcano",
       "Pod without a name crosses the placement boundary of profile volcano: "},
      {"a line break",
       {.space = "a\nb", .name = "x/y", .resource = "pods"},
       "p q",
       "Pod \"a\\nb\"/\"x/y\" crosses the placement boundary of profile \"p q\": "},
      {"no profile",
       {.space = "a", .name = "b", .resource = "pods"},
       "",
       "Pod a/b crosses the placement boundary of profile \"\": "},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Decision decision = denied({{"node-pin", "spec.nodeName", "", "m"}});
    decision.profile = c.profile;
    EXPECT_EQ(message(decision, c.subject), c.opening + std::string("[node-pin] m"));
  }
}

TEST(Message, IsCutBetweenViolationsAndCountsTheRest) {
  const Subject subject = create_review({}).subject;
  Pod pod = good_pod();
  for (std::size_t i = 0; i < 1000; ++i) {
    pod.volumes.push_back({.index = i, .name = "v", .has_host_path = true, .host_path = "/"});
  }
  const std::string text = message(decide_volcano(create_review(pod)), subject);
  EXPECT_LE(text.size(), kMaxMessageBytes);
  EXPECT_GT(text.size(), kMaxMessageBytes - 200) << "room is not wasted";

  std::size_t shown = 0;
  for (std::size_t at = text.find("[host-path] "); at != std::string::npos;
       at = text.find("[host-path] ", at + 1)) {
    ++shown;
  }
  EXPECT_TRUE(text.ends_with("use an emptyDir or a PersistentVolumeClaim; and " +
                             std::to_string(1000 - shown) + " more"))
      << text;
}

TEST(Message, CutsAnOverlongViolationAtACharacter) {
  const Subject subject = create_review({}).subject;
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string long_text(shift, 'a');
    while (long_text.size() < 5000) long_text += "\xF0\x9F\x98\x80";
    const std::string alone = message(denied({{"x", "f", "", long_text}}), subject);
    EXPECT_LE(alone.size(), kMaxMessageBytes);
    EXPECT_TRUE(alone.ends_with("\x98\x80...")) << shift;

    const std::string first =
        message(denied({{"x", "f", "", long_text}, {"y", "f", "", "z"}}), subject);
    EXPECT_LE(first.size(), kMaxMessageBytes);
    EXPECT_TRUE(first.ends_with("\x98\x80...; and 1 more")) << shift;

    const std::string second =
        message(denied({{"y", "f", "", "z"}, {"x", "f", "", long_text}}), subject);
    EXPECT_TRUE(second.ends_with("[y] z; and 1 more")) << shift;
  }
}

TEST(Message, StaysInItsBoundsWhateverNamesSay) {
  const std::string awful(5000, '\x01');
  Pod pod = good_pod();
  pod.scheduler_name = awful;
  pod.node_name = awful;
  pod.containers = {privileged_container(awful)};
  pod.volumes = {{.name = awful, .has_host_path = true, .host_path = awful}};
  Review review = create_review(pod);
  review.subject.space = review.subject.name = awful;
  for (const char* resource : {"pods", "pods/binding"}) {
    review.subject.resource = resource;
    const std::string text =
        message(decide(review, awful, TenantResolution::unresolved(awful), volcano_rulebook()),
                review.subject);
    EXPECT_LE(text.size(), kMaxMessageBytes);
    EXPECT_EQ(text.find('\x01'), std::string::npos);
  }
}

TEST(Message, NoViolationBreaksALineOrHoldsInvalidUtf8) {
  const std::string awful = "\xFF\n\x1b[2J\"\\\xE2\x80\xAE\xC2\x85";
  Pod pod = good_pod();
  pod.scheduler_name = pod.node_name = awful;
  pod.hostname_selector = awful;
  pod.host_process = true;
  pod.containers = {privileged_container(awful)};
  pod.containers[0].proc_mount = awful;
  pod.containers[0].added_capabilities = {awful};
  pod.containers[0].host_ports = {{0, 1}};
  pod.containers[0].gpu_variables = {{0, awful}};
  pod.volumes = {{.name = awful, .has_host_path = true, .host_path = awful}};
  pod.node_requirements = {{"spec.affinity", awful, awful, {awful}}};
  const Decision decision = decide(create_review(pod), "volcano",
                                   TenantResolution::unresolved(awful), strictest_rulebook());
  EXPECT_GE(decision.violations.size(), 11U);
  for (const Violation& violation : decision.violations) {
    for (const char* bad : {"\n", "\x1b", "\xE2\x80\xAE", "\xC2\x85", "\xFF"}) {
      EXPECT_EQ(violation.message.find(bad), std::string::npos) << violation.message;
    }
  }
}

TEST(CheckIds, AreListedOnceInTheTablesOrder) {
  const Violations violations = {{"host-path", "", "", ""}, {"placement/pools", "", "", ""},
                                 {"node-pin", "", "", ""},  {"host-path", "", "", ""},
                                 {"malformed", "", "", ""}, {"placement/pools", "", "", ""}};
  EXPECT_EQ(check_ids(denied(violations)), "malformed,node-pin,host-path,placement/pools");
  EXPECT_EQ(check_ids(denied({})), "");
}

}  // namespace
}  // namespace xila::policy
