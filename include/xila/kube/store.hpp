#pragma once

#include <cstddef>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "xila/codec/object_meta.hpp"

namespace xila::kube {

// "namespace/name", or "name" of what is cluster-scoped.
inline std::string key_of(const codec::ObjectId& id) {
  return id.space.empty() ? id.name : id.space + "/" + id.name;
}

// The objects of one kind as the cluster has them, kept by a Reflector, read by any thread. It is
// always a state that a whole list or a watch event made; never a part of a list.
template <class T>
class Store {
 public:
  struct Entry {
    std::string uid;
    std::string resource_version;
    T object;
  };
  using Map = std::unordered_map<std::string, Entry>;

  // What `use` makes of the entry, or of null; under a lock: be brief, and keep no reference.
  template <class Use>
  auto read(const std::string& key, Use use) const {
    const std::shared_lock lock(mutex_);
    const auto found = map_.find(key);
    return use(found == map_.end() ? nullptr : &found->second);
  }
  // Calls `use(key, entry)` for all; writers wait meanwhile.
  template <class Use>
  void each(Use use) const {
    const std::shared_lock lock(mutex_);
    for (const auto& [key, entry] : map_) use(key, entry);
  }
  std::size_t size() const {
    const std::shared_lock lock(mutex_);
    return map_.size();
  }

 private:
  template <class>
  friend class Reflector;

  mutable std::shared_mutex mutex_;
  Map map_;
};

}  // namespace xila::kube
