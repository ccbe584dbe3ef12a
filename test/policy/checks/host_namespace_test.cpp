#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

TEST(HostNamespace, EachOfTheThreeIsAViolationOfItsOwn) {
  const Violation network = {"host-namespace", "spec.hostNetwork", "",
                             "spec.hostNetwork gives the Pod the node's network, remove it"};
  const Violation pid = {"host-namespace", "spec.hostPID", "",
                         "spec.hostPID shows the Pod the node's processes, remove it"};
  const Violation ipc = {"host-namespace", "spec.hostIPC", "",
                         "spec.hostIPC gives the Pod the node's IPC objects, remove it"};
  for (unsigned bits = 0; bits < 8; ++bits) {
    SCOPED_TRACE(bits);
    Pod pod = good_pod();
    Violations expected;
    if ((pod.host_network = (bits & 1U) != 0)) expected.push_back(network);
    if ((pod.host_pid = (bits & 2U) != 0)) expected.push_back(pid);
    if ((pod.host_ipc = (bits & 4U) != 0)) expected.push_back(ipc);
    EXPECT_EQ(find("host-namespace", pod), expected);
  }
}

}  // namespace
}  // namespace xila::policy
