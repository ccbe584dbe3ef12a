#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "records.hpp"
#include "xila/codec/object_meta.hpp"
#include "xila/codec/storage.hpp"

namespace xila::observe {

// The claims, the volumes that are a path of a node, and which Pods use which claim.
class Storage {
 public:
  // Each returns the claim, or the claims, that may be another thing than before: "namespace/name".
  std::vector<std::string> put_claim(const codec::ObjectId& id, const codec::VolumeClaim& claim,
                                     std::uint32_t list);
  std::vector<std::string> remove_claim(const codec::ObjectId& id);
  std::vector<std::string> put_volume(const codec::ObjectId& id,
                                      const codec::PersistentVolume& volume, std::uint32_t list);
  std::vector<std::string> remove_volume(const codec::ObjectId& id);
  // After a whole list: forgets what was not in it.
  std::vector<std::string> keep_claims_of(std::uint32_t list);
  std::vector<std::string> keep_volumes_of(std::uint32_t list);

  void add_user(PodRecord& pod);
  void remove_user(PodRecord& pod);
  std::vector<PodRecord*> users_of(const std::string& claim) const;

  struct PathVolume {
    std::string name;
    codec::VolumeSource source = codec::VolumeSource::other;
    std::string path;
  };
  // The volume behind a claim where it is a path of a node; null = it is not, or none is bound.
  const PathVolume* path_behind(const std::string& claim) const;

  std::size_t claims() const { return claims_.size(); }
  std::size_t volumes() const { return volumes_.size(); }

 private:
  struct Claim {
    std::string volume;
    bool is_bound = false;
    std::uint32_t listed = 0;
  };
  struct Volume {
    PathVolume shown;
    std::string claim;
    std::uint32_t listed = 0;
  };

  // Claims that name the volume, whether they got it or not.
  std::vector<std::string> claims_on(const std::string& volume) const;
  void link(const std::string& volume, const std::string& claim);
  void unlink(const std::string& volume, const std::string& claim);

  std::unordered_map<std::string, Claim> claims_;
  std::unordered_map<std::string, Volume> volumes_;  // only those that are a path of a node
  std::unordered_map<std::string, std::vector<std::string>> claims_by_volume_;
  std::unordered_map<std::string, std::vector<PodRecord*>> users_;
};

// "namespace/name" of a claim of `pod`.
std::string claim_key(const PodRecord& pod, const std::string& claim);

}  // namespace xila::observe
