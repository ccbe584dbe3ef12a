#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

TEST(NodeAffinityPin, AHostNameSelectorPinsWhateverItsValue) {
  EXPECT_TRUE(find("node-affinity-pin", good_pod()).empty());

  for (const char* host : {"gpu-7", ""}) {
    Pod pod = good_pod();
    pod.hostname_selector = host;
    EXPECT_EQ(find("node-affinity-pin", pod),
              (Violations{{"node-affinity-pin", "spec.nodeSelector[kubernetes.io/hostname]", "",
                           "spec.nodeSelector pins host \"" + std::string(host) +
                               "\", leave the choice to the scheduler"}}));
  }
}

TEST(NodeAffinityPin, EveryOperatorButExistsSinglesNodesOut) {
  struct Case {
    const char* key;
    const char* op;
    std::vector<std::string> values;
    const char* shown;  // "" = allowed
  };
  const Case cases[] = {
      {"kubernetes.io/hostname", "Exists", {}, ""},
      {"kubernetes.io/hostname", "In", {"a"}, R"(kubernetes.io/hostname In "a")"},
      {"kubernetes.io/hostname",
       "NotIn",
       {"a", "b", "c", "d", "e"},
       R"(kubernetes.io/hostname NotIn "a", "b", "c" and 2 more)"},
      {"kubernetes.io/hostname", "DoesNotExist", {}, "kubernetes.io/hostname DoesNotExist"},
      {"kubernetes.io/hostname", "Gt", {"1"}, R"(kubernetes.io/hostname Gt "1")"},
      {"kubernetes.io/hostname", "exists", {}, "kubernetes.io/hostname exists"},
      {"kubernetes.io/hostname", "", {}, R"(kubernetes.io/hostname "")"},
      {"metadata.name", "In", {"a"}, R"(metadata.name In "a")"},
      {"metadata.name", "NotIn", {"a"}, R"(metadata.name NotIn "a")"},
      {"metadata.name", "Exists", {}, "metadata.name Exists"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.key) + ' ' + c.op);
    const std::string field = "spec.affinity.nodeAffinity.matchFields[0]";
    Pod pod = good_pod();
    pod.node_requirements = {{field, c.key, c.op, c.values}};
    Violations expected;
    if (*c.shown != '\0') {
      expected.push_back(
          {"node-affinity-pin", field, "",
           field + " chooses nodes by name (" + c.shown + "), leave the choice to the scheduler"});
    }
    EXPECT_EQ(find("node-affinity-pin", pod), expected);
  }
}

TEST(NodeAffinityPin, IsNotJudgedOnUpdate) {
  Pod pinned = good_pod();
  pinned.hostname_selector = "gpu-7";
  pinned.node_requirements = {{"spec.affinity", "metadata.name", "In", {"gpu-7"}}};
  EXPECT_EQ(decide_volcano(update_review(good_pod(), pinned), strictest_rulebook()).outcome,
            Outcome::allowed);
  EXPECT_EQ(decide_volcano(create_review(pinned), strictest_rulebook()).violations.size(), 2U);
}

}  // namespace
}  // namespace xila::policy
