#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "xila/base/result.hpp"
#include "xila/codec/watch_event.hpp"

namespace xila::codec {

// What is read of a PersistentVolumeClaim.
struct VolumeClaim {
  std::string volume;     // spec.volumeName; "" = none yet
  bool is_bound = false;  // status.phase is Bound

  bool operator==(const VolumeClaim&) const = default;
};

enum class VolumeSource : std::uint8_t { other, host_path, local };

// What is read of a PersistentVolume.
struct PersistentVolume {
  VolumeSource source = VolumeSource::other;
  std::string path;   // of the node; "" for other sources
  std::string claim;  // spec.claimRef as "namespace/name"; "" = none

  bool operator==(const PersistentVolume&) const = default;
};

base::Result<Page<VolumeClaim>> decode_claim_page(std::string_view text);
base::Result<WatchEvent<VolumeClaim>> decode_claim_event(std::string_view line);
base::Result<Page<PersistentVolume>> decode_volume_page(std::string_view text);
base::Result<WatchEvent<PersistentVolume>> decode_volume_event(std::string_view line);

}  // namespace xila::codec
