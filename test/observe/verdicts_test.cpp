#include <gtest/gtest.h>

#include "observe/world.hpp"
#include "xila/policy/check.hpp"

// Each finding: what opens it, what it says, what resolves it.
namespace xila::observe {
namespace {

const Evidence& only_evidence(const World& world) {
  EXPECT_EQ(world.last.size(), 1u);
  EXPECT_EQ(world.last.at(0).finding.evidence.size(), 1u);
  return world.last.at(0).finding.evidence.at(0);
}

TEST(Verdicts, TheBoundaryIsTheWebhooks) {
  struct Case {
    const char* check;
    World::Edit edit;
  };
  const Case cases[] = {
      {"privileged", [](auto& live) { live.pod.containers[0].privileged = true; }},
      {"host-namespace", [](auto& live) { live.pod.host_network = true; }},
      {"host-path",
       [](auto& live) {
         live.pod.volumes = {{.name = "d", .has_host_path = true, .host_path = "/"}};
       }},
      {"scheduler", [](auto& live) { live.pod.scheduler_name = "mine"; }},
      {"malformed",
       [](auto& live) {
         live.malformed = {{"malformed", "spec.hostPID", "", "spec.hostPID is a string"}};
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.check);
    World world;
    peaceful(world).start();
    world.pod("team-a", "bad", "n-a", c.edit);
    EXPECT_EQ(world.happened(), (Lines{std::string("opened ") + c.check + " team-a/bad"}));
  }
}

TEST(Verdicts, OneFindingPerCheckWithAllItsEvidence) {
  World world;
  peaceful(world).start();
  world.pod("team-a", "bad", "n-a", [](auto& live) {
    live.pod.host_network = true;
    live.pod.host_pid = true;
  });
  EXPECT_EQ(world.happened(), (Lines{"opened host-namespace team-a/bad"}));
  ASSERT_EQ(world.last[0].finding.evidence.size(), 2u);
  EXPECT_EQ(world.last[0].finding.evidence[0].field, "spec.hostNetwork");
  EXPECT_EQ(world.last[0].finding.evidence[1].field, "spec.hostPID");
  EXPECT_EQ(world.last[0].finding.id, "uid-team-a-bad:host-namespace");
}

// Every bound Pod has a node, and schedulers pin by host name when they place.
TEST(Verdicts, WhatPlacingAPodLeavesBehindIsNoViolation) {
  policy::Rulebook rulebook = pools_rulebook();
  for (const policy::Check& check : policy::checks()) {
    if (check.opt_in) rulebook.extra_checks.emplace(check.id);
  }
  World world(rulebook);
  peaceful(world).start();
  world.pod("team-a", "placed", "n-a", [](auto& live) {
    live.pod.hostname_selector = "n-a";
    live.pod.node_requirements = {{.field = "f", .key = "metadata.name", .op = "In"}};
  });
  EXPECT_EQ(world.happened(), Lines{});
}

TEST(Verdicts, ATrustedDaemonSetsPodIsExemptAndCountsForNobody) {
  policy::Rulebook rulebook = pools_rulebook();
  rulebook.placement_rules.push_back(alone({"team-a"}));
  World world(rulebook);
  peaceful(world);
  world.space("ops", "ops");
  const auto agent = [](codec::LivePod& live) {
    live.pod.host_network = true;
    live.pod.service_account_name = "agent";
    live.pod.owners = {
        {.api_version = "apps/v1", .kind = "DaemonSet", .name = "agent", .controller = true}};
    live.node_choice = codec::NodeChoice::by_creator;
  };
  world.pod("ops", "agent-1", "n-a", agent);
  world.start();
  EXPECT_EQ(world.happened(), Lines{});
  // Of another account it is a Pod like any.
  world.pod("ops", "agent-2", "n-a", [&](auto& live) {
    agent(live);
    live.pod.service_account_name = "other";
  });
  EXPECT_EQ(world.happened(),
            (Lines{"opened drift(placement/alone) team-a/train-0",
                   "opened host-namespace ops/agent-2", "opened pinned ops/agent-2",
                   "opened placement/alone ops/agent-2", "opened placement/pools ops/agent-2"}));
  for (const Transition& step : world.last) {
    EXPECT_EQ(step.finding.owner_name, step.finding.space == "ops" ? "agent" : "");
  }
}

TEST(Verdicts, ARouteLeadsPastTheWebhook) {
  World world;
  peaceful(world).start();
  world.pod("team-a", "past", "n-a", [](auto& live) { live.pod.labels.clear(); });
  EXPECT_EQ(world.happened(), (Lines{"opened route team-a/past"}));
  EXPECT_EQ(only_evidence(world),
            (Evidence{.field = "metadata.labels",
                      .wanted = "a label that profile volcano selects by",
                      .found = "none",
                      .message = "spec.schedulerName \"volcano\" is that of profile volcano, which "
                                 "selects the Pod by none of its labels and has no routeGuard: "
                                 "the Pod came past the admission webhook"}));
  world.pod("team-a", "past", "n-a");
  EXPECT_EQ(world.happened(), (Lines{"resolved route team-a/past holds"}));
}

TEST(Verdicts, WhatSomeWebhookSeesIsNoRoutePast) {
  const auto bare = [](codec::LivePod& live) { live.pod.labels = {{"ray", "r"}}; };
  struct Case {
    const char* name;
    std::function<void(policy::Rulebook&, EngineOptions&)> arrange;
    Lines happened;
  };
  const policy::LabelSelector gpu{{{"gpu", policy::SelectorOperator::exists, {}}}};
  const Case cases[] = {
      {"route guard", [](auto& rulebook, auto&) { rulebook.profiles[0].route_guard = true; }, {}},
      {"another profile selects it",
       [](auto& rulebook, auto&) {
         rulebook.profiles.push_back(
             {.name = "ray",
              .workload_selectors = {{{{"ray", policy::SelectorOperator::exists, {}}}}}});
       },
       {}},
      {"every Pod is reviewed", [](auto&, auto& options) { options.all_reviewed = true; }, {}},
      {"the default scheduler",
       [](auto& rulebook, auto&) { rulebook.profiles[0].scheduler_name = ""; },
       {}},
      {"a namespace that the guard does not see",
       [&](auto& rulebook, auto&) {
         rulebook.profiles[0].route_guard = true;
         rulebook.profiles[0].namespace_selector = gpu;
       },
       {"opened route team-a/past", "opened route team-a/train-0", "opened route team-b/serve-0"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    policy::Rulebook rulebook = pools_rulebook();
    EngineOptions options = World::no_waiting();
    c.arrange(rulebook, options);
    World world(rulebook, options);
    peaceful(world);
    world.pod("team-a", "past", "n-a", bare);
    world.start();
    Lines happened = world.happened();
    std::erase(happened, "opened profile-silent volcano");
    EXPECT_EQ(happened, c.happened);
  }
}

TEST(Verdicts, APinnedPodNeverMetAScheduler) {
  World world;
  peaceful(world).start();
  world.pod("team-a", "pinned", "n-a", [](auto& live) {
    live.node_choice = codec::NodeChoice::by_creator;
    live.node_chooser = "kubectl\n";
  });
  EXPECT_EQ(world.happened(), (Lines{"opened pinned team-a/pinned"}));
  EXPECT_EQ(only_evidence(world),
            (Evidence{.field = "spec.nodeName",
                      .wanted = "set through pods/binding",
                      .found = "set by \"kubectl\\n\"",
                      .message = "spec.nodeName was set by whoever made the Pod, as the field "
                                 "manager \"kubectl\\n\" owns it"}));
  EXPECT_TRUE(world.last[0].finding.is_certain);

  // What was seen once is not unseen when somebody erases it.
  for (const auto choice : {codec::NodeChoice::unknown, codec::NodeChoice::by_binding}) {
    world.pod("team-a", "pinned", "n-a", [&](auto& live) { live.node_choice = choice; });
  }
  EXPECT_EQ(world.happened(), Lines{});
  EXPECT_EQ(world.open(), (Lines{"pinned team-a/pinned"}));
}

TEST(Verdicts, WithoutManagedFieldsNobodyKnows) {
  World world;
  peaceful(world).start();
  world.pod("team-a", "erased", "n-a",
            [](auto& live) { live.node_choice = codec::NodeChoice::unknown; });
  EXPECT_EQ(world.happened(), (Lines{"opened pinned team-a/erased"}));
  EXPECT_EQ(only_evidence(world).found, "unknown");
  EXPECT_FALSE(world.last[0].finding.is_certain);
}

TEST(Verdicts, AClaimMayBeAPathOfTheNode) {
  const auto with_claim = [](codec::LivePod& live) { live.claims = {"data"}; };
  World world;
  peaceful(world);
  world.pod("team-a", "reader", "n-a", with_claim);
  world.start();
  EXPECT_EQ(world.happened(), Lines{});

  const codec::ObjectId claim{.name = "data", .space = "team-a"};
  const codec::ObjectId volume{.name = "pv-1"};
  Engine& engine = world.engine;
  engine.put_claim(claim, {.volume = "pv-1"}, 0, world.now);
  engine.put_volume(volume, {codec::VolumeSource::host_path, "/data", ""}, 0, world.now);
  EXPECT_EQ(world.happened(), Lines{});  // it asks for the volume, and has not got it
  engine.put_claim(claim, {.volume = "pv-1", .is_bound = true}, 0, world.now);
  EXPECT_EQ(world.happened(), (Lines{"opened drift(host-path-claim) team-a/reader"}));
  EXPECT_EQ(only_evidence(world),
            (Evidence{.field = "spec.volumes",
                      .wanted = "a claim to a volume that is no path of a node",
                      .found = "hostPath \"/data\"",
                      .message = "claim \"data\" is bound to PersistentVolume \"pv-1\", which is "
                                 "the hostPath \"/data\""}));
  engine.remove_claim(claim, world.now);
  EXPECT_EQ(world.happened(), (Lines{"resolved drift(host-path-claim) team-a/reader holds"}));

  // The volume's own word counts where no controller writes the claim's phase.
  engine.put_claim(claim, {.volume = "pv-1"}, 0, world.now);
  engine.put_volume(volume, {codec::VolumeSource::local, "/nvme", "team-a/data"}, 0, world.now);
  EXPECT_EQ(world.happened(), (Lines{"opened drift(host-path-claim) team-a/reader"}));
  engine.put_volume(volume, {codec::VolumeSource::local, "/nvme", "team-b/data"}, 0, world.now);
  EXPECT_EQ(world.happened(), (Lines{"resolved drift(host-path-claim) team-a/reader holds"}));
  engine.put_volume(volume, {codec::VolumeSource::local, "/nvme", "team-a/data"}, 0, world.now);
  world.happened();
  engine.put_volume(volume, {}, 0, world.now);
  EXPECT_EQ(world.happened(), (Lines{"resolved drift(host-path-claim) team-a/reader holds"}));
}

TEST(Verdicts, ClaimsOfAnUnknownStorageAreNotJudged) {
  World world;
  peaceful(world);
  world.engine.put_claim({.name = "data", .space = "team-a"}, {.volume = "pv-1", .is_bound = true},
                         0, world.now);
  world.engine.put_volume({.name = "pv-1"}, {codec::VolumeSource::host_path, "/", ""}, 0,
                          world.now);
  world.pod("team-a", "reader", "n-a", [](auto& live) { live.claims = {"data"}; });
  world.engine.set_trust({.storage = false}, world.now);
  world.start();
  EXPECT_EQ(world.happened(), Lines{});
  world.engine.set_trust({}, world.now);
  EXPECT_EQ(world.happened(), (Lines{"opened drift(host-path-claim) team-a/reader"}));
  // Nor is what was found resolved while nobody can look.
  world.engine.set_trust({.storage = false}, world.now);
  world.pod("team-a", "reader", "n-a", [](auto& live) {
    live.claims = {"data"};
    live.pod.labels.push_back({"x", "y"});
  });
  EXPECT_EQ(world.happened(), Lines{});
}

TEST(Verdicts, ExclusiveNodesHoldOneTenant) {
  policy::Rulebook rulebook = pools_rulebook();
  rulebook.placement_rules = {alone({"team-a"})};
  World world(rulebook);
  peaceful(world).start();
  world.pod("team-b", "guest", "n-a");
  EXPECT_EQ(world.happened(), (Lines{"opened drift(placement/alone) team-a/train-0",
                                     "opened placement/alone team-b/guest"}));
  // A neighbour that ends, moves away or changes hands is seen at once.
  world.pod("team-a", "train-1", "n-a");
  EXPECT_EQ(world.happened(), (Lines{"opened placement/alone team-a/train-1"}));
  world.space("team-b", "team-a");
  EXPECT_EQ(world.happened(),
            (Lines{"opened drift(tenant) team-b/guest", "opened drift(tenant) team-b/serve-0",
                   "resolved drift(placement/alone) team-a/train-0 holds",
                   "resolved placement/alone team-a/train-1 holds",
                   "resolved placement/alone team-b/guest holds"}));
}

TEST(Verdicts, AProfileThatSelectsNobodyIsSilent) {
  World world;
  world.space("team-a", "team-a");
  world.node("n-a", {{"pool", "shared"}});
  world.start();
  EXPECT_EQ(world.happened(), Lines{});
  world.pod("team-a", "p", "n-a", [](auto& live) { live.pod.labels = {{"volcano.sh/job", "j"}}; });
  EXPECT_EQ(world.happened(), (Lines{"opened profile-silent volcano", "opened route team-a/p"}));
  const auto silent = std::ranges::find_if(
      world.last, [](const Transition& t) { return t.finding.name == "profile-silent"; });
  EXPECT_EQ(silent->finding.id, "profile/volcano:profile-silent");
  EXPECT_EQ(silent->finding.evidence[0].message,
            "Pods run with schedulerName \"volcano\", and no selector of profile volcano matches "
            "any Pod: the selector is probably wrong");
  EXPECT_EQ(world.open(), (Lines{"profile-silent volcano", "route team-a/p"}));

  world.pod("team-a", "q", "n-a");
  EXPECT_EQ(world.happened(), (Lines{"resolved profile-silent volcano holds"}));
  world.remove("team-a", "q");
  EXPECT_EQ(world.happened(), (Lines{"opened profile-silent volcano"}));
  world.use({});
  EXPECT_EQ(world.happened(),
            (Lines{"opened drift(scheduler) team-a/p", "resolved profile-silent volcano policy",
                   "resolved route team-a/p policy"}));
}

TEST(Verdicts, AProfileWhoseSchedulerServesAnotherIsNotSilent) {
  policy::Rulebook rulebook = pools_rulebook();
  rulebook.profiles.push_back(
      {.name = "ray",
       .scheduler_name = "volcano",
       .workload_selectors = {{{{"ray", policy::SelectorOperator::exists, {}}}}}});
  World world(rulebook);
  peaceful(world).start();
  EXPECT_EQ(world.happened(), Lines{});
  world.pod("team-a", "stray", "n-a", [](auto& live) { live.pod.labels.clear(); });
  EXPECT_EQ(world.happened(), (Lines{"opened profile-silent ray", "opened route team-a/stray"}));
}

}  // namespace
}  // namespace xila::observe
