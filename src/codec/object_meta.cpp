#include "xila/codec/object_meta.hpp"

#include "watch_document.hpp"
#include "xila/codec/watch_event.hpp"

namespace xila::codec {
namespace {

void read_meta(const ObjectReader& /*object*/, const ObjectReader& metadata, ObjectMeta& meta) {
  metadata.each_field("labels", [&](std::string_view key, std::string_view value) {
    meta.labels.emplace_back(key, value);
  });
  meta.is_terminating = !metadata.text("deletionTimestamp").empty();
}

}  // namespace

ObjectId read_id(const ObjectReader& metadata) {
  return {.name = std::string(metadata.text("name")),
          .space = std::string(metadata.text("namespace")),
          .uid = std::string(metadata.text("uid")),
          .resource_version = std::string(metadata.text("resourceVersion"))};
}

base::Result<Item<ObjectMeta>> decode_metadata(std::string_view text) {
  DocumentParser parser;
  const base::Result<simdjson::dom::object> root = parser.parse(text, Padding::absent);
  if (!root) return std::unexpected(root.error());
  Problems problems;
  Item<ObjectMeta> item = read_item<ObjectMeta>(ObjectReader(*root, Path(""), problems), read_meta);
  if (!problems.empty()) return base::fail(problems.first());
  return item;
}

base::Result<Page<ObjectMeta>> decode_metadata_page(std::string_view text) {
  return decode_page<ObjectMeta>(text, read_meta);
}

base::Result<WatchEvent<ObjectMeta>> decode_metadata_event(std::string_view line) {
  return decode_event<ObjectMeta>(line, read_meta);
}

}  // namespace xila::codec
