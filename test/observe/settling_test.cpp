#include <gtest/gtest.h>

#include "observe/world.hpp"

// No false alarms: what does not stand for its time is not said.
namespace xila::observe {
namespace {

EngineOptions waiting() {
  return {.settle_after_bind = 30s, .settle_after_relabel = 60s};
}

World::Edit bound_at(const World& world, std::chrono::seconds ago) {
  return [at = world.now.wall - ago](codec::LivePod& live) { live.bound_at = at; };
}

TEST(Settling, ABindingMustStand) {
  World world(pools_rulebook(), waiting());
  peaceful(world).start();
  world.pod("team-a", "late", "n-b", bound_at(world, 0s));
  world.wait(29s);
  EXPECT_EQ(world.happened(), Lines{});
  EXPECT_EQ(world.open(), Lines{});
  world.wait(1s);
  EXPECT_EQ(world.happened(), (Lines{"opened placement/pools team-a/late"}));
  EXPECT_EQ(world.last[0].finding.since, world.now.wall - 30s);
}

TEST(Settling, TimeSinceTheBindingCountsAndClocksMayDiffer) {
  struct Case {
    const char* name;
    std::chrono::seconds ago;
    std::chrono::seconds opens_after;
  };
  const Case cases[] = {{"long ago", 3600s, 0s},
                        {"20 s ago", 20s, 10s},
                        {"in the future, by another clock", -3600s, 30s}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    World world(pools_rulebook(), waiting());
    peaceful(world).start();
    world.pod("team-a", "late", "n-b", bound_at(world, c.ago));
    if (c.opens_after > 0s) {
      world.wait(c.opens_after - 1ms);
      EXPECT_EQ(world.happened(), Lines{});
      world.wait(1ms);
    }
    EXPECT_EQ(world.happened(), (Lines{"opened placement/pools team-a/late"}));
  }
}

TEST(Settling, APodThatDoesNotLiveThatLongIsNeverMentioned) {
  World world(pools_rulebook(), waiting());
  peaceful(world).start();
  world.pod("team-a", "short", "n-b", bound_at(world, 0s));
  world.wait(29s);
  world.remove("team-a", "short");
  world.wait(1h);
  EXPECT_EQ(world.happened(), Lines{});
  EXPECT_EQ(world.engine.next_due(), Steady{});
}

TEST(Settling, LabelsMustStandSinceTheirLastChange) {
  World world(pools_rulebook(), waiting());
  peaceful(world).start();
  world.node("n-a", {});
  world.wait(50s);
  world.node("n-a", {{"pool", "none"}});
  world.wait(50s);
  EXPECT_EQ(world.happened(), Lines{});
  world.node("n-a", {{"pool", "none"}, {"feature", "x"}});  // no rule reads it
  world.wait(9s);
  EXPECT_EQ(world.happened(), Lines{});
  world.wait(1s);
  EXPECT_EQ(world.happened(), (Lines{"opened drift(placement/pools) team-a/train-0"}));
  EXPECT_EQ(world.last[0].finding.evidence[0].found, "pool=none");
}

TEST(Settling, ABurstThatEndsWellIsNotSaid) {
  World world(pools_rulebook(), waiting());
  peaceful(world).start();
  for (int i = 0; i < 5; ++i) {
    world.node("n-a", {});
    world.wait(10s);
    world.node("n-a", {{"pool", "team-a"}});
    world.wait(10s);
  }
  world.wait(1h);
  EXPECT_EQ(world.happened(), Lines{});
}

TEST(Settling, ANamespacesLabelMustStandToo) {
  World world(pools_rulebook(), waiting());
  peaceful(world).start();
  world.space("team-a", "");
  world.wait(59s);
  EXPECT_EQ(world.happened(), Lines{});
  world.wait(1s);
  EXPECT_EQ(world.happened(), (Lines{"opened drift(tenant) team-a/train-0"}));
}

TEST(Settling, ANewNodeGetsItsTimeAndIsNoDrift) {
  World world(pools_rulebook(), waiting());
  peaceful(world).start();
  world.node("n-a", {}, "another");
  world.wait(59s);
  EXPECT_EQ(world.happened(), Lines{});
  world.wait(1s);
  EXPECT_EQ(world.happened(), (Lines{"opened placement/pools team-a/train-0"}));
}

TEST(Settling, AResolutionDoesNotWait) {
  World world(pools_rulebook(), waiting());
  peaceful(world);
  world.node("n-a", {});
  world.start();
  EXPECT_EQ(world.happened(), (Lines{"opened placement/pools team-a/train-0"}));
  world.node("n-a", {{"pool", "team-a"}});
  EXPECT_EQ(world.happened(), (Lines{"resolved placement/pools team-a/train-0 holds"}));
}

TEST(Settling, ThePolicyDoesNotWait) {
  World world(pools_rulebook(), waiting());
  peaceful(world).start();
  policy::Rulebook other = pools_rulebook();
  other.accepted_schedulers = {"kai"};
  world.use(other);
  EXPECT_EQ(world.happened(), (Lines{"opened drift(scheduler) team-a/train-0",
                                     "opened drift(scheduler) team-b/serve-0"}));
}

TEST(Settling, ANeighbourCountsOnceItsBindingStands) {
  policy::Rulebook rulebook = pools_rulebook();
  rulebook.placement_rules = {alone({"team-a"})};
  World world(rulebook, waiting());
  peaceful(world).start();
  world.pod("team-b", "guest", "n-a", bound_at(world, 0s));
  world.wait(29s);
  EXPECT_EQ(world.happened(), Lines{});
  world.wait(1s);
  EXPECT_EQ(world.happened(), (Lines{"opened drift(placement/alone) team-a/train-0",
                                     "opened placement/alone team-b/guest"}));
  world.remove("team-b", "guest");
  EXPECT_EQ(world.happened(), (Lines{"resolved drift(placement/alone) team-a/train-0 holds",
                                     "resolved placement/alone team-b/guest pod-gone"}));
}

TEST(Settling, NothingOpensWhileTheCachesAreOutOfStep) {
  World world(pools_rulebook(), waiting());
  peaceful(world).start();
  world.node("n-a", {});
  world.engine.set_trust({.cluster = false}, world.now);
  world.wait(10min);
  world.pod("team-a", "train-0", "n-a", [](auto& live) { live.pod.host_ipc = true; });
  world.wait(10min);
  EXPECT_EQ(world.happened(), Lines{});
  world.engine.set_trust({}, world.now);
  world.node("n-a", {{"pool", "team-a"}});  // what was missed meanwhile
  world.wait(2s);
  EXPECT_EQ(world.happened(), (Lines{"opened drift(host-namespace) team-a/train-0"}));
}

}  // namespace
}  // namespace xila::observe
