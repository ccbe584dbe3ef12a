#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "webhook/served.hpp"
#include "xila/config/load.hpp"

namespace xila::webhook {
namespace {

namespace fs = std::filesystem;

const fs::path kReviews = fs::path(XILA_FIXTURES) / "reviews";
const fs::path kCases = fs::path(XILA_FIXTURES) / "cases";

policy::Rulebook load_profiles(const fs::path& file) {
  auto loaded = config::load_rulebook({.profiles = file});
  EXPECT_TRUE(loaded) << file;
  return loaded.value_or(policy::Rulebook{});
}

std::set<std::string> checks_of(const json& response) {
  std::set<std::string> checks;
  const json causes = response.value("/status/details/causes"_json_pointer, json::array());
  for (const json& cause : causes) checks.insert(cause["reason"]);
  return checks;
}

TEST(RecordedReviews, GetTheirExpectedAnswers) {
  const json expected = json::parse(read_file(kReviews / "expect.json"));
  ASSERT_GE(expected.size(), 40U);
  for (const auto& [name, want] : expected.items()) {
    SCOPED_TRACE(name);
    const std::string folder = name.substr(0, name.find('/'));
    policy::Rulebook rules = load_profiles(kReviews / folder / "profiles.yaml");
    rules.static_tenants = {{"team-a", "team-a"}};
    Admission admission(rules);
    const std::string body = read_file(kReviews / name);
    const json response = admission.answer_json(body, "/validate/" + folder)["response"];
    EXPECT_EQ(response["uid"], json::parse(body)["request"]["uid"]);
    EXPECT_EQ(response["allowed"], want["allowed"]) << response.dump(1);
    EXPECT_EQ(checks_of(response), want["checks"].get<std::set<std::string>>());
  }
}

// As _common/cluster.yaml describes it.
policy::Rulebook rulebook_of_cases(const fs::path& folder) {
  const fs::path own = folder / "profiles.yaml";
  policy::Rulebook rules = load_profiles(fs::exists(own) ? own : kCases / "_common/profiles.yaml");
  rules.accepted_schedulers.insert("volcano");
  rules.static_tenants = {{"team-a", "team-a"}, {"team-b", "team-b"}, {"gpu-system", "platform"}};
  rules.trusted_daemon_set_service_accounts = {"gpu-system/nvidia-device-plugin"};
  return rules;
}

void expect_outcome(Admission& admission, const std::string& body, const json& want) {
  const net::Response answer = admission.answer(post("/validate/volcano", body));
  std::vector<int> statuses = want.value("http_alt", std::vector<int>{});
  statuses.push_back(want["http"]);
  EXPECT_THAT(statuses, testing::Contains(answer.status)) << answer.body;
  if (answer.status != 200) {
    EXPECT_NE(want["allowed"], true);
    return;
  }
  const json response = json::parse(answer.body)["response"];  // strict about UTF-8
  const bool wants_allowed = want["allowed"].is_boolean() && want["allowed"].get<bool>();
  EXPECT_EQ(response["allowed"], wants_allowed) << response.dump(1);
  if (want.contains("uid")) {
    EXPECT_EQ(response["uid"], want["uid"]);
  }
  const std::set<std::string> checks = checks_of(response);
  for (const json& check : want.value("reasons", json::array()))
    EXPECT_TRUE(checks.contains(check)) << check;
  for (const json& check : want.value("must_not", json::array()))
    EXPECT_FALSE(checks.contains(check)) << check;
}

// file → outcome, of the cases whose input is one body.
std::map<std::string, json> outcomes(const fs::path& folder) {
  if (!fs::exists(folder / "expect.json") || fs::exists(folder / "cluster.yaml")) return {};
  const json expected = json::parse(read_file(folder / "expect.json"));
  std::map<std::string, json> found;
  for (const auto& file : fs::directory_iterator(folder)) {
    const std::string name = file.path().filename();
    const bool is_body = name.ends_with(".json") || name.ends_with(".bin");
    if (!is_body || name == "expect.json") continue;
    const json& want = expected.contains("http") || expected.contains("config")
                           ? expected
                           : expected.value(name, json());
    if (want.contains("http")) found[name] = want;
  }
  return found;
}

TEST(CasesFromTheField, GetTheirExpectedAnswers) {
  const std::string good = read_file(kCases / "_common/ok.json");
  std::size_t count = 0;
  for (const auto& folder : fs::directory_iterator(kCases)) {
    if (!folder.is_directory()) continue;
    for (const auto& [name, want] : outcomes(folder.path())) {
      SCOPED_TRACE((folder.path() / name).string());
      Admission admission(rulebook_of_cases(folder.path()));
      expect_outcome(admission, read_file(folder.path() / name), want);
      if (!fs::exists(folder.path() / "profiles.yaml")) {
        EXPECT_EQ(admission.answer_json(good)["response"]["allowed"], true);
      }
      ++count;
    }
  }
  EXPECT_GE(count, 30U);
}

}  // namespace
}  // namespace xila::webhook
