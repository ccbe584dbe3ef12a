#pragma once

#include "xila/policy/check.hpp"

// The table of checks. To add one: a file <id>.cpp here, its declaration and its row.
namespace xila::policy {

void check_tenant(const CheckInput&, Violations& found);
void check_scheduler(const CheckInput&, Violations& found);
void check_node_pin(const CheckInput&, Violations& found);
void check_privileged(const CheckInput&, Violations& found);
void check_host_namespace(const CheckInput&, Violations& found);
void check_host_path(const CheckInput&, Violations& found);
void check_label(const CheckInput&, Violations& found);
void check_host_port(const CheckInput&, Violations& found);
void check_capabilities(const CheckInput&, Violations& found);
void check_proc_mount(const CheckInput&, Violations& found);
void check_node_affinity_pin(const CheckInput&, Violations& found);
void check_gpu_visible_devices(const CheckInput&, Violations& found);

inline constexpr bool kAlways = false;
inline constexpr bool kOptIn = true;

// A check runs on the old object too, to find what an UPDATE may keep. So it must judge each
// container, volume or field by itself: it may not stop at the first and may not look at anything
// outside its input.
inline constexpr Check kChecks[] = {
    {"tenant", Applies::on_create, kAlways, "The Pod's namespace belongs to no known tenant",
     check_tenant},
    {"scheduler", Applies::on_create, kAlways, "The Pod asks for a scheduler that is not accepted",
     check_scheduler},
    {"node-pin", Applies::on_create, kAlways, "The Pod chooses its node by spec.nodeName",
     check_node_pin},
    {"privileged", Applies::on_create_and_update, kAlways,
     "A container is privileged or a Windows host process", check_privileged},
    {"host-namespace", Applies::on_create_and_update, kAlways,
     "The Pod shares the node's network, process or IPC namespace", check_host_namespace},
    {"host-path", Applies::on_create_and_update, kAlways, "A volume is a path of the node",
     check_host_path},
    {"label", Applies::on_pod_update, kAlways,
     "An update takes off the labels by which the profile selects the Pod", check_label},
    {"host-port", Applies::on_create_and_update, kOptIn, "A container opens a port of the node",
     check_host_port},
    {"capabilities", Applies::on_create_and_update, kOptIn,
     "A container adds a capability beyond the Pod Security baseline", check_capabilities},
    {"proc-mount", Applies::on_create_and_update, kOptIn,
     "A container sees an unmasked /proc of the node", check_proc_mount},
    {"node-affinity-pin", Applies::on_create, kOptIn,
     "The Pod chooses nodes by name with a node selector or node affinity",
     check_node_affinity_pin},
    {"gpu-visible-devices", Applies::on_create_and_update, kOptIn,
     "A container sets a variable that reaches GPUs it did not request", check_gpu_visible_devices},
};

}  // namespace xila::policy
