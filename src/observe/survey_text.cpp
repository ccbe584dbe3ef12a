#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "xila/base/text.hpp"
#include "xila/observe/once.hpp"

namespace xila::observe {
namespace {

using Row = std::vector<std::string>;

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : base::escape_control(text);
}

// Left-aligned columns, two spaces apart; the last one is as long as it is.
void append_table(std::string& out, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      out += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    out += row.back() + "\n";
  }
  out += "\n";
}

std::string subject_of(const Finding& finding) {
  if (finding.pod.empty()) return "profile " + finding.profile;
  return base::escape_control(finding.space + "/" + finding.pod);
}

std::string why(const Finding& finding) {
  if (finding.evidence.empty()) return "-";
  std::string text = finding.evidence.front().message;
  if (finding.evidence.size() > 1) {
    text += " (and " + std::to_string(finding.evidence.size() - 1) + " more)";
  }
  return text;
}

// How many by some name and by finding.
void append_counts(std::string& out, const char* heading, const char* column,
                   const std::vector<Finding>& findings, std::string Finding::* name) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const Finding& finding : findings) {
    if (!finding.pod.empty()) ++counts[{finding.*name, finding.name}];
  }
  if (counts.empty()) return;
  out += heading;
  std::vector<Row> rows{{column, "FINDING", "PODS"}};
  for (const auto& [key, count] : counts) {
    rows.push_back({or_dash(key.first), key.second, std::to_string(count)});
  }
  append_table(out, rows);
}

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string totals(const Survey& survey) {
  std::set<std::string> tenants;
  std::set<std::string> nodes;
  for (const Finding& finding : survey.findings) {
    if (!finding.tenant.empty()) tenants.insert(finding.tenant);
    if (!finding.node.empty()) nodes.insert(finding.node);
  }
  std::string text = counted(survey.findings.size(), "finding");
  if (!survey.findings.empty()) {
    text += " of " + counted(tenants.size(), "tenant") + " on " + counted(nodes.size(), "node");
  }
  return text + ". Read: " + counted(survey.pods, "bound Pod") + ", " +
         counted(survey.nodes, "node") + ", " + counted(survey.spaces, "namespace") + ".\n";
}

}  // namespace

std::string survey_text(const Survey& survey) {
  std::vector<Finding> findings = survey.findings;
  std::ranges::sort(findings, {}, [](const Finding& finding) {
    return std::tie(finding.name, finding.tenant, finding.space, finding.pod, finding.profile);
  });
  std::string out;
  append_counts(out, "BY TENANT\n", "TENANT", findings, &Finding::tenant);
  append_counts(out, "BY NODE\n", "NODE", findings, &Finding::node);
  if (!findings.empty()) {
    out += "BY FINDING\n";
    std::vector<Row> rows{{"FINDING", "TENANT", "POD", "NODE", "WHY"}};
    for (const Finding& finding : findings) {
      rows.push_back({finding.name, or_dash(finding.tenant), subject_of(finding),
                      or_dash(finding.node), why(finding)});
    }
    append_table(out, rows);
  }
  for (const std::string& refusal : survey.not_judged) {
    out += "Not judged: " + base::escape_control(refusal) + "\n";
  }
  return out + totals(survey);
}

}  // namespace xila::observe
