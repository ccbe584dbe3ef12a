#include "storage.hpp"

#include <algorithm>
#include <utility>

namespace xila::observe {
namespace {

std::string key_of(const codec::ObjectId& id) {
  return id.space + "/" + id.name;
}

template <class Map, class Value>
void erase_value(Map& map, const std::string& key, const Value& value) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  std::erase(found->second, value);
  if (found->second.empty()) map.erase(found);
}

}  // namespace

std::string claim_key(const PodRecord& pod, const std::string& claim) {
  return pod.space->name + "/" + claim;
}

std::vector<std::string> Storage::put_claim(const codec::ObjectId& id,
                                            const codec::VolumeClaim& claim, std::uint32_t list) {
  const std::string key = key_of(id);
  Claim& kept = claims_[key];
  kept.listed = list;
  if (kept.volume == claim.volume && kept.is_bound == claim.is_bound) return {};
  unlink(kept.volume, key);
  kept.volume = claim.volume;
  kept.is_bound = claim.is_bound;
  link(kept.volume, key);
  return {key};
}

std::vector<std::string> Storage::remove_claim(const codec::ObjectId& id) {
  const std::string key = key_of(id);
  const auto found = claims_.find(key);
  if (found == claims_.end()) return {};
  unlink(found->second.volume, key);
  claims_.erase(found);
  return {key};
}

std::vector<std::string> Storage::put_volume(const codec::ObjectId& id,
                                             const codec::PersistentVolume& volume,
                                             std::uint32_t list) {
  if (volume.source == codec::VolumeSource::other) return remove_volume(id);
  Volume& kept = volumes_[id.name];
  kept.listed = list;
  kept.shown = {id.name, volume.source, volume.path};
  kept.claim = volume.claim;
  return claims_on(id.name);
}

std::vector<std::string> Storage::remove_volume(const codec::ObjectId& id) {
  if (volumes_.erase(id.name) == 0) return {};
  return claims_on(id.name);
}

std::vector<std::string> Storage::keep_claims_of(std::uint32_t list) {
  std::vector<std::string> gone;
  for (const auto& [key, claim] : claims_) {
    if (claim.listed != list) gone.push_back(key);
  }
  for (const std::string& key : gone) {
    unlink(claims_[key].volume, key);
    claims_.erase(key);
  }
  return gone;
}

std::vector<std::string> Storage::keep_volumes_of(std::uint32_t list) {
  std::vector<std::string> touched;
  for (auto volume = volumes_.begin(); volume != volumes_.end();) {
    if (volume->second.listed == list) {
      ++volume;
      continue;
    }
    const std::vector<std::string> claims = claims_on(volume->first);
    touched.insert(touched.end(), claims.begin(), claims.end());
    volume = volumes_.erase(volume);
  }
  return touched;
}

void Storage::add_user(PodRecord& pod) {
  if (!pod.claims) return;
  for (const std::string& claim : *pod.claims) users_[claim_key(pod, claim)].push_back(&pod);
}

void Storage::remove_user(PodRecord& pod) {
  if (!pod.claims) return;
  for (const std::string& claim : *pod.claims) erase_value(users_, claim_key(pod, claim), &pod);
}

std::vector<PodRecord*> Storage::users_of(const std::string& claim) const {
  const auto found = users_.find(claim);
  return found == users_.end() ? std::vector<PodRecord*>() : found->second;
}

// A claim may name any volume; only the volume's own reference, or the claim's phase, which the
// volume controller writes, says that it got it.
const Storage::PathVolume* Storage::path_behind(const std::string& claim) const {
  const auto kept = claims_.find(claim);
  if (kept == claims_.end()) return nullptr;
  const auto volume = volumes_.find(kept->second.volume);
  if (volume == volumes_.end()) return nullptr;
  const bool is_bound = kept->second.is_bound || volume->second.claim == claim;
  return is_bound ? &volume->second.shown : nullptr;
}

std::vector<std::string> Storage::claims_on(const std::string& volume) const {
  const auto found = claims_by_volume_.find(volume);
  return found == claims_by_volume_.end() ? std::vector<std::string>() : found->second;
}

void Storage::link(const std::string& volume, const std::string& claim) {
  if (!volume.empty()) claims_by_volume_[volume].push_back(claim);
}

void Storage::unlink(const std::string& volume, const std::string& claim) {
  erase_value(claims_by_volume_, volume, claim);
}

}  // namespace xila::observe
