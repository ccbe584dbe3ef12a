#include "feed.hpp"

namespace xila::observe {

using codec::ObjectId;
using codec::ObjectMeta;

const Kind<codec::LivePod> kPods{
    .page = codec::decode_pod_page,
    .event = codec::decode_pod_event,
    .put = [](Engine& engine, const ObjectId& id, codec::LivePod pod, std::uint32_t list,
              const Now& now) { engine.put_pod(id, std::move(pod), list, now); },
    .remove = [](Engine& engine, const ObjectId& id,
                 const Now& now) { engine.remove_pod(id, now); },
    .keep = [](Engine& engine, std::uint32_t list,
               const Now& now) { engine.keep_pods_of(list, now); },
    .size = [](const Engine& engine) { return engine.sizes().pods; }};

const Kind<ObjectMeta> kNodes{
    .page = codec::decode_metadata_page,
    .event = codec::decode_metadata_event,
    .put = [](Engine& engine, const ObjectId& id, ObjectMeta meta, std::uint32_t list,
              const Now& now) { engine.put_node(id, meta.labels, list, now); },
    .remove = [](Engine& engine, const ObjectId& id,
                 const Now& now) { engine.remove_node(id, now); },
    .keep = [](Engine& engine, std::uint32_t list,
               const Now& now) { engine.keep_nodes_of(list, now); },
    .size = [](const Engine& engine) { return engine.sizes().nodes; }};

const Kind<ObjectMeta> kSpaces{
    .page = codec::decode_metadata_page,
    .event = codec::decode_metadata_event,
    .put = [](Engine& engine, const ObjectId& id, ObjectMeta meta, std::uint32_t list,
              const Now& now) { engine.put_space(id, meta.labels, list, now); },
    .remove = [](Engine& engine, const ObjectId& id,
                 const Now& now) { engine.remove_space(id, now); },
    .keep = [](Engine& engine, std::uint32_t list,
               const Now& now) { engine.keep_spaces_of(list, now); },
    .size = [](const Engine& engine) { return engine.sizes().spaces; }};

const Kind<codec::VolumeClaim> kClaims{
    .page = codec::decode_claim_page,
    .event = codec::decode_claim_event,
    .put = [](Engine& engine, const ObjectId& id, codec::VolumeClaim claim, std::uint32_t list,
              const Now& now) { engine.put_claim(id, claim, list, now); },
    .remove = [](Engine& engine, const ObjectId& id,
                 const Now& now) { engine.remove_claim(id, now); },
    .keep = [](Engine& engine, std::uint32_t list,
               const Now& now) { engine.keep_claims_of(list, now); },
    .size = [](const Engine& engine) { return engine.sizes().claims; }};

const Kind<codec::PersistentVolume> kVolumes{
    .page = codec::decode_volume_page,
    .event = codec::decode_volume_event,
    .put = [](Engine& engine, const ObjectId& id, codec::PersistentVolume volume,
              std::uint32_t list, const Now& now) { engine.put_volume(id, volume, list, now); },
    .remove = [](Engine& engine, const ObjectId& id,
                 const Now& now) { engine.remove_volume(id, now); },
    .keep = [](Engine& engine, std::uint32_t list,
               const Now& now) { engine.keep_volumes_of(list, now); },
    .size = [](const Engine& engine) { return engine.sizes().volumes; }};

namespace {

// Renewed every two to three minutes, so that one that hangs is noticed by then.
kube::WatchOptions watch(std::string resource) {
  std::string path = "/api/v1/" + resource;
  return {.resource = std::move(resource),
          .path = std::move(path),
          .watch_least = std::chrono::seconds(120),
          .watch_most = std::chrono::seconds(180)};
}

kube::WatchOptions metadata_watch(std::string resource) {
  kube::WatchOptions options = watch(std::move(resource));
  options.list_accept = std::string(kube::kListMetadata);
  options.watch_accept = std::string(kube::kGetMetadata);
  return options;
}

}  // namespace

// The server leaves out what is not bound or has ended, and says of a Pod that ends that it is
// deleted: of the two a finding makes no difference.
kube::WatchOptions pod_watch() {
  kube::WatchOptions options = watch("pods");
  options.selector =
      "fieldSelector=spec.nodeName%21%3D%2Cstatus.phase%21%3DSucceeded%2C"
      "status.phase%21%3DFailed";
  return options;
}

kube::WatchOptions node_watch() {
  return metadata_watch("nodes");
}
kube::WatchOptions space_watch() {
  return metadata_watch("namespaces");
}
kube::WatchOptions claim_watch() {
  return watch("persistentvolumeclaims");
}
kube::WatchOptions volume_watch() {
  return watch("persistentvolumes");
}

}  // namespace xila::observe
