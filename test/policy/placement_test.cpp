#include "xila/policy/placement.hpp"

#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

const PlacementRule kPools{
    .name = "tenant-pools",
    .tenants = {"*"},
    .require = {{{"guard.xila.us/pool", SelectorOperator::in, {"$(tenant)", "shared"}}}}};
const PlacementRule kAttested{
    .name = "attested-alone",
    .tenants = {"bank-a", "bank-b"},
    .require = {{{"guard.xila.us/attested", SelectorOperator::in, {"true"}}}},
    .exclusive = true};

struct Situation {
  std::string tenant = "team-a";
  Labels labels;
  std::vector<std::string> on_node;
};

PlacementViolations evaluate(const Situation& situation, std::vector<PlacementRule> rules,
                             const Pod& pod = good_pod(), std::string_view space = "jobs") {
  Rulebook rulebook = volcano_rulebook();
  rulebook.placement_rules = std::move(rules);
  const TenantResolution tenant = TenantResolution::resolved(situation.tenant);
  const Node node{.name = "gpu-7", .labels = situation.labels};
  return evaluate_placement({.pod = pod,
                             .space = space,
                             .tenant = tenant,
                             .node = node,
                             .tenants_on_node = situation.on_node},
                            rulebook);
}

std::vector<std::string> messages_of(const PlacementViolations& violations) {
  std::vector<std::string> messages;
  for (const PlacementViolation& violation : violations) messages.push_back(violation.message);
  return messages;
}

TEST(Placement, LabelsOfTheNodeMustSuitTheTenant) {
  struct Case {
    const char* name;
    Situation situation;
    std::vector<std::string> messages;
  };
  const Case cases[] = {
      {"its own pool", {.labels = {{"guard.xila.us/pool", "team-a"}}}, {}},
      {"the shared pool", {.labels = {{"guard.xila.us/pool", "shared"}}}, {}},
      {"another tenant's pool",
       {.labels = {{"guard.xila.us/pool", "team-b"}}},
       {"node gpu-7 has guard.xila.us/pool=team-b, rule tenant-pools wants guard.xila.us/pool in "
        "(team-a, shared) for tenant team-a"}},
      {"no pool",
       {.labels = {{"guard.xila.us/Pool", "team-a"}}},
       {"node gpu-7 has guard.xila.us/pool not set, rule tenant-pools wants guard.xila.us/pool in "
        "(team-a, shared) for tenant team-a"}},
      {"an empty pool",
       {.labels = {{"guard.xila.us/pool", ""}}},
       {"node gpu-7 has guard.xila.us/pool=, rule tenant-pools wants guard.xila.us/pool in "
        "(team-a, shared) for tenant team-a"}},
      {"a prefix of the tenant's name",
       {.labels = {{"guard.xila.us/pool", "team"}}},
       {"node gpu-7 has guard.xila.us/pool=team, rule tenant-pools wants guard.xila.us/pool in "
        "(team-a, shared) for tenant team-a"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(messages_of(evaluate(c.situation, {kPools})), c.messages);
  }
}

TEST(Placement, EveryOperatorSaysWhatItWantedAndWhatIsThere) {
  struct Case {
    SelectorRequirement requirement;
    Labels labels;
    std::string wanted;
    std::string found;
  };
  const Case cases[] = {
      {{"zone", SelectorOperator::exists, {}}, {}, "zone set", "zone not set"},
      {{"zone", SelectorOperator::does_not_exist, {}}, {{"zone", "a"}}, "zone not set", "zone=a"},
      {{"zone", SelectorOperator::in, {"pool-$(tenant)"}},
       {{"zone", "a"}},
       "zone=pool-team-a",
       "zone=a"},
      {{"zone", SelectorOperator::not_in, {"a", "b"}},
       {{"zone", "a"}},
       "zone notin (a, b)",
       "zone=a"},
  };
  for (const Case& c : cases) {
    const PlacementRule rule{.name = "r", .tenants = {"team-a"}, .require = {{c.requirement}}};
    const PlacementViolations found = evaluate({.labels = c.labels}, {rule});
    ASSERT_EQ(found.size(), 1u) << c.wanted;
    EXPECT_EQ(found[0].rule, "r");
    EXPECT_EQ(found[0].field, "metadata.labels[zone]");
    EXPECT_EQ(found[0].wanted, c.wanted);
    EXPECT_EQ(found[0].found, c.found);
  }
}

TEST(Placement, ARuleAsksOnlyForItsTenants) {
  EXPECT_EQ(evaluate({.tenant = "team-a"}, {kAttested}), PlacementViolations{});
  EXPECT_EQ(evaluate({.tenant = "bank-a"}, {kAttested}).size(), 1u);
  EXPECT_EQ(evaluate({.tenant = "*"}, {kAttested}), PlacementViolations{});
}

TEST(Placement, AllRulesAndAllRequirementsAreNamed) {
  PlacementRule both = kAttested;
  both.require.requirements.push_back({"zone", SelectorOperator::exists, {}});
  const PlacementViolations found = evaluate({.tenant = "bank-a"}, {kPools, both});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].rule, "tenant-pools");
  EXPECT_EQ(found[1].field, "metadata.labels[guard.xila.us/attested]");
  EXPECT_EQ(found[2].field, "metadata.labels[zone]");
}

