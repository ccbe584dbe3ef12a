#pragma once

#include <string>
#include <string_view>

#include "xila/base/result.hpp"
#include "xila/policy/pod.hpp"

namespace xila::codec {

// Which object, and which version of it.
struct ObjectId {
  std::string name;
  std::string space;             // metadata.namespace; "" = cluster-scoped
  std::string uid;               // another one under the same name is another object
  std::string resource_version;  // opaque; "" only where the server sent none

  bool operator==(const ObjectId&) const = default;
};

// An object as the decoder keeps it.
template <class T>
struct Item {
  ObjectId id;
  T object;

  bool operator==(const Item&) const = default;
};

// What PartialObjectMetadata holds besides, as far as it is used.
struct ObjectMeta {
  policy::Labels labels;
  bool is_terminating = false;  // has a deletionTimestamp

  bool operator==(const ObjectMeta&) const = default;
};

// One object of any kind, of which only the metadata is read. Error: no object with a name.
base::Result<Item<ObjectMeta>> decode_metadata(std::string_view text);

}  // namespace xila::codec
