#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

TEST(Capabilities, OnlyThePodSecurityBaselineMayBeAdded) {
  const char* const baseline[] = {"AUDIT_WRITE", "CHOWN",  "DAC_OVERRIDE",     "FOWNER",  "FSETID",
                                  "KILL",        "MKNOD",  "NET_BIND_SERVICE", "SETFCAP", "SETGID",
                                  "SETPCAP",     "SETUID", "SYS_CHROOT"};
  const char* const beyond[] = {"SYS_ADMIN", "NET_RAW",   "NET_ADMIN", "ALL", "all",
                                "chown",     "CAP_CHOWN", "CHOWN ",    "",    "BPF"};
  for (const char* capability : baseline) {
    Pod pod = good_pod();
    pod.containers[0].added_capabilities = {capability};
    EXPECT_TRUE(find("capabilities", pod).empty()) << capability;
  }
  for (const char* capability : beyond) {
    Pod pod = good_pod();
    pod.containers[0].added_capabilities = {capability};
    EXPECT_EQ(find("capabilities", pod).size(), 1U) << capability;
  }
}

TEST(Capabilities, EachIsNamedWithItsPlace) {
  Pod pod = good_pod();
  pod.containers[0].added_capabilities = {"SYS_ADMIN", "CHOWN", "NET_RAW"};
  EXPECT_EQ(
      find("capabilities", pod),
      (Violations{
          {"capabilities", "spec.containers[0].securityContext.capabilities.add[0]", "main",
           R"(spec.containers[0] "main" adds capability "SYS_ADMIN", beyond the Pod Security baseline, remove it)"},
          {"capabilities", "spec.containers[0].securityContext.capabilities.add[2]", "main",
           R"(spec.containers[0] "main" adds capability "NET_RAW", beyond the Pod Security baseline, remove it)"}}));
}

}  // namespace
}  // namespace xila::policy
