#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problems.hpp"
#include "xila/config/load.hpp"

namespace xila::config {
namespace {

using policy::LabelSelector;
using policy::Profile;
using policy::SelectorOperator;
using ::testing::ElementsAre;
using Texts = std::vector<std::string>;

constexpr const char* kHeader =
    "apiVersion: guard.xila.us/v1alpha1\n"
    "kind: OrchestratorProfiles\n";

// Problems of a file whose one profile has these lines besides a name; its body starts on line 4.
Texts problems_of_profile(const std::string& lines) {
  return problems_of(parse_profiles(kHeader + ("profiles:\n- name: p\n" + lines), "f"));
}

Texts problems_of_file(const std::string& text) {
  return problems_of(parse_profiles(text, "f"));
}

TEST(Profiles, ReadsEveryKey) {
  const auto profiles = parse_profiles(R"(
apiVersion: guard.xila.us/v1alpha1
kind: OrchestratorProfiles
profiles:
  - name: volcano
    schedulerName: volcano
    workloadSelector:
      matchLabels: {app: "yes"}
      matchExpressions:
        - {key: volcano.sh/job-name, operator: Exists}
        - {key: tier, operator: NotIn, values: [a, "1"]}
    namespaceSelector: {}
    mode: warn
    routeGuard: true
    verification: verified
  - name: kueue
    schedulerName: ""
    workloadSelectors:
      - matchLabels: {"kueue.x-k8s.io/managed": 'true'}
      - matchExpressions: [{key: kueue.x-k8s.io/podset, operator: Exists, values: []}]
)",
                                       "f");
  ASSERT_EQ(problems_of(profiles), Texts{});
  const std::vector<Profile> expected{
      {.name = "volcano",
       .scheduler_name = "volcano",
       .workload_selectors = {LabelSelector{{{"app", SelectorOperator::in, {"yes"}},
                                             {"volcano.sh/job-name", SelectorOperator::exists, {}},
                                             {"tier", SelectorOperator::not_in, {"a", "1"}}}}},
       .namespace_selector = LabelSelector{},
       .mode = policy::Mode::warn,
       .route_guard = true,
       .verification = policy::Verification::verified},
      {.name = "kueue",
       .scheduler_name = "",
       .workload_selectors = {
           LabelSelector{{{"kueue.x-k8s.io/managed", SelectorOperator::in, {"true"}}}},
           LabelSelector{{{"kueue.x-k8s.io/podset", SelectorOperator::exists, {}}}}}}};
  EXPECT_EQ(*profiles, expected);
}

TEST(Profiles, MayBeNone) {
  const auto profiles = parse_profiles(std::string(kHeader) + "profiles: []\n", "f");
  ASSERT_EQ(problems_of(profiles), Texts{});
  EXPECT_TRUE(profiles->empty());
}

TEST(Profiles, ReportEveryMistakeAtOnceInTheOrderOfTheText) {
  EXPECT_THAT(
      problems_of_file(R"(apiVersion: guard.xila.us/v1alpha1
kind: OrchestratorProfiles
extra: 1
profiles:
  - name: Volcano
    schedulerName:
    workloadSelector: {matchLabels: {a: yes}}
    tolerate: x
  - schedulerName: s
    schedulerName: t
    workloadSelector: {}
    mode: enforced
)"),
      ElementsAre(
          "f:3:1: extra: unknown key, expected one of apiVersion, kind, profiles",
          "f:5:11: profiles[0].name: \"Volcano\" is invalid: it must be 1 to 63 bytes of a-z, 0-9 "
          "and \"-\", with a letter or digit at both ends",
          "f:6:5: profiles[0].schedulerName: null, expected a string",
          "f:7:41: profiles[0].workloadSelector.matchLabels[a]: yes is a boolean without quotes, "
          "expected a string; write \"yes\"",
          "f:8:5: profiles[0].tolerate: unknown key, expected one of name, schedulerName, "
          "workloadSelector, workloadSelectors, namespaceSelector, mode, routeGuard, verification",
          "f:9:5: profiles[1].name: missing, expected a string",
          "f:10:5: profiles[1].schedulerName: key is repeated, first on line 9",
          "f:11:23: profiles[1].workloadSelector: selects every Pod; name a label of the "
          "orchestrator's Pods, or let enforcement.enabled cover whole namespaces",
          "f:12:11: profiles[1].mode: \"enforced\", expected enforce, warn or audit"));
}

TEST(Profiles, RefuseAnotherKindOfFile) {
  EXPECT_THAT(problems_of_file("apiVersion: v1\nkind: GuardPolicy\ntenants: {}\n"),
              ElementsAre("f:1:1: profiles: missing, expected a list",
                          "f:1:13: apiVersion: \"v1\", expected guard.xila.us/v1alpha1",
                          "f:2:7: kind: \"GuardPolicy\", expected OrchestratorProfiles"));
  EXPECT_THAT(problems_of_file("- a\n"), ElementsAre("f:1:1: a list, expected a mapping"));
  EXPECT_THAT(problems_of_file("a\n"), ElementsAre("f:1:1: a, expected a mapping"));
  EXPECT_THAT(problems_of_file("~\n"), ElementsAre("f:1:1: null, expected a mapping"));
}

TEST(Profiles, RefuseATextThatIsNotOneDocument) {
  const std::string good = std::string(kHeader) + "profiles: []\n";
  struct Case {
    const char* name;
    std::string text;
    std::string problem;
  };
  const Case cases[] = {
      {"empty", "", "f: empty, expected one document"},
      {"comments only", "# a\n", "f: empty, expected one document"},
      {"two documents", good + "---\n" + good, "f:5:1: a second document, expected one"},
      {"a second, empty document", good + "---\n", "f:5:1: a second document, expected one"},
      {"text after the document", "{a: b}\nc: d\n", "f:2:1: a second document, expected one"},
      {"byte order mark", "\xEF\xBB\xBF" + good,
       "f:1:1: byte order mark; save the file as UTF-8 without one"},
      {"not UTF-8", good + "# \xFF\n", "f:4:3: not UTF-8: byte 0xff"},
      {"tab", "a:\n \tb: c\n", "f:2:2: tab in the indentation; use spaces"},
      {"tab in flow style", "a: [\n\tb]\n", "f:2:1: tab in the indentation; use spaces"},
      {"too long", good + std::string(1 << 20, '#'), "f: longer than 1 MiB"},
      {"too deep", "a: " + std::string(40, '[') + std::string(40, ']'),
       "f:1:35: nested more than 32 levels deep"},
      {"no YAML", "a: b: c\n", "f:1:5: illegal map value"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(problems_of_file(c.text), Texts{c.problem});
  }
  EXPECT_EQ(problems_of_file(good + "\t\n# a\tb\n...\n"), Texts{})
      << "tabs elsewhere and an end mark do no harm";
}

TEST(Profiles, RefuseValuesOfTheWrongType) {
  const std::string rest = "  workloadSelector: {matchLabels: {a: b}}\n";
  struct Case {
    std::string line;
    std::string problem;
  };
  const Case cases[] = {
      {"schedulerName: 1e6",
       "f:5:18: profiles[0].schedulerName: 1e6 is a number without quotes, expected a string; "
       "write \"1e6\""},
      {"schedulerName: 2024-01-01",
       "f:5:18: profiles[0].schedulerName: 2024-01-01 is a timestamp without quotes, expected a "
       "string; write \"2024-01-01\""},
      {"schedulerName: ~", "f:5:18: profiles[0].schedulerName: null, expected a string"},
      {"schedulerName: [a]", "f:5:18: profiles[0].schedulerName: a list, expected a string"},
      {"schedulerName: {a: b}", "f:5:18: profiles[0].schedulerName: a mapping, expected a string"},
      {"schedulerName: &x a",
       "f:5:18: profiles[0].schedulerName: an anchor; these files take no anchors and aliases"},
      {"schedulerName: !!str a",
       "f:5:18: profiles[0].schedulerName: the tag \"tag:yaml.org,2002:str\"; remove it"},
      {"schedulerName: ! 5", "f:5:18: profiles[0].schedulerName: the tag \"!\"; remove it"},
      {"schedulerName: \"a\\nb\"",
       "f:5:18: profiles[0].schedulerName: \"a\\nb\" has a control character in it"},
      {"schedulerName: \"a\\0\"",
       "f:5:18: profiles[0].schedulerName: \"a\\u0000\" has a control character in it"},
      {"schedulerName: \"a\\u202eb\"",
       "f:5:18: profiles[0].schedulerName: \"a\\u202eb\" has a control character in it"},
      {"schedulerName: s\n  mode: on",
       "f:6:9: profiles[0].mode: on is a boolean without quotes, expected a string; write \"on\""},
      {"schedulerName: s\n  mode: Enforce",
       "f:6:9: profiles[0].mode: \"Enforce\", expected enforce, warn or audit"},
      {"schedulerName: s\n  routeGuard: yes",
       "f:6:15: profiles[0].routeGuard: yes (a boolean), expected true or false"},
      {"schedulerName: s\n  routeGuard: \"true\"",
       "f:6:15: profiles[0].routeGuard: the string \"true\", expected true or false"},
      {"schedulerName: s\n  routeGuard:",
       "f:6:3: profiles[0].routeGuard: null, expected true or false"},
      {"schedulerName: s\n  routeGuard: True",
       "f:6:15: profiles[0].routeGuard: True (a boolean), expected true or false"},
      {"schedulerName: s\n  verification: maybe",
       "f:6:17: profiles[0].verification: \"maybe\", expected verified or example"},
      {"schedulerName: s\n  <<: {}", "f:6:3: profiles[0].<<: merge key; write the keys out"},
      {"schedulerName: s\n  on: x",
       "f:6:3: profiles[0].on: on is a boolean without quotes, expected a string; write \"on\""},
      {"schedulerName: s\n  ? [a]\n  : b", "f:6:5: profiles[0].a key: a list, expected a string"},
      {"schedulerName: s\n  namespaceSelector:",
       "f:6:3: profiles[0].namespaceSelector: null, expected a mapping"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.line);
    EXPECT_EQ(problems_of_profile("  " + c.line + "\n" + rest), Texts{c.problem});
  }
}

TEST(Profiles, SchedulerNameMustBeWrittenAndIsAnyString) {
  const std::string rest = "  workloadSelector: {matchLabels: {a: b}}\n";
  EXPECT_THAT(problems_of_profile(rest),
              ElementsAre("f:4:3: profiles[0].schedulerName: missing, expected a string, \"\" for "
                          "the default scheduler"));
  for (const char* name :
       {"\"\"", "default-scheduler", "My Scheduler/2", "\"123\"", "\"null\"", "\xC3\xA9"}) {
    EXPECT_EQ(problems_of_profile(std::string("  schedulerName: ") + name + "\n" + rest), Texts{})
        << name;
  }
}

TEST(Profiles, NamesAreUniqueLabelsAndNotReserved) {
  const auto two = [](const std::string& first, const std::string& second) {
    const std::string rest = ", schedulerName: s, workloadSelector: {matchLabels: {a: b}}}\n";
    return problems_of_file(kHeader +
                            ("profiles:\n- {name: " + first + rest + "- {name: " + second + rest));
  };
  EXPECT_EQ(two("a", "b"), Texts{});
  EXPECT_EQ(two("a", "a"),
            Texts{"f:5:10: profiles[1].name: \"a\" is already the name of profiles[0]"});
  EXPECT_EQ(
      two("a", "enforcement"),
      Texts{
          "f:5:10: profiles[1].name: \"enforcement\" is reserved for the path without a profile"});
  EXPECT_EQ(two("a", "\"\"").size(), 1U);
  EXPECT_EQ(two("a", "a.b").size(), 1U);
  EXPECT_EQ(two("a", "'12'"), Texts{});
}

TEST(Profiles, HaveExactlyOneKindOfSelectorAndNoneThatSelectsEverything) {
  struct Case {
    std::string lines;
    Texts problems;
  };
  const std::string everything =
      ": selects every Pod; name a label of the orchestrator's Pods, or let enforcement.enabled "
      "cover whole "
      "namespaces";
  const Case cases[] = {
      {"",
       {"f:4:3: profiles[0].workloadSelector: missing, expected a label selector, or several in "
        "workloadSelectors"}},
      {"  workloadSelector: {matchLabels: {a: b}}\n  workloadSelectors: [{matchLabels: {a: b}}]\n",
       {"f:7:22: profiles[0].workloadSelectors: stands beside workloadSelector, expected one of "
        "the two"}},
      {"  workloadSelector: {}\n", {"f:6:21: profiles[0].workloadSelector" + everything}},
      {"  workloadSelector: {matchLabels: {}, matchExpressions: []}\n",
       {"f:6:21: profiles[0].workloadSelector" + everything}},
      {"  workloadSelectors: []\n",
       {"f:6:22: profiles[0].workloadSelectors: empty, expected at least one label selector"}},
      {"  workloadSelectors: [{matchLabels: {a: b}}, {}]\n",
       {"f:6:46: profiles[0].workloadSelectors[1]" + everything}},
      {"  workloadSelectors: {matchLabels: {a: b}}\n",
       {"f:6:22: profiles[0].workloadSelectors: a mapping, expected a list"}},
      {"  workloadSelector: {matchLabel: {a: b}}\n",
       {"f:6:22: profiles[0].workloadSelector.matchLabel: unknown key, expected one of "
        "matchLabels, matchExpressions"}},
      {"  workloadSelector:\n", {"f:6:3: profiles[0].workloadSelector: null, expected a mapping"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.lines);
    EXPECT_EQ(problems_of_profile("  schedulerName: s\n" + c.lines), c.problems);
  }
}

TEST(Profiles, SelectorsFollowKubernetesRules) {
  struct Case {
    std::string selector;
    std::string problem;  // without its beginning
  };
  const std::string bad_name =
      " is invalid: its name must be 1 to 63 bytes of letters, digits, \"-\", \"_\" and \".\", "
      "with a letter or digit "
      "at both ends, after an optional DNS name and one \"/\"";
  const std::string bad_value =
      " is invalid: it must be empty or at most 63 bytes of letters, digits, \"-\", \"_\" and "
      "\".\", with a letter or "
      "digit at both ends";
  const Case cases[] = {
      {"{matchLabels: {\"a b\": c}}",
       "f:6:36: profiles[0].workloadSelector.matchLabels[a b]: label key \"a b\"" + bad_name},
      {"{matchLabels: {a: \"b c\"}}",
       "f:6:39: profiles[0].workloadSelector.matchLabels[a]: label value \"b c\"" + bad_value},
      {"{matchLabels: {a: $(tenant)}}",
       "f:6:39: profiles[0].workloadSelector.matchLabels[a]: label value \"$(tenant)\"" +
           bad_value},
      {"{matchLabels: {1: b}}",
       "f:6:36: profiles[0].workloadSelector.matchLabels.1: 1 is a number without quotes, expected "
       "a string; write \"1\""},
      {"{matchLabels: {a: b, a: c}}",
       "f:6:42: profiles[0].workloadSelector.matchLabels.a: key is repeated, first on line 6"},
      {"{matchLabels: [a]}",
       "f:6:35: profiles[0].workloadSelector.matchLabels: a list, expected a mapping"},
      {"{matchExpressions: {}}",
       "f:6:40: profiles[0].workloadSelector.matchExpressions: a mapping, expected a list"},
      {"{matchExpressions: [{key: a, operator: exists}]}",
       "f:6:60: profiles[0].workloadSelector.matchExpressions[0].operator: \"exists\" is no "
       "operator, use In, NotIn, Exists or DoesNotExist, spelled so"},
      {"{matchExpressions: [{operator: Exists}]}",
       "f:6:41: profiles[0].workloadSelector.matchExpressions[0].key: missing, expected a string"},
      {"{matchExpressions: [{key: a}]}",
       "f:6:41: profiles[0].workloadSelector.matchExpressions[0].operator: missing, expected a "
       "string"},
      {"{matchExpressions: [{key: a, operator: In}]}",
       "f:6:41: profiles[0].workloadSelector.matchExpressions[0].values: operator In of key \"a\" "
       "needs at least one value"},
      {"{matchExpressions: [{key: a, operator: Exists, values: [b]}]}",
       "f:6:76: profiles[0].workloadSelector.matchExpressions[0].values: operator Exists of key "
       "\"a\" takes no values"},
      {"{matchExpressions: [{key: a, operator: In, values: [b, 7]}]}",
       "f:6:76: profiles[0].workloadSelector.matchExpressions[0].values[1]: 7 is a number without "
       "quotes, expected a string; write \"7\""},
      {"{matchExpressions: [{key: a, operator: In, values: b}]}",
       "f:6:72: profiles[0].workloadSelector.matchExpressions[0].values: b, expected a list"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.selector);
    EXPECT_THAT(problems_of_profile("  schedulerName: s\n  workloadSelector: " + c.selector + "\n"),
                ElementsAre(c.problem));
  }
}

TEST(Profiles, RouteGuardNeedsASchedulerOfItsOwn) {
  const auto with = [](const std::string& scheduler) {
    return problems_of_profile("  schedulerName: " + scheduler +
                               "\n  workloadSelector: {matchLabels: {a: b}}\n  routeGuard: true\n");
  };
  EXPECT_EQ(with("s"), Texts{});
  for (const char* scheduler : {"\"\"", "default-scheduler"}) {
    EXPECT_EQ(with(scheduler),
              Texts{"f:7:15: profiles[0].routeGuard: true, but every ordinary Pod has the default "
                    "scheduler; let enforcement.enabled cover whole namespaces instead"});
  }
}

TEST(Profiles, ReportAtMostAHundredProblems) {
  std::string text = std::string(kHeader) + "profiles: []\n";
  for (int i = 0; i < 150; ++i) text += "k" + std::to_string(i) + ": x\n";
  const Texts problems = problems_of_file(text);
  ASSERT_EQ(problems.size(), 101U);
  EXPECT_EQ(problems.back(), "f: and 50 more problems");
}

TEST(Profiles, CasesFromTheFieldGetTheirRightAnswer) {
  struct Case {
    std::string file;
    std::vector<std::string> mentions;  // {} = accepted
  };
  const Case cases[] = {
      {"083-yaml-duplicate-keys/profiles.yaml", {"schedulerName"}},
      {"083-yaml-duplicate-keys/profiles-two-lists.yaml", {"profiles"}},
      {"083-yaml-duplicate-keys/profiles-same-name.yaml", {"volcano"}},
      {"085-yaml-unquoted-scalars/profiles.yaml",
       {"guard.xila.us/managed", "guard.xila.us/protected", "1e6"}},
      {"085-yaml-unquoted-scalars/profiles-null-scheduler.yaml", {"schedulerName"}},
      {"085-yaml-unquoted-scalars/profiles-tilde.yaml", {"schedulerName"}},
      {"085-yaml-unquoted-scalars/profiles-quoted-ok.yaml", {}},
      {"086-yaml-deep-nesting/profiles-flow.yaml", {"nested more than 32 levels deep"}},
      {"086-yaml-deep-nesting/profiles-seq.yaml", {"nested more than 32 levels deep"}},
      {"086-yaml-deep-nesting/profiles-in-selector.yaml", {"nested more than 32 levels deep"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.file);
    const std::string path = std::string(XILA_FIXTURES "/cases/") + c.file;
    const auto rulebook = load_rulebook({.profiles = path});
    EXPECT_EQ(rulebook.has_value(), c.mentions.empty());
    std::string all;
    for (const std::string& text : problems_of(rulebook)) {
      EXPECT_TRUE(text.starts_with(path + ":")) << text;
      all += text + "\n";
    }
    for (const std::string& mention : c.mentions) EXPECT_THAT(all, ::testing::HasSubstr(mention));
  }
}

}  // namespace
}  // namespace xila::config
