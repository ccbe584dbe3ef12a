#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

Pod pinned_pod() {
  Pod pod = good_pod();
  pod.node_name = "gpu-7";
  return pod;
}

TEST(Modes, DecideWhatAViolationLeadsTo) {
  struct Case {
    const char* name;
    Mode mode;
    const char* path;
    Outcome with_violation;
    Mode told;
  };
  const Case cases[] = {
      {"enforce", Mode::enforce, "volcano", Outcome::denied, Mode::enforce},
      {"warn", Mode::warn, "volcano", Outcome::warned, Mode::warn},
      {"audit", Mode::audit, "volcano", Outcome::audited, Mode::audit},
      {"/validate enforces beside a profile that warns", Mode::warn, "enforcement", Outcome::denied,
       Mode::enforce},
      {"an unknown profile enforces", Mode::audit, "volcan", Outcome::denied, Mode::enforce},
      {"names are compared exactly", Mode::audit, "Volcano", Outcome::denied, Mode::enforce},
      {"no name enforces", Mode::audit, "", Outcome::denied, Mode::enforce},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Rulebook rulebook = volcano_rulebook(c.mode);
    const Decision bad = decide(create_review(pinned_pod()), c.path, team_a(), rulebook);
    EXPECT_EQ(bad.outcome, c.with_violation);
    EXPECT_EQ(bad.mode, c.told);
    EXPECT_EQ(bad.profile, c.path);
    EXPECT_EQ(check_ids(bad), "node-pin") << "also where the mode allows";

    const Decision good = decide(create_review(good_pod()), c.path, team_a(), rulebook);
    EXPECT_EQ(good.outcome, Outcome::allowed);
    EXPECT_TRUE(good.violations.empty());
  }
}

TEST(Modes, NoProfileSoftensValidateByItsName) {
  Rulebook rulebook = volcano_rulebook(Mode::audit);
  rulebook.profiles[0].name = "enforcement";
  const Decision decision = decide(create_review(pinned_pod()), "enforcement", team_a(), rulebook);
  EXPECT_EQ(decision.outcome, Outcome::denied);
  EXPECT_EQ(decision.mode, Mode::enforce);
}

TEST(Modes, ThePodsLabelsDoNotChooseTheMode) {
  Rulebook rulebook = volcano_rulebook(Mode::enforce);
  Profile soft = volcano_profile(Mode::audit);
  soft.name = "soft";
  rulebook.profiles.insert(rulebook.profiles.begin(), soft);  // selects the same Pods, and first
  EXPECT_EQ(decide(create_review(pinned_pod()), "volcano", team_a(), rulebook).outcome,
            Outcome::denied);
}

TEST(Modes, AnUpdateObeysThemToo) {
  Pod after = good_pod();
  after.containers.push_back(privileged_container("debug", ContainerKind::ephemeral));
  const Review review = update_review(good_pod(), after, "pods/ephemeralcontainers");
  EXPECT_EQ(decide_volcano(review, volcano_rulebook(Mode::enforce)).outcome, Outcome::denied);
  EXPECT_EQ(decide_volcano(review, volcano_rulebook(Mode::warn)).outcome, Outcome::warned);
  EXPECT_EQ(decide_volcano(review, volcano_rulebook(Mode::audit)).outcome, Outcome::audited);
}

}  // namespace
}  // namespace xila::policy
