#include <gtest/gtest.h>

#include <functional>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

const Violation kUnread = {"malformed", "spec.hostNetwork", "", "spec.hostNetwork is no boolean"};

TEST(Malformed, IsDeniedInEveryModeAndEveryPath) {
  for (const Mode mode : {Mode::enforce, Mode::warn, Mode::audit}) {
    for (const char* path : {"volcano", "enforcement", "unheard-of"}) {
      Review review = create_review(good_pod());
      review.malformed = {kUnread};
      const Decision decision = decide(review, path, team_a(), volcano_rulebook(mode));
      EXPECT_EQ(decision.outcome, Outcome::malformed);
      EXPECT_EQ(decision.violations, Violations{kUnread});
    }
  }
}

TEST(Malformed, ComesFirstAndHidesNothing) {
  Pod pod = good_pod();
  pod.node_name = "gpu-7";
  Review review = create_review(pod);
  review.malformed = {kUnread};
  const Decision decision = decide(review, "volcano", {}, volcano_rulebook());
  EXPECT_EQ(check_ids(decision), "malformed,tenant,node-pin");
  EXPECT_EQ(decision.violations.front(), kUnread);
}

TEST(Malformed, ReviewsThatLackTheirPods) {
  struct Case {
    const char* name;
    Operation operation;
    bool has_object;
    bool has_old_object;
    std::vector<std::string> messages;
  };
  const Case cases[] = {
      {"CREATE without object",
       Operation::create,
       false,
       false,
       {"request.object is missing, no CREATE can be judged without it"}},
      {"CREATE with an old object only",
       Operation::create,
       false,
       true,
       {"request.object is missing, no CREATE can be judged without it"}},
      {"UPDATE without object",
       Operation::update,
       false,
       true,
       {"request.object is missing, no UPDATE can be judged without it"}},
      {"UPDATE without old object",
       Operation::update,
       true,
       false,
       {"request.oldObject is missing, no UPDATE can be judged without it"}},
      {"UPDATE without both",
       Operation::update,
       false,
       false,
       {"request.object is missing, no UPDATE can be judged without it",
        "request.oldObject is missing, no UPDATE can be judged without it"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Review review = update_review(good_pod(), good_pod());
    review.subject.operation = c.operation;
    if (!c.has_object) review.object.reset();
    if (!c.has_old_object) review.old_object.reset();
    const Decision decision = decide_volcano(review);
    EXPECT_EQ(decision.outcome, Outcome::malformed);
    EXPECT_EQ(messages_of(decision.violations), c.messages);
  }
}

TEST(Malformed, WithoutTheOldObjectEverythingIsCharged) {
  Pod pod = good_pod();
  pod.containers.push_back(privileged_container("debug", ContainerKind::ephemeral));
  Review review = update_review(pod, pod);
  EXPECT_EQ(decide_volcano(review).outcome, Outcome::allowed);
  review.old_object.reset();
  EXPECT_EQ(check_ids(decide_volcano(review)), "malformed,privileged");
}

TEST(Malformed, TheOldObjectDoesNotCoverWhatWasNotRead) {
  Pod pod = good_pod();
  pod.host_network = true;
  pod.host_pid = true;
  Review review = update_review(pod, pod);
  review.malformed = {kUnread};  // of a field that the old object violates
  EXPECT_EQ(decide_volcano(review).violations, Violations{kUnread});
  EXPECT_EQ(decide_volcano(review).outcome, Outcome::malformed);
}

TEST(Malformed, TheDecodersWordsAboutAnObjectAreNotRepeated) {
  Review review = create_review(good_pod());
  review.object.reset();
  review.malformed = {{"malformed", "request.object", "", "request.object is no object"}};
  EXPECT_EQ(decide_volcano(review).violations, review.malformed);
}

TEST(Malformed, AResourceThatNoCheckJudgesNamesTheRuleToCorrect) {
  struct Case {
    Operation operation;
    const char* resource;
    const char* start;
  };
  const Case cases[] = {
      {Operation::create, "pods/binding", R"(CREATE of "pods/binding")"},
      {Operation::create, "bindings", R"(CREATE of "bindings")"},
      {Operation::update, "pods/status", R"(UPDATE of "pods/status")"},
      {Operation::create, "deployments.apps", R"(CREATE of "deployments.apps")"},
      {Operation::create, "pods.metrics.k8s.io", R"(CREATE of "pods.metrics.k8s.io")"},
      {Operation::create, "Pods", R"(CREATE of "Pods")"},
      {Operation::create, "pods/", R"(CREATE of "pods/")"},
      {Operation::create, "", R"(CREATE of "")"},
  };
  for (const Case& c : cases) {
    for (const Mode mode : {Mode::enforce, Mode::warn, Mode::audit}) {
      Review review = create_review(good_pod());
      review.subject.operation = c.operation;
      review.subject.resource = c.resource;
      const Decision decision = decide_volcano(review, volcano_rulebook(mode));
      EXPECT_EQ(decision.outcome, Outcome::malformed);
      EXPECT_EQ(decision.violations,
                (Violations{{"malformed", "request.resource", "",
                             "a rule of the webhook configuration sends " + std::string(c.start) +
                                 ", which no check can judge, take it out: the rules are CREATE of "
                                 "pods, UPDATE of pods/ephemeralcontainers and, with labelGuard, "
                                 "UPDATE of pods"}}));
    }
  }
}

TEST(Malformed, AnUnreadableResourceIsExplainedByTheDecoder) {
  Review review = create_review(good_pod());
  review.subject.resource = "";
  review.malformed = {{"malformed", "request.resource", "", "request.resource is missing"}};
  const Decision decision = decide_volcano(review);
  EXPECT_EQ(decision.outcome, Outcome::malformed);
  EXPECT_EQ(decision.violations, review.malformed);
}

}  // namespace
}  // namespace xila::policy
