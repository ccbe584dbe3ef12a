#include "xila/codec/storage.hpp"

#include "watch_document.hpp"

namespace xila::codec {
namespace {

void read_claim(const ObjectReader& object, const ObjectReader& /*metadata*/, VolumeClaim& claim) {
  const ObjectReader spec = object.object("spec");
  claim.volume = spec.text("volumeName");
  const ObjectReader status = object.object("status");
  claim.is_bound = status.text("phase") == "Bound";
}

void read_volume(const ObjectReader& object, const ObjectReader& /*metadata*/,
                 PersistentVolume& volume) {
  const ObjectReader spec = object.object("spec");
  const ObjectReader host_path = spec.object("hostPath");
  const ObjectReader local = spec.object("local");
  if (host_path) {
    volume.source = VolumeSource::host_path;
    volume.path = host_path.text("path");
  } else if (local) {
    volume.source = VolumeSource::local;
    volume.path = local.text("path");
  }
  const ObjectReader claim = spec.object("claimRef");
  if (claim) {
    volume.claim = std::string(claim.text("namespace")) + "/" + std::string(claim.text("name"));
  }
}

}  // namespace

base::Result<Page<VolumeClaim>> decode_claim_page(std::string_view text) {
  return decode_page<VolumeClaim>(text, read_claim);
}

base::Result<WatchEvent<VolumeClaim>> decode_claim_event(std::string_view line) {
  return decode_event<VolumeClaim>(line, read_claim);
}

base::Result<Page<PersistentVolume>> decode_volume_page(std::string_view text) {
  return decode_page<PersistentVolume>(text, read_volume);
}

base::Result<WatchEvent<PersistentVolume>> decode_volume_event(std::string_view line) {
  return decode_event<PersistentVolume>(line, read_volume);
}

}  // namespace xila::codec
