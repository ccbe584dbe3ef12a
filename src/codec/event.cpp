#include "xila/codec/event.hpp"

#include <nlohmann/json.hpp>

#include "xila/base/timestamp.hpp"

namespace xila::codec {
namespace {

using Json = nlohmann::ordered_json;

// Whatever a name holds, what is sent is valid UTF-8.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json reference(const ObjectReference& object) {
  Json json{{"apiVersion", "v1"}, {"kind", object.kind}};
  if (!object.space.empty()) json["namespace"] = object.space;
  json["name"] = object.name;
  if (!object.uid.empty()) json["uid"] = object.uid;
  return json;
}

}  // namespace

std::string encode_event(const Event& event) {
  Json json{{"apiVersion", "events.k8s.io/v1"},
            {"kind", "Event"},
            {"metadata", {{"name", event.name}, {"namespace", event.space}}},
            {"eventTime", base::to_timestamp(event.time)},
            {"reportingController", event.controller},
            {"reportingInstance", event.instance},
            {"action", event.action},
            {"reason", event.reason},
            {"regarding", reference(event.regarding)},
            {"note", event.note},
            {"type", event.is_warning ? "Warning" : "Normal"}};
  if (!event.related.kind.empty()) json["related"] = reference(event.related);
  return dump(json);
}

std::string encode_event_series(int count, std::chrono::system_clock::time_point last) {
  return dump({{"series", {{"count", count}, {"lastObservedTime", base::to_timestamp(last)}}}});
}

}  // namespace xila::codec
