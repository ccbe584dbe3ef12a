#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include "build_info.hpp"
#include "check_report.hpp"
#include "xila/base/text.hpp"
#include "xila/policy/check.hpp"

// SARIF 2.1.0 (OASIS), with what GitHub code scanning asks for on top.
namespace xila::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kRoot = "%SRCROOT%";

// Percent-encoded as RFC 3986 wants a path.
std::string encode(const std::string& path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  std::string uri;
  for (const char c : path) {
    if (kPlain.contains(c)) {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
    }
  }
  return uri;
}

// Relative to the working folder, which in CI is the repository's root; a file outside of it is
// absolute.
Json artifact(const std::string& file) {
  if (file == "stdin") return {{"uri", file}};
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const fs::path whole = (here / file).lexically_normal();
  const fs::path relative = whole.lexically_relative(here);
  const bool is_inside = !error && !relative.empty() && *relative.begin() != "..";
  if (!is_inside) return {{"uri", "file://" + encode(whole.string())}};
  return {{"uri", encode(relative.string())}, {"uriBaseId", kRoot}};
}

Json location(const std::string& file, yaml::Mark mark) {
  Json physical{{"artifactLocation", artifact(file)}};
  if (mark.line > 0) {
    physical["region"] = {{"startLine", mark.line}, {"startColumn", std::max(mark.column, 1)}};
  }
  return {{"physicalLocation", std::move(physical)}};
}

// A result's text. "[a](b)" would be a link in it, and names come from whoever wrote the manifest.
std::string without_links(std::string text) {
  for (auto at = text.find("]("); at != std::string::npos; at = text.find("](", at)) {
    text.replace(at, 2, "] (");
  }
  return text;
}

Json rule(std::string_view id, std::string_view description) {
  return {{"id", id},
          {"name", id},
          {"shortDescription", {{"text", description}}},
          {"defaultConfiguration", {{"level", "error"}}},
          {"properties", {{"tags", {"security", "kubernetes"}}}}};
}

Json rules() {
  Json all = Json::array();
  for (const policy::Check& check : policy::checks())
    all.push_back(rule(check.id, check.description));
  all.push_back(rule(policy::kMalformed, "A field that a check reads is not what it must be."));
  return all;
}

std::map<std::string, std::size_t> indices(const Json& all_rules) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < all_rules.size(); ++i) places[all_rules[i]["id"]] = i;
  return places;
}

Json result(const Judged& judged, const policy::Violation& violation,
            const std::map<std::string, std::size_t>& rule_indices) {
  const policy::Subject& subject = judged.pod.review.subject;
  Json where = location(judged.pod.file, judged.pod.locate(violation.field));
  where["logicalLocations"] = {
      {{"fullyQualifiedName", subject.space + "/" + subject.name + "/" + violation.field},
       {"kind", "object"}}};
  Json object{{"ruleId", violation.check}};
  if (const auto found = rule_indices.find(violation.check); found != rule_indices.end()) {
    object["ruleIndex"] = found->second;
  }
  object["level"] = is_denied(judged) ? "error" : "warning";
  object["message"] = {
      {"text", without_links("Pod " + base::escape_control(subject.space + "/" + subject.name) +
                             ": " + violation.message)}};
  object["locations"] = Json::array({std::move(where)});
  return object;
}

Json invocation(const CheckReport& report) {
  Json notifications = Json::array();
  for (const manifest::Problem& problem : report.problems) {
    notifications.push_back({{"level", "error"},
                             {"message", {{"text", without_links(problem.message)}}},
                             {"locations", Json::array({location(problem.file, problem.mark)})}});
  }
  return {{"executionSuccessful", report.problems.empty()},
          {"exitCode", exit_code(report)},
          {"toolExecutionNotifications", std::move(notifications)}};
}

}  // namespace

std::string as_sarif(const CheckReport& report) {
  Json all_rules = rules();
  const auto rule_indices = indices(all_rules);
  Json results = Json::array();
  for (const Judged& judged : report.pods) {
    for (const policy::Violation& violation : judged.decision.violations) {
      results.push_back(result(judged, violation, rule_indices));
    }
  }
  Json driver{{"name", "xila-guard"},
              {"version", build_info().version},
              {"semanticVersion", build_info().version},
              {"rules", std::move(all_rules)}};
  Json run{{"tool", {{"driver", std::move(driver)}}},
           {"columnKind", "unicodeCodePoints"},
           {"invocations", Json::array({invocation(report)})},
           {"results", std::move(results)}};
  const Json root{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                  {"version", "2.1.0"},
                  {"runs", Json::array({std::move(run)})}};
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace xila::cli
