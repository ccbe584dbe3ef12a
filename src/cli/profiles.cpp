#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "options.hpp"
#include "xila/base/text.hpp"
#include "xila/config/load.hpp"

namespace xila::cli {
namespace {

using Row = std::vector<std::string>;

std::string to_text(const policy::SelectorRequirement& requirement) {
  using policy::SelectorOperator;
  switch (requirement.op) {
    case SelectorOperator::exists:
      return requirement.key;
    case SelectorOperator::does_not_exist:
      return "!" + requirement.key;
    case SelectorOperator::in:
      if (requirement.values.size() == 1) return requirement.key + "=" + requirement.values.front();
      return requirement.key + " in (" + base::join(requirement.values, ",") + ")";
    case SelectorOperator::not_in:
      return requirement.key + " notin (" + base::join(requirement.values, ",") + ")";
  }
  return {};
}

// As kubectl writes selectors (`-l`), so that a cell can be pasted behind `kubectl get pods -l`.
std::string to_text(const policy::LabelSelector& selector) {
  std::vector<std::string> parts;
  for (const auto& requirement : selector.requirements) parts.push_back(to_text(requirement));
  return base::join(parts, ",");
}

std::vector<Row> table_of(const std::vector<policy::Profile>& profiles) {
  std::vector<Row> rows{{"NAME", "SCHEDULER", "MODE", "ROUTE GUARD", "VERIFICATION", "SELECTOR"}};
  for (const policy::Profile& profile : profiles) {
    Row row{profile.name,
            profile.scheduler_name.empty() ? std::string(policy::kDefaultScheduler)
                                           : profile.scheduler_name,
            std::string(policy::to_text(profile.mode)), profile.route_guard ? "yes" : "no",
            std::string(policy::to_text(profile.verification))};
    // Selectors are ORed; each gets a line of its own under the first.
    for (const policy::LabelSelector& selector : profile.workload_selectors) {
      row.push_back(to_text(selector));
      rows.push_back(std::move(row));
      row = Row(5);
    }
  }
  return rows;
}

void print(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    std::printf("%s\n", line.c_str());
  }
}

int list_profiles(const std::filesystem::path& file) {
  const auto rulebook = load_or_explain({.profiles = file});
  if (!rulebook) return kExitFailed;
  print(table_of(rulebook->profiles));
  return kExitOk;
}

}  // namespace

Run declare_profiles(CLI::App& app) {
  const auto file = std::make_shared<std::filesystem::path>();
  app.add_option("FILE", *file, "Profiles file (kind OrchestratorProfiles)")
      ->type_name("")
      ->required();
  return [file] { return list_profiles(*file); };
}

}  // namespace xila::cli
