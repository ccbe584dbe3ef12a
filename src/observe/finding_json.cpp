#include "finding_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "xila/base/text.hpp"
#include "xila/base/timestamp.hpp"

namespace xila::observe {
namespace {

// Keys stay in the order in which they are written: what a person looks for comes first.
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostTextBytes = 1024;
constexpr std::size_t kMostEvidence = 16;

std::string cut(const std::string& text) {
  if (text.size() <= kMostTextBytes) return text;
  return std::string(base::prefix_at_character(text, kMostTextBytes)) + "...";
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(cut(text));
}

Json evidence_json(const std::vector<Evidence>& evidence) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(evidence.size(), kMostEvidence); ++i) {
    Json one{{"field", cut(evidence[i].field)}};
    if (!evidence[i].wanted.empty()) one["wanted"] = cut(evidence[i].wanted);
    if (!evidence[i].found.empty()) one["found"] = cut(evidence[i].found);
    one["message"] = cut(evidence[i].message);
    list.push_back(std::move(one));
  }
  return list;
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void add_finding(Json& json, const Finding& finding) {
  json["id"] = finding.id;
  json["finding"] = finding.name;
  json["check"] = finding.check;
  json["tenant"] = text_or_null(finding.tenant);
  json["profile"] = text_or_null(finding.profile);
  json["namespace"] = text_or_null(finding.space);
  json["pod"] = text_or_null(finding.pod);
  json["podUid"] = text_or_null(finding.pod_uid);
  json["owner"] = nullptr;
  if (!finding.owner_kind.empty()) {
    json["owner"] = {{"kind", cut(finding.owner_kind)}, {"name", cut(finding.owner_name)}};
  }
  json["node"] = text_or_null(finding.node);
  json["nodeUid"] = text_or_null(finding.node_uid);
  json["since"] = base::to_timestamp(finding.since);
  json["certain"] = finding.is_certain;
  json["evidence"] = evidence_json(finding.evidence);
  const std::size_t shown = std::min(finding.evidence.size(), kMostEvidence);
  json["evidenceOmitted"] = finding.evidence.size() - shown;
}

std::string step_line(const Transition& transition, bool is_rebuilt, const std::string& instance,
                      Wall time) {
  Json json{{"schemaVersion", kSchemaVersion},
            {"time", base::to_timestamp(time)},
            {"change", to_text(transition.change)},
            {"rebuilt", is_rebuilt}};
  json["resolution"] = text_or_null(std::string(to_text(transition.resolution)));
  add_finding(json, transition.finding);
  json["instance"] = instance;
  return dump(json, -1);
}

std::string findings_json(const FindingsDocument& document, Wall time) {
  Json findings = Json::array();
  for (const Finding& finding : document.findings) {
    Json json = Json::object();
    add_finding(json, finding);
    findings.push_back(std::move(json));
  }
  return dump({{"schemaVersion", kSchemaVersion},
               {"time", base::to_timestamp(time)},
               {"instance", document.instance},
               {"leading", document.is_leading},
               {"judged", document.has_judged},
               {"total", document.total},
               {"cut", document.is_cut},
               {"findings", std::move(findings)}},
              1) +
         "\n";
}

}  // namespace xila::observe
