#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "policy/examples.hpp"
#include "xila/base/text.hpp"

namespace xila::policy {
namespace {

namespace fs = std::filesystem;

const fs::path kFixtures{XILA_FIXTURES};

std::set<std::string> ids_of_checks() {
  std::set<std::string> ids = {std::string(kMalformed)};
  for (const Check& check : checks()) ids.emplace(check.id);
  return ids;
}

bool holds_json(const fs::path& folder) {
  if (!fs::is_directory(folder)) return false;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json" && entry.file_size() > 0) return true;
  }
  return false;
}

TEST(Checks, EveryCheckHasFixtures) {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(kFixtures / "checks")) {
    folders.insert(entry.path().filename().string());
  }
  EXPECT_EQ(folders, ids_of_checks()) << "a check without a folder, or a folder without a check";
  for (const std::string& id : ids_of_checks()) {
    EXPECT_TRUE(holds_json(kFixtures / "checks" / id / "allow")) << id;
    EXPECT_TRUE(holds_json(kFixtures / "checks" / id / "deny")) << id;
  }
}

TEST(Checks, HaveIdsOfTheirOwnAndADescription) {
  EXPECT_EQ(ids_of_checks().size(), checks().size() + 1);
  for (const Check& check : checks()) {
    EXPECT_TRUE(validate_dns_label(check.id).has_value()) << check.id;
    EXPECT_FALSE(check.description.empty()) << check.id;
  }
}

TEST(Checks, CallTheirViolationsByTheirOwnId) {
  Pod pod = good_pod();
  pod.scheduler_name = pod.node_name = "x";
  pod.host_network = true;
  pod.hostname_selector = "x";
  pod.volumes = {{.has_host_path = true}};
  Container& c = pod.containers[0];
  c.privileged = true;
  c.proc_mount = "Unmasked";
  c.added_capabilities = {"ALL"};
  c.host_ports = {{0, 80}};
  c.gpu_variables = {{0, "CUDA_VISIBLE_DEVICES"}};
  for (const Check& check : checks()) {
    if (check.id == "label") continue;  // needs an old object: label_test.cpp
    const Violations found = find(check.id, pod, volcano_rulebook(), {});
    ASSERT_FALSE(found.empty()) << check.id;
    for (const Violation& violation : found) EXPECT_EQ(violation.check, check.id);
  }
}

std::string operations_of(const Check& check) {
  switch (check.applies) {
    case Applies::on_create:
      return "CREATE";
    case Applies::on_create_and_update:
      return "CREATE, UPDATE";
    case Applies::on_pod_update:
      return "UPDATE of pods";
  }
  return "";
}

// "| `id` | operations | opt-in | ..." → "id | operations | opt-in", of the page's first table.
std::vector<std::string> documented_rows() {
  std::ifstream page(kFixtures / "../../docs/checks.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) break;
    if (!line.starts_with("| `")) continue;
    std::istringstream cells(line);
    std::string skipped, id, operations, opt_in;
    std::getline(cells, skipped, '|');
    std::getline(cells, id, '|');
    std::getline(cells, operations, '|');
    std::getline(cells, opt_in, '|');
    const std::string_view code = base::trim(id);
    rows.push_back(std::string(code.substr(1, code.size() - 2)) + " | " +
                   std::string(base::trim(operations)) + " | " + std::string(base::trim(opt_in)));
  }
  return rows;
}

TEST(Checks, AreDocumentedInTheTablesOrder) {
  std::vector<std::string> rows;
  for (const Check& check : checks()) {
    rows.push_back(std::string(check.id) + " | " + operations_of(check) + " | " +
                   (check.opt_in ? "yes" : "no"));
  }
  rows.push_back("malformed | all | no");
  EXPECT_EQ(documented_rows(), rows);
}

}  // namespace
}  // namespace xila::policy
