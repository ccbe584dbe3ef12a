#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xila/base/result.hpp"
#include "xila/codec/watch_event.hpp"
#include "xila/policy/check.hpp"
#include "xila/policy/pod.hpp"

namespace xila::codec {

// Who set spec.nodeName, as metadata.managedFields show. Whoever may update the Pod can erase them.
enum class NodeChoice : std::uint8_t {
  unknown,     // no manager owns a part of the spec
  by_binding,  // someone owns parts of the spec, and nobody its nodeName: pods/binding tracks none
  by_creator,
};

// A Pod of the cluster: what the checks read of it, and where it stands in its life.
// Source: core/v1 Pod, Kubernetes v1.34.
struct LivePod {
  policy::Pod pod;
  policy::Violations malformed;  // fields of a wrong type, with their paths
  bool has_ended = false;        // status.phase is Succeeded or Failed
  bool is_terminating = false;   // has a deletionTimestamp
  // When it got its node: condition PodScheduled, else the creation. Nothing = neither is there.
  std::optional<std::chrono::system_clock::time_point> bound_at;
  NodeChoice node_choice = NodeChoice::unknown;
  std::string node_chooser;         // the manager of by_creator: the client's own word
  std::vector<std::string> claims;  // PersistentVolumeClaims, those of ephemeral volumes too

  bool operator==(const LivePod&) const = default;
};

// As decode_metadata_page and decode_metadata_event. A Pod whose spec cannot be read is no error of
// its page: it is `malformed`.
base::Result<Page<LivePod>> decode_pod_page(std::string_view text);
base::Result<WatchEvent<LivePod>> decode_pod_event(std::string_view line);

}  // namespace xila::codec
