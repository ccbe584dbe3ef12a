#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "xila/observe/once.hpp"

// How a survey is printed; that the cluster is read and judged is for the cluster's tests.
namespace xila::observe {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::chrono::system_clock::time_point kTime(std::chrono::seconds(1'796'119'200));

Finding finding(const std::string& name, const std::string& tenant, const std::string& pod,
                const std::string& node) {
  return {.id = "uid-" + pod + ":" + name,
          .name = name,
          .check = name,
          .tenant = tenant,
          .space = "space-" + tenant,
          .pod = pod,
          .node = node,
          .since = kTime,
          .evidence = {{.field = "f", .message = "message of " + pod}}};
}

Finding silent_profile() {
  return {.id = "profile/ray:profile-silent",
          .name = "profile-silent",
          .check = "profile-silent",
          .profile = "ray",
          .since = kTime,
          .evidence = {{.field = "workloadSelector", .message = "the selector is wrong"}}};
}

// Two tenants, two nodes, a profile, and a refusal.
Survey some() {
  Survey survey{.pods = 12'500, .nodes = 2, .spaces = 1, .not_judged = {"placement rules: no"}};
  survey.findings = {finding("route", "team-b", "serve-0", "n-2"), silent_profile(),
                     finding("pinned", "team-a", "train-1", "n-1"),
                     finding("pinned", "team-a", "train-0", "n-2")};
  survey.findings[2].is_certain = false;
  survey.findings[3].evidence.push_back({.field = "g", .message = "and this"});
  survey.findings[3].evidence.push_back({.field = "h", .message = "and that"});
  return survey;
}

std::string last_line(const std::string& text) {
  return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

TEST(SurveyText, IsTablesAndASentence) {
  EXPECT_EQ(survey_text(some()),
            "BY TENANT\n"
            "TENANT  FINDING  PODS\n"
            "team-a  pinned   2\n"
            "team-b  route    1\n"
            "\n"
            "BY NODE\n"
            "NODE  FINDING  PODS\n"
            "n-1   pinned   1\n"
            "n-2   pinned   1\n"
            "n-2   route    1\n"
            "\n"
            "BY FINDING\n"
            "FINDING         TENANT  POD                   NODE  WHY\n"
            "pinned          team-a  space-team-a/train-0  n-2   message of train-0 (and 2 more)\n"
            "pinned          team-a  space-team-a/train-1  n-1   message of train-1\n"
            "profile-silent  -       profile ray           -     the selector is wrong\n"
            "route           team-b  space-team-b/serve-0  n-2   message of serve-0\n"
            "\n"
            "Not judged: placement rules: no\n"
            "4 findings of 2 tenants on 2 nodes. Read: 12500 bound Pods, 2 nodes, 1 namespace.\n");
}

TEST(SurveyText, CountsAsPeopleDo) {
  struct Case {
    std::vector<Finding> findings;
    std::size_t pods, nodes, spaces;
    const char* line;
  };
  const Finding one = finding("pinned", "team-a", "train-0", "n-1");
  const Finding other_node = finding("pinned", "team-a", "train-1", "n-2");
  const Finding other_tenant = finding("pinned", "team-b", "serve-0", "n-1");
  const Case cases[] = {
      {{}, 0, 0, 0, "0 findings. Read: 0 bound Pods, 0 nodes, 0 namespaces.\n"},
      {{}, 1, 1, 1, "0 findings. Read: 1 bound Pod, 1 node, 1 namespace.\n"},
      {{one},
       1,
       2,
       3,
       "1 finding of 1 tenant on 1 node. Read: 1 bound Pod, 2 nodes, 3 namespaces.\n"},
      {{one, other_node},
       2,
       2,
       2,
       "2 findings of 1 tenant on 2 nodes. Read: 2 bound Pods, 2 nodes, 2 namespaces.\n"},
      {{one, other_tenant},
       2,
       2,
       2,
       "2 findings of 2 tenants on 1 node. Read: 2 bound Pods, 2 nodes, 2 namespaces.\n"},
      {{silent_profile()},
       2,
       2,
       2,
       "1 finding of 0 tenants on 0 nodes. Read: 2 bound Pods, 2 nodes, 2 namespaces.\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(last_line(survey_text(
                  {.findings = c.findings, .pods = c.pods, .nodes = c.nodes, .spaces = c.spaces})),
              c.line);
  }
}

TEST(SurveyText, WhatWasNotFoundHasNoTable) {
  EXPECT_EQ(survey_text({}), "0 findings. Read: 0 bound Pods, 0 nodes, 0 namespaces.\n");
  // A profile is nobody's Pod.
  EXPECT_TRUE(survey_text({.findings = {silent_profile()}}).starts_with("BY FINDING\n"));
}

TEST(SurveyText, NoNameBreaksALine) {
  const auto lines = [](const Survey& survey) {
    return std::ranges::count(survey_text(survey), '\n');
  };
  const std::ptrdiff_t expected = lines(some());
  for (const std::string evil : {"\n", "\r", "\x1b[2K", "\xc2\x9b", "\xe2\x80\xa8"}) {
    for (std::string Finding::* name :
         {&Finding::pod, &Finding::space, &Finding::tenant, &Finding::node}) {
      Survey survey = some();
      survey.findings[0].*name += evil + "forged";
      EXPECT_EQ(lines(survey), expected);
      EXPECT_THAT(survey_text(survey), testing::Not(HasSubstr(evil + "forged")));
      EXPECT_THAT(survey_text(survey), HasSubstr("forged"));
    }
    Survey survey = some();
    survey.not_judged[0] += evil + "forged";
    EXPECT_EQ(lines(survey), expected);
    EXPECT_THAT(survey_text(survey), testing::Not(HasSubstr(evil + "forged")));
  }
}

TEST(SurveyJson, CountsWhatItLists) {
  const json document = json::parse(survey_json(some(), kTime));
  EXPECT_EQ(document["schemaVersion"], 1);
  EXPECT_EQ(document["time"], "2026-12-01T10:00:00.000000Z");
  EXPECT_EQ(document["read"], (json{{"pods", 12'500}, {"nodes", 2}, {"namespaces", 1}}));
  EXPECT_EQ(document["notJudged"], (json::array({"placement rules: no"})));
  EXPECT_EQ(document["total"], 4);
  EXPECT_EQ(document["byFinding"], (json{{"pinned", 2}, {"profile-silent", 1}, {"route", 1}}));
  EXPECT_EQ(document["byTenant"], (json{{"team-a", 2}, {"team-b", 1}}));
  EXPECT_EQ(document["byNode"], (json{{"n-1", 1}, {"n-2", 2}}));

  const json& findings = document["findings"];
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0]["id"], "uid-serve-0:route");
  EXPECT_EQ(findings[0]["pod"], "serve-0");
  EXPECT_EQ(findings[0]["certain"], true);
  EXPECT_EQ(findings[1]["pod"], nullptr);
  EXPECT_EQ(findings[1]["profile"], "ray");
  EXPECT_EQ(findings[2]["certain"], false);
  EXPECT_EQ(findings[3]["evidence"].size(), 3u);
}

// Whoever reads it need not ask whether a key is there.
TEST(SurveyJson, HasAllItsKeysWhenThereIsNothing) {
  const json document = json::parse(survey_json({}, kTime));
  EXPECT_EQ(document, json::parse(R"({
    "schemaVersion": 1, "time": "2026-12-01T10:00:00.000000Z",
    "read": {"pods": 0, "nodes": 0, "namespaces": 0},
    "notJudged": [], "total": 0, "byFinding": {}, "byTenant": {}, "byNode": {}, "findings": []})"));
}

TEST(SurveyJson, IsJsonWhateverNamesHold) {
  Survey survey = some();
  survey.findings[0].pod = "a\n\"b\"\xff";
  survey.findings[0].tenant = survey.findings[0].node = "\xff";
  survey.not_judged = {"\xff\x1b"};
  const json document = json::parse(survey_json(survey, kTime), nullptr, false);
  ASSERT_FALSE(document.is_discarded());
  EXPECT_EQ(document["findings"][0]["pod"], "a\n\"b\"\xef\xbf\xbd");
  EXPECT_FALSE(json::parse(survey_sarif(survey, "1.0"), nullptr, false).is_discarded());
}

TEST(SurveySarif, IsARunOfTheTool) {
  const json document = json::parse(survey_sarif(some(), "1.2.3"));
  EXPECT_EQ(document["version"], "2.1.0");
  EXPECT_EQ(document["$schema"], "https://json.schemastore.org/sarif-2.1.0.json");
  ASSERT_EQ(document["runs"].size(), 1u);
  const json& run = document["runs"][0];
  const json& driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "xila-guard");
  EXPECT_EQ(driver["version"], "1.2.3");
  EXPECT_EQ(driver["rules"], json::parse(R"([{"id": "pinned", "name": "pinned"},
                                             {"id": "profile-silent", "name": "profile-silent"},
                                             {"id": "route", "name": "route"}])"));
  EXPECT_EQ(run["results"].size(), 4u);
}

TEST(SurveySarif, AResultIsAFindingWithItsPlace) {
  const json results = json::parse(survey_sarif(some(), "1.2.3"))["runs"][0]["results"];
  EXPECT_EQ(results[0], json::parse(R"({
    "ruleId": "route", "level": "error",
    "message": {"text": "Pod space-team-b/serve-0: message of serve-0"},
    "locations": [{
      "physicalLocation": {"artifactLocation": {"uri": "cluster/space-team-b/serve-0"}},
      "logicalLocations": [{"fullyQualifiedName": "space-team-b/serve-0", "kind": "object"}]}],
    "partialFingerprints": {"findingId/v1": "uid-serve-0:route"}})"));
  EXPECT_EQ(results[1]["message"]["text"], "the selector is wrong");
  EXPECT_EQ(results[1]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "profile/ray");
  EXPECT_EQ(results[2]["level"], "note");  // nobody knows it for certain
  EXPECT_EQ(results[3]["message"]["text"],
            "Pod space-team-a/train-0: message of train-0; and this; and that");
}

// A viewer that reads only results would take what was not looked at for clean.
TEST(SurveySarif, SaysWhatWasNotJudged) {
  struct Case {
    std::vector<std::string> not_judged;
    const char* invocations;
  };
  const Case cases[] = {
      {{}, R"([{"executionSuccessful": true, "toolExecutionNotifications": []}])"},
      {{"placement rules: no", "host-path-claim: no"},
       R"([{"executionSuccessful": false, "toolExecutionNotifications": [
             {"level": "error", "message": {"text": "placement rules: no"}},
             {"level": "error", "message": {"text": "host-path-claim: no"}}]}])"},
  };
  for (const Case& c : cases) {
    const json document = json::parse(survey_sarif({.not_judged = c.not_judged}, "1.2.3"));
    EXPECT_EQ(document["runs"][0]["invocations"], json::parse(c.invocations));
    EXPECT_EQ(document["runs"][0]["results"], json::array());
    EXPECT_EQ(document["runs"][0]["tool"]["driver"]["rules"], json::array());
  }
}

}  // namespace
}  // namespace xila::observe
