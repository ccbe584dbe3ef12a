#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "finding_json.hpp"
#include "xila/base/timestamp.hpp"
#include "xila/observe/once.hpp"

namespace xila::observe {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string sarif_name(const Finding& finding) {
  if (finding.pod.empty()) return "profile/" + finding.profile;
  return finding.space + "/" + finding.pod;
}

std::string sarif_text(const Finding& finding) {
  std::string text = finding.pod.empty() ? "" : "Pod " + sarif_name(finding) + ": ";
  for (const Evidence& evidence : finding.evidence) {
    text += (&evidence == &finding.evidence.front() ? "" : "; ") + evidence.message;
  }
  return text;
}

// Nothing of a cluster is a file: a place is the object's name, and viewers that want a file get
// one that says so.
Json sarif_location(const Finding& finding) {
  const std::string name = sarif_name(finding);
  return {{"physicalLocation", {{"artifactLocation", {{"uri", "cluster/" + name}}}}},
          {"logicalLocations", Json::array({{{"fullyQualifiedName", name}, {"kind", "object"}}})}};
}

}  // namespace

std::string survey_json(const Survey& survey, std::chrono::system_clock::time_point time) {
  std::map<std::string, std::size_t> by_finding;
  std::map<std::string, std::size_t> by_tenant;
  std::map<std::string, std::size_t> by_node;
  Json findings = Json::array();
  for (const Finding& finding : survey.findings) {
    ++by_finding[finding.name];
    if (!finding.tenant.empty()) ++by_tenant[finding.tenant];
    if (!finding.node.empty()) ++by_node[finding.node];
    Json json = Json::object();
    add_finding(json, finding);
    findings.push_back(std::move(json));
  }
  return dump(
      {{"schemaVersion", kSchemaVersion},
       {"time", base::to_timestamp(time)},
       {"read", {{"pods", survey.pods}, {"nodes", survey.nodes}, {"namespaces", survey.spaces}}},
       {"notJudged", survey.not_judged},
       {"total", survey.findings.size()},
       {"byFinding", by_finding},
       {"byTenant", by_tenant},
       {"byNode", by_node},
       {"findings", std::move(findings)}});
}

std::string survey_sarif(const Survey& survey, const std::string& version) {
  std::set<std::string> names;
  Json results = Json::array();
  for (const Finding& finding : survey.findings) {
    names.insert(finding.name);
    results.push_back({{"ruleId", finding.name},
                       {"level", finding.is_certain ? "error" : "note"},
                       {"message", {{"text", sarif_text(finding)}}},
                       {"locations", Json::array({sarif_location(finding)})},
                       {"partialFingerprints", {{"findingId/v1", finding.id}}}});
  }
  Json rules = Json::array();
  for (const std::string& name : names) rules.push_back({{"id", name}, {"name", name}});
  Json notifications = Json::array();
  for (const std::string& refusal : survey.not_judged) {
    notifications.push_back({{"level", "error"}, {"message", {{"text", refusal}}}});
  }
  Json driver{{"name", "xila-guard"},
              {"version", version},
              {"semanticVersion", version},
              {"rules", std::move(rules)}};
  Json invocation{{"executionSuccessful", survey.not_judged.empty()},
                  {"toolExecutionNotifications", std::move(notifications)}};
  Json run{{"tool", {{"driver", std::move(driver)}}},
           {"columnKind", "unicodeCodePoints"},
           {"invocations", Json::array({std::move(invocation)})},
           {"results", std::move(results)}};
  return dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
               {"version", "2.1.0"},
               {"runs", Json::array({std::move(run)})}});
}

}  // namespace xila::observe
