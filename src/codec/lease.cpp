#include "xila/codec/lease.hpp"

#include <nlohmann/json.hpp>

#include "json_reader.hpp"
#include "xila/base/timestamp.hpp"

namespace xila::codec {
namespace {

constexpr const char* kReported = "guard.xila.us/reported";

}  // namespace

base::Result<Lease> decode_lease(std::string_view text) {
  DocumentParser parser;
  const base::Result<simdjson::dom::object> root = parser.parse(text, Padding::absent);
  if (!root) return std::unexpected(root.error());
  Problems problems;
  const ObjectReader object(*root, Path(""), problems);
  const ObjectReader metadata = object.required_object("metadata");
  Lease lease;
  lease.name = metadata.required_text("name");
  lease.space = metadata.text("namespace");
  lease.resource_version = metadata.required_text("resourceVersion");
  const ObjectReader annotations = metadata.object("annotations");
  lease.reported = annotations.text(kReported);

  const ObjectReader spec = object.object("spec");
  lease.holder = spec.text("holderIdentity");
  lease.duration = std::chrono::seconds(spec.integer("leaseDurationSeconds"));
  lease.acquired = base::parse_timestamp(spec.text("acquireTime"));
  lease.renewed = base::parse_timestamp(spec.text("renewTime"));
  lease.transitions = static_cast<int>(spec.integer("leaseTransitions"));
  if (!problems.empty()) return base::fail(problems.first());
  return lease;
}

std::string encode_lease(const Lease& lease) {
  using Json = nlohmann::ordered_json;
  Json json{{"apiVersion", "coordination.k8s.io/v1"},
            {"kind", "Lease"},
            {"metadata", {{"name", lease.name}, {"namespace", lease.space}}},
            {"spec",
             {{"holderIdentity", lease.holder},
              {"leaseDurationSeconds", lease.duration.count()},
              {"leaseTransitions", lease.transitions}}}};
  if (!lease.resource_version.empty()) json["metadata"]["resourceVersion"] = lease.resource_version;
  if (!lease.reported.empty()) json["metadata"]["annotations"] = {{kReported, lease.reported}};
  if (lease.acquired) json["spec"]["acquireTime"] = base::to_timestamp(*lease.acquired);
  if (lease.renewed) json["spec"]["renewTime"] = base::to_timestamp(*lease.renewed);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xila::codec
