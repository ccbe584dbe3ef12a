#include "xila/codec/watch_event.hpp"

#include "watch_document.hpp"

namespace xila::codec {

Status read_status(const ObjectReader& object) {
  Status status;
  status.code = static_cast<int>(object.integer("code"));
  status.reason = object.text("reason");
  status.message = object.text("message");
  const ObjectReader details = object.object("details");
  if (const std::int64_t wait = details.integer("retryAfterSeconds"); wait > 0) {
    status.retry_after = std::chrono::seconds(wait);
  }
  return status;
}

std::optional<EventKind> event_kind(std::string_view type) {
  if (type == "ADDED") return EventKind::added;
  if (type == "MODIFIED") return EventKind::modified;
  if (type == "DELETED") return EventKind::removed;
  if (type == "BOOKMARK") return EventKind::bookmark;
  if (type == "ERROR") return EventKind::error;
  return std::nullopt;
}

base::Result<Status> decode_status(std::string_view text) {
  DocumentParser parser;
  const base::Result<simdjson::dom::object> root = parser.parse(text, Padding::absent);
  if (!root) return std::unexpected(root.error());
  Problems problems;
  const ObjectReader object(*root, Path(""), problems);
  if (object.text("kind") != "Status") return base::fail("it is no Status");
  Status status = read_status(object);
  if (!problems.empty()) return base::fail(problems.first());
  return status;
}

}  // namespace xila::codec
