#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

TEST(NodePin, AnyNodeNameIsDenied) {
  EXPECT_TRUE(find("node-pin", good_pod()).empty());

  Pod pod = good_pod();
  pod.node_name = "gpu-7";
  EXPECT_EQ(
      find("node-pin", pod),
      (Violations{{"node-pin", "spec.nodeName", "",
                   R"(spec.nodeName pins node "gpu-7", leave the choice to the scheduler)"}}));
  pod.node_name = std::string("\0", 1);
  EXPECT_EQ(messages_of(find("node-pin", pod)),
            std::vector<std::string>{
                R"(spec.nodeName pins node "\u0000", leave the choice to the scheduler)"});
}

}  // namespace
}  // namespace xila::policy
