#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

TEST(HostPort, EveryPortIsNamed) {
  EXPECT_TRUE(find("host-port", good_pod()).empty());

  Pod pod = good_pod();
  pod.containers[0].host_ports = {{0, 8080}, {2, -1}};
  EXPECT_EQ(
      find("host-port", pod),
      (Violations{
          {"host-port", "spec.containers[0].ports[0].hostPort", "main",
           R"(spec.containers[0] "main" opens port 8080 of the node, remove hostPort and use a Service)"},
          {"host-port", "spec.containers[0].ports[2].hostPort", "main",
           R"(spec.containers[0] "main" opens port -1 of the node, remove hostPort and use a Service)"}}));
}

}  // namespace
}  // namespace xila::policy
