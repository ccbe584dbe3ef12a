#include "engine.hpp"

#include <gtest/gtest.h>

#include "observe/world.hpp"

namespace xila::observe {
namespace {

TEST(Engine, SaysNothingOfAPeacefulCluster) {
  World world;
  peaceful(world).start();
  EXPECT_EQ(world.happened(), Lines{});
  EXPECT_TRUE(world.engine.has_judged_all());
  EXPECT_EQ(world.engine.next_due(), Steady{});
}

TEST(Engine, JudgesNothingBeforeAllIsListed) {
  World world;
  world.space("team-a", "team-a");
  world.pod("team-a", "train-0", "n-a");
  world.node("n-a", {});
  world.wait(1h);
  EXPECT_EQ(world.happened(), Lines{});
  world.node("n-a", {{"pool", "team-a"}});
  world.start();
  EXPECT_EQ(world.happened(), Lines{});
}

TEST(Engine, WhatStandsAtTheFirstLookIsTheBaseline) {
  World world;
  peaceful(world);
  world.node("n-a", {});
  world.start();
  EXPECT_EQ(world.happened(), (Lines{"opened placement/pools team-a/train-0"}));
  ASSERT_EQ(world.last.size(), 1u);
  EXPECT_TRUE(world.last[0].is_baseline);

  const Finding& finding = world.last[0].finding;
  const Finding expected{.id = "uid-team-a-train-0:placement/pools:node-n-a",
                         .name = "placement/pools",
                         .check = "placement/pools",
                         .tenant = "team-a",
                         .profile = "volcano",
                         .space = "team-a",
                         .pod = "train-0",
                         .pod_uid = "uid-team-a-train-0",
                         .node = "n-a",
                         .node_uid = "node-n-a",
                         .since = world.now.wall,
                         .evidence = {{.field = "metadata.labels[pool]",
                                       .wanted = "pool in (team-a, shared)",
                                       .found = "pool not set",
                                       .message = "node n-a has pool not set, rule pools wants "
                                                  "pool in (team-a, shared) for tenant team-a"}}};
  EXPECT_EQ(finding, expected);
  EXPECT_EQ(world.engine.findings(10, ""), std::vector<Finding>{expected});
  EXPECT_EQ(world.engine.findings(10, "team-b"), std::vector<Finding>{});
}

TEST(Engine, AnOpenFindingIsNotSaidTwice) {
  World world;
  peaceful(world);
  world.node("n-a", {});
  world.start();
  world.happened();
  world.node("n-a", {{"zone", "z"}});
  world.pod("team-a", "train-0", "n-a");
  world.pod("team-a", "train-0", "n-a", [](auto& live) { live.pod.labels.push_back({"x", "y"}); });
  world.space("team-a", "team-a", {{"x", "y"}});
  world.use(pools_rulebook());
  world.wait(1h);
  EXPECT_EQ(world.happened(), Lines{});
}

TEST(Engine, ANodeThatLosesItsLabelIsDriftUntilItGetsItBack) {
  World world;
  peaceful(world).start();
  world.node("n-a", {{"pool", "team-b"}});
  EXPECT_EQ(world.happened(), (Lines{"opened drift(placement/pools) team-a/train-0"}));
  EXPECT_FALSE(world.last[0].is_baseline);
  EXPECT_EQ(world.last[0].finding.evidence[0].found, "pool=team-b");

  world.node("n-a", {{"pool", "team-c"}});
  EXPECT_EQ(world.happened(), (Lines{"changed drift(placement/pools) team-a/train-0"}));
  EXPECT_EQ(world.last[0].finding.evidence[0].found, "pool=team-c");

  world.node("n-a", {{"pool", "shared"}});
  EXPECT_EQ(world.happened(), (Lines{"resolved drift(placement/pools) team-a/train-0 holds"}));
  EXPECT_EQ(world.open(), Lines{});
}

TEST(Engine, ANamespaceThatChangesItsTenantIsDrift) {
  World world;
  peaceful(world).start();
  world.space("team-a", "team-b");
  EXPECT_EQ(world.happened(), (Lines{"opened drift(placement/pools) team-a/train-0",
                                     "opened drift(tenant) team-a/train-0"}));
  const auto tenant = std::ranges::find_if(
      world.last, [](const Transition& t) { return t.finding.check == "tenant"; });
  EXPECT_EQ(tenant->finding.tenant, "team-b");
  EXPECT_EQ(tenant->finding.evidence,
            (std::vector<Evidence>{
                {.field = "metadata.namespace",
                 .wanted = "tenant team-a",
                 .found = "tenant team-b",
                 .message = "namespace team-a was tenant team-a's when the Pod was first seen, and "
                            "is tenant team-b's now"}}));

  world.space("team-a", "");
  EXPECT_EQ(world.happened(), (Lines{"changed drift(tenant) team-a/train-0",
                                     "resolved drift(placement/pools) team-a/train-0 holds"}));
  world.space("team-a", "team-a");
  EXPECT_EQ(world.happened(), (Lines{"resolved drift(tenant) team-a/train-0 holds"}));
}

TEST(Engine, APolicyThatAsksForMoreIsDriftAndOneThatAsksForLessResolves) {
  World world;
  peaceful(world).start();
  policy::Rulebook more = pools_rulebook();
  more.placement_rules.push_back(
      {.name = "attested",
       .tenants = {"team-b"},
       .require = {{{"attested", policy::SelectorOperator::exists, {}}}}});
  world.use(more);
  EXPECT_EQ(world.happened(), (Lines{"opened drift(placement/attested) team-b/serve-0"}));
  world.use(pools_rulebook());
  EXPECT_EQ(world.happened(), (Lines{"resolved drift(placement/attested) team-b/serve-0 policy"}));
}

TEST(Engine, PodsThatEndOrAreDeletedTakeTheirFindingsWithThem) {
  struct Case {
    const char* name;
    std::function<void(World&)> end;
  };
  const Case cases[] = {
      {"deleted", [](World& w) { w.remove("team-a", "train-0"); }},
      {"ended",
       [](World& w) {
         w.pod("team-a", "train-0", "n-a", [](auto& live) { live.has_ended = true; });
       }},
      {"being deleted",
       [](World& w) {
         w.pod("team-a", "train-0", "n-a", [](auto& live) { live.is_terminating = true; });
       }},
      {"not in a whole list",
       [](World& w) { w.engine.keep_pods_of(w.engine.begin_list(), w.now); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    World world;
    world.space("team-a", "team-a");
    world.node("n-a", {});
    world.pod("team-a", "train-0", "n-a");
    world.start();
    world.happened();
    c.end(world);
    EXPECT_EQ(world.happened(), (Lines{"resolved placement/pools team-a/train-0 pod-gone"}));
    EXPECT_EQ(world.engine.sizes().pods, 0u);
    EXPECT_EQ(world.engine.ledger().total(), 0u);
  }
}

TEST(Engine, OnlyBoundPodsThatLiveAreJudged) {
  World world;
  world.space("team-a", "team-a");
  world.node("n-a", {});
  world.start();
  world.pod("team-a", "pending", "");
  world.pod("team-a", "ended", "n-a", [](auto& live) { live.has_ended = true; });
  world.pod("team-a", "going", "n-a", [](auto& live) { live.is_terminating = true; });
  EXPECT_EQ(world.happened(), Lines{});
  EXPECT_EQ(world.engine.sizes().pods, 0u);
}

// The same name, another Pod: what was found about the first goes with it.
TEST(Engine, APodThatTookANameIsAnotherPod) {
  World world;
  peaceful(world);
  world.node("n-a", {});
  world.start();
  world.happened();
  world.pod("team-a", "train-0", "n-a", {}, "uid-2");
  EXPECT_EQ(world.happened(), (Lines{"opened placement/pools team-a/train-0"}));
  world.remove("team-a", "train-0");
  EXPECT_EQ(world.happened(), (Lines{"resolved placement/pools team-a/train-0 pod-gone"}));
  EXPECT_EQ(world.open(), (Lines{"placement/pools team-a/train-0"}));
}

TEST(Engine, AListThatFailedHalfWayForgetsNobody) {
  World world;
  peaceful(world);
  world.node("n-a", {});
  world.start();
  world.happened();
  world.list = world.engine.begin_list();
  world.pod("team-b", "serve-0", "n-b");  // then the list breaks off
  world.list = world.engine.begin_list();
  world.pod("team-b", "serve-0", "n-b");
  world.pod("team-a", "train-0", "n-a");
  world.engine.keep_pods_of(world.list, world.now);
  EXPECT_EQ(world.happened(), Lines{});
  EXPECT_EQ(world.engine.sizes().pods, 2u);
}

TEST(Engine, ANodeReplacedUnderItsNameIsANewNode) {
  World world;
  peaceful(world);
  world.node("n-a", {});
  world.start();
  world.happened();
  world.node("n-a", {}, "another");
  EXPECT_EQ(world.happened(), (Lines{"opened placement/pools team-a/train-0",
                                     "resolved placement/pools team-a/train-0 node-replaced"}));
  EXPECT_EQ(world.engine.findings(9, "")[0].id, "uid-team-a-train-0:placement/pools:another");
}

// That a node is gone says nothing about the Pods on it: they go too, or a node takes its name.
TEST(Engine, ANodeThatIsGoneResolvesNothing) {
  for (const bool by_list : {false, true}) {
    World world;
    peaceful(world);
    world.node("n-a", {});
    world.start();
    world.happened();
    if (by_list) {
      world.engine.keep_nodes_of(world.engine.begin_list(), world.now);
    } else {
      world.engine.remove_node({.name = "n-a", .uid = "an older one"}, world.now);
      world.engine.remove_node({.name = "n-a", .uid = "node-n-a"}, world.now);
    }
    world.pod("team-a", "train-0", "n-a",
              [](auto& live) { live.pod.labels.push_back({"volcano.sh/job-name", "x"}); });
    EXPECT_EQ(world.happened(), Lines{});
    EXPECT_EQ(world.open(), (Lines{"placement/pools team-a/train-0"}));
    world.node("n-a", {{"pool", "shared"}}, "node-n-a");
    EXPECT_EQ(world.happened(), (Lines{"resolved placement/pools team-a/train-0 holds"}));
  }
}

TEST(Engine, APodOnAnUnknownNodeIsNotHeldToIt) {
  World world;
  world.space("team-a", "team-a");
  world.pod("team-a", "train-0", "nowhere");
  world.start();
  EXPECT_EQ(world.happened(), Lines{});
  world.node("nowhere", {});
  EXPECT_EQ(world.happened(), (Lines{"opened placement/pools team-a/train-0"}));
}

TEST(Engine, NamespacesWithoutATenantAreNobodysMatter) {
  World world;
  world.space("kube-system", "");
  world.node("n-a", {});
  world.pod("kube-system", "proxy", "n-a", [](auto& live) {
    live.pod.labels.clear();
    live.pod.scheduler_name = "default-scheduler";
    live.pod.host_network = true;
    live.node_choice = codec::NodeChoice::by_creator;
  });
  world.start();
  EXPECT_EQ(world.happened(), Lines{});
  // Once it is a tenant's it is judged, and what is found was there before.
  world.space("kube-system", "team-a");
  EXPECT_EQ(world.happened(),
            (Lines{"opened host-namespace kube-system/proxy", "opened pinned kube-system/proxy",
                   "opened placement/pools kube-system/proxy"}));
}

// What a profile's webhook would deny for want of a tenant is found where it is there already.
TEST(Engine, AProfilesPodWithoutATenantIsFound) {
  World world;
  world.space("stray", "");
  world.node("n-a", {});
  world.pod("stray", "train-0", "n-a");
  world.start();
  EXPECT_EQ(world.happened(), (Lines{"opened tenant stray/train-0"}));
  world.space("stray", "team-a");
  EXPECT_EQ(world.happened(),
            (Lines{"opened placement/pools stray/train-0", "resolved tenant stray/train-0 holds"}));
}

TEST(Engine, TheStaticMapNamesATenantWithoutANamespace) {
  World world;
  policy::Rulebook rulebook = pools_rulebook();
  rulebook.static_tenants = {{"team-a", "bank"}};
  world.use(rulebook);
  world.node("n-a", {{"pool", "team-a"}});
  world.pod("team-a", "train-0", "n-a");
  world.start();
  EXPECT_EQ(world.happened(), (Lines{"opened placement/pools team-a/train-0"}));
  EXPECT_EQ(world.last[0].finding.tenant, "bank");
}

TEST(Engine, ServersWithoutUidsAreServedByNames) {
  World world;
  world.space("team-a", "team-a");
  world.node("n-a", {});
  world.start();
  world.engine.put_pod({.name = "p", .space = "team-a"}, good_pod("p", "n-a"), 0, world.now);
  EXPECT_EQ(world.happened(), (Lines{"opened placement/pools team-a/p"}));
  EXPECT_EQ(world.last[0].finding.id, "team-a/p:placement/pools:node-n-a");
  EXPECT_EQ(world.last[0].finding.pod_uid, "");
  world.engine.put_pod({.name = "p", .space = "team-a"}, good_pod("p", "n-b"), 0, world.now);
  EXPECT_EQ(world.happened(), (Lines{"resolved placement/pools team-a/p pod-gone"}));
}

TEST(Engine, CountsWhatIsOpenByFindingAndTenant) {
  World world;
  peaceful(world);
  world.pod("team-a", "train-1", "n-b");
  world.pod("team-a", "train-2", "n-b", [](auto& live) { live.pod.host_pid = true; });
  world.start();
  const Ledger::Counts expected{{{"host-namespace", "team-a"}, 1},
                                {{"placement/pools", "team-a"}, 2}};
  EXPECT_EQ(world.engine.ledger().open(), expected);
  world.space("team-a", "team-b");
  world.happened();
  const Ledger::Counts after{{{"drift", "team-b"}, 4},
                             {{"host-namespace", "team-a"}, 0},
                             {{"host-namespace", "team-b"}, 1},
                             {{"placement/pools", "team-a"}, 0}};
  EXPECT_EQ(world.engine.ledger().open(), after);
  EXPECT_EQ(world.engine.ledger().total(), 5u);
}

}  // namespace
}  // namespace xila::observe
