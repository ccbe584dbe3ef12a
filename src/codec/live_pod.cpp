#include "xila/codec/live_pod.hpp"

#include <utility>

#include "pod_reader.hpp"
#include "watch_document.hpp"
#include "xila/base/timestamp.hpp"

namespace xila::codec {
namespace {

using TimePoint = std::chrono::system_clock::time_point;

// A binding is written past the field managers, so a nodeName that somebody manages was there
// before it: in the object that was created. Fields of subresources, as status, prove nothing.
void read_node_choice(const ObjectReader& metadata, LivePod& live) {
  metadata.each_object("managedFields", [&](std::size_t, const ObjectReader& entry) {
    if (!entry.text("subresource").empty()) return;
    const ObjectReader fields = entry.object("fieldsV1");
    const ObjectReader spec = fields.object("f:spec");
    if (!spec || live.node_choice == NodeChoice::by_creator) return;
    live.node_choice = NodeChoice::by_binding;
    if (!spec.has("f:nodeName")) return;
    live.node_choice = NodeChoice::by_creator;
    live.node_chooser = entry.text("manager");
  });
}

std::optional<TimePoint> read_scheduled_at(const ObjectReader& status) {
  std::optional<TimePoint> time;
  status.each_object("conditions", [&](std::size_t, const ObjectReader& condition) {
    if (condition.text("type") == "PodScheduled" && condition.text("status") == "True") {
      time = base::parse_timestamp(condition.text("lastTransitionTime"));
    }
  });
  return time;
}

void read_status(const ObjectReader& status, LivePod& live) {
  const std::string_view phase = status.text("phase");
  live.has_ended = phase == "Succeeded" || phase == "Failed";
  live.bound_at = read_scheduled_at(status);
}

// The claim of an ephemeral volume is named after its Pod and the volume.
void read_claims(const ObjectReader& spec, LivePod& live) {
  spec.each_object("volumes", [&](std::size_t, const ObjectReader& volume) {
    const ObjectReader claim = volume.object("persistentVolumeClaim");
    if (const std::string_view name = claim.text("claimName"); !name.empty()) {
      live.claims.emplace_back(name);
    } else if (volume.has("ephemeral")) {
      live.claims.push_back(live.pod.name + "-" + std::string(volume.text("name")));
    }
  });
}

void read_live_pod(const ObjectReader& object, const ObjectReader& metadata, LivePod& live) {
  Problems problems;
  DecodedPod decoded = read_pod(object.apart(Path(""), problems));
  live.pod = std::move(decoded.pod);
  live.malformed = problems.take();

  // What else is read is evidence: where it has another form there is none.
  Problems ignored;
  const ObjectReader around = metadata.apart(Path("metadata"), ignored);
  live.is_terminating = around.has("deletionTimestamp");
  read_node_choice(around, live);
  const ObjectReader all = object.apart(Path(""), ignored);
  const ObjectReader status = all.object("status");
  read_status(status, live);
  const ObjectReader spec = all.object("spec");
  read_claims(spec, live);
  if (!live.bound_at) live.bound_at = base::parse_timestamp(around.text("creationTimestamp"));
}

}  // namespace

base::Result<Page<LivePod>> decode_pod_page(std::string_view text) {
  return decode_page<LivePod>(text, read_live_pod);
}

base::Result<WatchEvent<LivePod>> decode_pod_event(std::string_view line) {
  return decode_event<LivePod>(line, read_live_pod);
}

}  // namespace xila::codec
