#pragma once

#include <simdjson.h>

#include <string_view>
#include <utility>

#include "json_reader.hpp"
#include "xila/codec/watch_event.hpp"

// Lists and watch lines have one shape for every kind of object; only the reading of an object
// differs:
//
//   void read(const ObjectReader& object, const ObjectReader& metadata, T& value);
//
// What it reports into the Problems of its readers makes the whole page or line unreadable.
namespace xila::codec {

Status read_status(const ObjectReader& object);
ObjectId read_id(const ObjectReader& metadata);
// Nothing = a type that this version does not know.
std::optional<EventKind> event_kind(std::string_view type);

template <class T, class Read>
Item<T> read_item(const ObjectReader& object, Read read) {
  const ObjectReader metadata = object.required_object("metadata");
  Item<T> item;
  item.id = read_id(metadata);
  metadata.required_text("name");
  read(object, metadata, item.object);
  return item;
}

template <class T, class Read>
base::Result<Page<T>> decode_page(std::string_view text, Read read) {
  DocumentParser parser;
  const base::Result<simdjson::dom::object> root = parser.parse(text, Padding::absent);
  if (!root) return std::unexpected(root.error());

  Problems problems;
  const ObjectReader list(*root, Path(""), problems);
  const ObjectReader metadata = list.required_object("metadata");
  Page<T> page;
  page.resource_version = metadata.required_text("resourceVersion");
  page.next = metadata.text("continue");

  // Not each_object: its limit on elements is for what tenants write; a server may ignore `limit`.
  simdjson::dom::element items;
  simdjson::dom::array elements;
  if (root->at_key("items").get(items) == simdjson::SUCCESS && !items.is_null()) {
    if (items.get(elements) != simdjson::SUCCESS) return base::fail("items is no array");
    page.items.reserve(elements.size());
    const Path path("items");
    std::size_t index = 0;
    for (const simdjson::dom::element element : elements) {
      simdjson::dom::object object;
      const Path here(path, index);
      if (element.get(object) != simdjson::SUCCESS) {
        problems.add(here, "is no object");
        break;
      }
      page.items.push_back(read_item<T>(ObjectReader(object, here, problems), read));
      ++index;
    }
  }
  if (!problems.empty()) return base::fail(problems.first());
  return page;
}

template <class T, class Read>
base::Result<WatchEvent<T>> decode_event(std::string_view line, Read read) {
  DocumentParser parser;
  const base::Result<simdjson::dom::object> root = parser.parse(line, Padding::absent);
  if (!root) return std::unexpected(root.error());

  Problems problems;
  const ObjectReader event(*root, Path(""), problems);
  const std::optional<EventKind> kind = event_kind(event.required_text("type"));
  const ObjectReader object = event.required_object("object");
  if (problems.empty() && !kind) event.problem("type", "is no type of watch event");
  if (!kind || !problems.empty()) return base::fail(problems.first());

  WatchEvent<T> decoded;
  decoded.kind = *kind;
  if (*kind == EventKind::error) {
    decoded.status = read_status(object);
  } else if (*kind == EventKind::bookmark) {
    const ObjectReader metadata = object.required_object("metadata");
    decoded.item.id.resource_version = metadata.required_text("resourceVersion");
  } else {
    decoded.item = read_item<T>(object, read);
  }
  if (!problems.empty()) return base::fail(problems.first());
  return decoded;
}

}  // namespace xila::codec
