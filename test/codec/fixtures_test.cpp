// The recorded reviews and the fixtures of the checks, from bytes to verdict.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "codec/review_text.hpp"
#include "xila/policy/decide.hpp"

namespace xila::codec {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using policy::SelectorOperator;

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

policy::LabelSelector exists(std::string key) {
  return {{{.key = std::move(key)}}};
}

// As profiles.yaml of each folder has it.
policy::Rulebook rulebook_of(const std::string& orchestrator) {
  policy::Rulebook rules;
  policy::Profile profile{.name = orchestrator, .scheduler_name = orchestrator};
  if (orchestrator == "volcano") profile.workload_selectors = {exists("volcano.sh/job-name")};
  if (orchestrator == "kueue") {
    profile.scheduler_name = "default-scheduler";
    profile.workload_selectors = {exists("kueue.x-k8s.io/queue-name"),
                                  exists("kueue.x-k8s.io/podset"),
                                  {{{"kueue.x-k8s.io/managed", SelectorOperator::in, {"true"}}}}};
  }
  if (orchestrator == "yunikorn") {
    profile.workload_selectors = {exists("yunikorn.apache.org/app-id"), exists("applicationId"),
                                  exists("spark-app-selector")};
  }
  rules.accepted_schedulers.insert(profile.scheduler_name);
  rules.profiles.push_back(std::move(profile));
  return rules;
}

policy::TenantResolution tenant_of(const std::string& space) {
  if (space == "team-a") return policy::TenantResolution::resolved("team-a");
  return policy::TenantResolution::unresolved("namespace has no label guard.xila.us/tenant");
}

policy::Decision decide(const policy::Review& review, const policy::Rulebook& rules) {
  return policy::decide(review, rules.profiles.at(0).name, tenant_of(review.subject.space), rules);
}

// The ids, sorted as expect.json has them.
std::vector<std::string> checks_of(const policy::Decision& decision) {
  std::set<std::string> ids;
  for (const policy::Violation& violation : decision.violations) ids.insert(violation.check);
  return {ids.begin(), ids.end()};
}

TEST(RecordedReviews, GetTheirVerdicts) {
  const fs::path folder = fs::path(XILA_FIXTURES) / "reviews";
  const json expected = json::parse(read_file(folder / "expect.json"));
  ASSERT_GE(expected.size(), 40U);
  for (const auto& [name, want] : expected.items()) {
    SCOPED_TRACE(name);
    const auto review = decode(read_file(folder / name));
    ASSERT_TRUE(review) << review.error().message;
    const policy::Decision decision = decide(*review, rulebook_of(name.substr(0, name.find('/'))));
    EXPECT_EQ(policy::is_allowed(decision.outcome), want["allowed"].get<bool>());
    EXPECT_EQ(checks_of(decision), want["checks"].get<std::vector<std::string>>());
  }
}

// A Pod's text is wrapped into its CREATE in namespace team-a; *.review.json is a whole review.
base::Result<policy::Review> decode_fixture(const fs::path& file) {
  const std::string text = read_file(file);
  return decode(file.filename().string().ends_with(".review.json") ? text : create_of(text));
}

TEST(CheckFixtures, AreDeniedForTheirCheckOnlyOrAllowed) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(XILA_FIXTURES) / "checks")) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().string());
    const bool is_allowed = entry.path().parent_path().filename() == "allow";
    const std::string check = entry.path().parent_path().parent_path().filename();
    policy::Rulebook rules = rulebook_of("volcano");
    rules.extra_checks = {check};

    const auto review = decode_fixture(entry.path());
    ASSERT_TRUE(review) << review.error().message;
    const policy::Decision decision = decide(*review, rules);
    EXPECT_EQ(policy::is_allowed(decision.outcome), is_allowed);
    EXPECT_EQ(checks_of(decision), is_allowed ? std::vector<std::string>{} : std::vector{check});
    ++count;
  }
  EXPECT_GE(count, 2 * policy::checks().size());
}

}  // namespace
}  // namespace xila::codec
