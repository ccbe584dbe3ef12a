#include <algorithm>

#include "checks/checks.hpp"
#include "place.hpp"
#include "xila/base/text.hpp"

namespace xila::policy {
namespace {

// Source: pod-security-admission/policy/check_capabilities_baseline.go, Kubernetes v1.34.
constexpr std::string_view kBaseline[] = {
    "AUDIT_WRITE",      "CHOWN",   "DAC_OVERRIDE", "FOWNER",  "FSETID", "KILL",       "MKNOD",
    "NET_BIND_SERVICE", "SETFCAP", "SETGID",       "SETPCAP", "SETUID", "SYS_CHROOT",
};

bool is_baseline(std::string_view capability) {
  return std::ranges::find(kBaseline, capability) != std::end(kBaseline);
}

}  // namespace

// Some capabilities are as good as privileged: SYS_ADMIN, SYS_MODULE, ALL.
//
//   Field
//   spec.{containers,initContainers,ephemeralContainers}[*].securityContext.capabilities.add[*]
//   Allowed  Pod Security's baseline, spelled as Kubernetes spells it: other spellings, CAP_CHOWN
//   too, are
//            left to runtimes and so are denied
void check_capabilities(const CheckInput& input, Violations& found) {
  for (const Container& container : input.pod.containers) {
    for (std::size_t i = 0; i < container.added_capabilities.size(); ++i) {
      const std::string& capability = container.added_capabilities[i];
      if (is_baseline(capability)) continue;
      found.push_back(
          {"capabilities",
           path_of(container) + ".securityContext.capabilities.add[" + std::to_string(i) + ']',
           container.name,
           named(container) + " adds capability " + base::quote(capability) +
               ", beyond the Pod Security baseline, remove it"});
    }
  }
}

}  // namespace xila::policy
