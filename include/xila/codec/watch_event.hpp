#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xila/base/result.hpp"
#include "xila/codec/object_meta.hpp"

namespace xila::codec {

// One page of a list.
template <class T>
struct Page {
  std::string resource_version;  // of the whole list: where its watch begins
  std::string next;              // the `continue` of the next page; "" = the last one
  std::vector<Item<T>> items;
};

// metav1.Status: how the API server says no.
struct Status {
  int code = 0;
  std::string reason;  // "Expired", "Forbidden", ...; "" = none
  std::string message;
  std::optional<std::chrono::seconds> retry_after;  // details.retryAfterSeconds

  bool operator==(const Status&) const = default;
};

enum class EventKind : std::uint8_t {
  added,
  modified,
  removed,   // DELETED; the item is the object's last state
  bookmark,  // no object: the watch has got as far as item.id.resource_version
  error,     // no object: `status` ends the watch
};

// One line of a watch.
template <class T>
struct WatchEvent {
  EventKind kind = EventKind::error;
  Item<T> item;
  Status status;
};

// A list of any kind, and one line of its watch, of which only the objects' metadata is read.
// Error: what is wrong, with its path. An item without a name is one, and so is an unknown event
// type: what cannot be read must not be taken for "no such object".
base::Result<Page<ObjectMeta>> decode_metadata_page(std::string_view text);
base::Result<WatchEvent<ObjectMeta>> decode_metadata_event(std::string_view line);

// The body of an answer that is no success. Error: it is no Status.
base::Result<Status> decode_status(std::string_view text);

}  // namespace xila::codec
