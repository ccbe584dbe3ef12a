#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

TEST(ProcMount, MustBeAbsentOrDefault) {
  for (const char* good : {"", "Default"}) {
    Pod pod = good_pod();
    pod.containers[0].proc_mount = good;
    EXPECT_TRUE(find("proc-mount", pod).empty()) << good;
  }
  for (const char* bad : {"Unmasked", "default", "Default ", "unheard-of"}) {
    Pod pod = good_pod();
    pod.containers[0].proc_mount = bad;
    EXPECT_EQ(find("proc-mount", pod),
              (Violations{{"proc-mount", "spec.containers[0].securityContext.procMount", "main",
                           "spec.containers[0] \"main\" has procMount \"" + std::string(bad) +
                               "\", use \"Default\""}}));
  }
}

}  // namespace
}  // namespace xila::policy
