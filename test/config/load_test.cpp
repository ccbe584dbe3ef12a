#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "problems.hpp"
#include "xila/config/load.hpp"

namespace xila::config {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

constexpr const char* kProfiles =
    "apiVersion: guard.xila.us/v1alpha1\nkind: OrchestratorProfiles\nprofiles:\n"
    "- {name: a, schedulerName: one, workloadSelector: {matchLabels: {l: a}}}\n"
    "- {name: b, schedulerName: \"\", workloadSelector: {matchLabels: {l: b}}}\n";
constexpr const char* kPolicy =
    "apiVersion: guard.xila.us/v1alpha1\nkind: GuardPolicy\ntenants: {namespaces: {space: t}}\n";

// A folder of its own, which goes with the test.
class Load : public ::testing::Test {
 protected:
  Load() {
    std::string name = (fs::temp_directory_path() / "xila-load-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Load() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  fs::path folder_;
};

TEST_F(Load, JoinsBothFilesAndTheFlag) {
  const auto rulebook = load_rulebook({.profiles = write("profiles.yaml", kProfiles),
                                       .policy = write("policy.yaml", kPolicy),
                                       .external_schedulers = {"two", "one", "three"}});
  ASSERT_EQ(problems_of(rulebook), Texts{});
  EXPECT_EQ(rulebook->profiles.size(), 2U);
  EXPECT_EQ(rulebook->static_tenants.at("space"), "t");
  EXPECT_EQ(rulebook->accepted_schedulers,
            (std::set<std::string, std::less<>>{"default-scheduler", "one", "three", "two"}));
}

TEST_F(Load, WithoutFilesAcceptsNothingAndTrustsNobody) {
  const auto rulebook = load_rulebook({});
  ASSERT_TRUE(rulebook);
  EXPECT_EQ(*rulebook, policy::Rulebook{});
}

TEST_F(Load, TheEmptySchedulerOfTheFlagIsTheDefaultOne) {
  const auto rulebook = load_rulebook({.external_schedulers = {""}});
  ASSERT_TRUE(rulebook);
  EXPECT_EQ(rulebook->accepted_schedulers,
            (std::set<std::string, std::less<>>{"default-scheduler"}));
}

TEST_F(Load, ReportsTheProblemsOfBothFilesAndTheFlag) {
  const fs::path profiles = write("profiles.yaml", "a: b\n");
  const fs::path missing = folder_ / "missing.yaml";
  EXPECT_EQ(problems_of(load_rulebook(
                {.profiles = profiles, .policy = missing, .external_schedulers = {"a\nb"}})),
            (Texts{profiles.string() + ":1:1: apiVersion: missing, expected a string",
                   profiles.string() + ":1:1: kind: missing, expected a string",
                   profiles.string() + ":1:1: profiles: missing, expected a list",
                   missing.string() + ": cannot open: No such file or directory",
                   "--external-schedulers: \"a\\nb\" has a control character in it"}));
}

TEST_F(Load, RefusesTheSpaceThatAListLeavesInFrontOfAName) {
  EXPECT_EQ(problems_of(load_rulebook({.external_schedulers = {"a", " b"}})),
            Texts{"--external-schedulers: \" b\" begins or ends with a space"});
}

TEST_F(Load, RefusesAFolderAndWhatIsTooLong) {
  EXPECT_EQ(problems_of(load_rulebook({.policy = folder_})),
            Texts{folder_.string() + ": cannot read: Is a directory"});
  const fs::path large = write("large.yaml", kPolicy + std::string(1 << 20, '#'));
  EXPECT_EQ(problems_of(load_rulebook({.policy = large})),
            Texts{large.string() + ": longer than 1 MiB"});
}

// A mounted ConfigMap is a symbolic link to a symbolic link.
TEST_F(Load, FollowsTheLinksOfAConfigMap) {
  fs::create_directory(folder_ / "..2024");
  write("..2024/policy.yaml", kPolicy);
  fs::create_directory_symlink("..2024", folder_ / "..data");
  fs::create_symlink("..data/policy.yaml", folder_ / "policy.yaml");
  EXPECT_EQ(problems_of(load_rulebook({.policy = folder_ / "policy.yaml"})), Texts{});
}

TEST(ProblemText, IsWhatEditorsJumpTo) {
  EXPECT_EQ(to_text({"f.yaml", 7, 5, "a: null, expected a string"}),
            "f.yaml:7:5: a: null, expected a string");
  EXPECT_EQ(to_text({"f.yaml", 7, 0, "m"}), "f.yaml:7: m");
  EXPECT_EQ(to_text({"f.yaml", 0, 0, "m"}), "f.yaml: m");
}

}  // namespace
}  // namespace xila::config