TEST(Placement, AnExclusiveRuleBindsBothSides) {
  struct Case {
    const char* name;
    Situation situation;
    std::vector<std::string> messages;
  };
  const Labels attested{{"guard.xila.us/attested", "true"}};
  const Case cases[] = {
      {"alone", {"bank-a", attested, {}}, {}},
      {"with its own", {"bank-a", attested, {"bank-a", "bank-a"}}, {}},
      {"with another",
       {"bank-a", attested, {"team-c", "bank-a", "team-b", "team-b"}},
       {"node gpu-7 also holds Pods of team-b, team-c, rule attested-alone keeps it for tenant "
        "bank-a alone"}},
      {"the other one",
       {"team-b", {}, {"bank-a", "team-c"}},
       {"node gpu-7 holds Pods of bank-a, for which rule attested-alone keeps it"}},
      {"neither", {"team-b", {}, {"team-c"}}, {}},
      {"two of the same rule",
       {"bank-a", attested, {"bank-b"}},
       {"node gpu-7 also holds Pods of bank-b, rule attested-alone keeps it for tenant bank-a "
        "alone"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(messages_of(evaluate(c.situation, {kAttested})), c.messages);
  }
}

TEST(Placement, ManyTenantsAreCounted) {
  std::vector<std::string> tenants;
  for (int i = 10; i < 30; ++i) tenants.push_back("t" + std::to_string(i));
  const PlacementRule alone{.name = "alone", .tenants = {"*"}, .exclusive = true};
  const PlacementViolations found = evaluate({.on_node = tenants}, {alone});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].found, "t10, t11, t12, t13, t14, t15, t16, t17, t18, t19 and 10 more");
}

// A tenant's name is data: what looks like a placeholder or a text to escape in it stays itself.
TEST(Placement, ATenantsNameIsPutInOnce) {
  const PlacementViolations found = evaluate({.tenant = "$(tenant)\n"}, {kPools});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].wanted, "guard.xila.us/pool in ($(tenant)\\n, shared)");
}

TEST(Placement, WithoutATenantNothingHolds) {
  Rulebook rulebook = volcano_rulebook();
  rulebook.placement_rules = {kPools, kAttested};
  const Pod pod = good_pod();
  const Node node{.name = "gpu-7", .labels = {{"guard.xila.us/pool", "shared"}}};
  for (const TenantResolution& tenant :
       {TenantResolution{}, TenantResolution::unresolved("no label"),
        TenantResolution::lookup_failed("timeout"), TenantResolution::resolved("")}) {
    const PlacementViolations found = evaluate_placement(
        {.pod = pod, .space = "jobs", .tenant = tenant, .node = node, .tenants_on_node = {}},
        rulebook);
    EXPECT_EQ(messages_of(found),
              (std::vector<std::string>{"the tenant of namespace jobs is not known, so rule "
                                        "tenant-pools cannot be said to hold",
                                        "the tenant of namespace jobs is not known, so rule "
                                        "attested-alone cannot be said to hold"}));
  }
}

TEST(Placement, ATrustedDaemonSetsPodMayRunAnywhere) {
  Pod pod = good_pod();
  pod.service_account_name = "nvidia-device-plugin";
  pod.owners = {{.api_version = "apps/v1", .kind = "DaemonSet", .name = "p", .controller = true}};
  EXPECT_EQ(evaluate({}, {kPools}, pod, "gpu-system"), PlacementViolations{});
  EXPECT_EQ(evaluate({}, {kPools}, pod, "team-a").size(), 1u);
}

TEST(Placement, OnlyAnExclusiveRuleMakesCompanyMatter) {
  Rulebook rulebook = volcano_rulebook();
  EXPECT_FALSE(has_exclusive_rule(rulebook));
  rulebook.placement_rules = {kPools};
  EXPECT_FALSE(has_exclusive_rule(rulebook));
  rulebook.placement_rules = {kPools, kAttested};
  EXPECT_TRUE(has_exclusive_rule(rulebook));
}

}  // namespace
}  // namespace xila::policy
