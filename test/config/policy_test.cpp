#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problems.hpp"
#include "xila/config/load.hpp"

namespace xila::config {
namespace {

using policy::LabelSelector;
using policy::Rulebook;
using policy::SelectorOperator;
using Texts = std::vector<std::string>;

constexpr const char* kHeader =
    "apiVersion: guard.xila.us/v1alpha1\n"
    "kind: GuardPolicy\n";

// Problems of a policy whose body starts on line 3.
Texts problems_of_policy(const std::string& lines) {
  return problems_of(parse_policy(kHeader + lines, "f"));
}

TEST(Policy, ReadsEveryKey) {
  const auto rulebook = parse_policy(std::string(kHeader) + R"yaml(
tenants:
  namespaceLabel: example.com/team
  namespaces: {ml-infra: platform, "123": "456"}
trustedDaemonSetServiceAccounts: [gpu-operator/nvidia-device-plugin, kube-system/a.b]
daemonSetControllerUser: system:other
extraChecks: [host-port, gpu-visible-devices]
placement:
  rules:
    - name: tenant-pools
      tenants: ["*"]
      require:
        matchLabels: {zone: z-$(tenant)}
        matchExpressions: [{key: guard.xila.us/pool, operator: In, values: ["$(tenant)", shared]}]
    - name: regulated-only-attested
      tenants: [bank-a, bank-b]
      require: {matchLabels: {guard.xila.us/attested: "true"}}
      exclusive: true
    - name: alone
      tenants: [x]
      exclusive: true
)yaml",
                                     "f");
  ASSERT_EQ(problems_of(rulebook), Texts{});
  Rulebook expected;
  expected.tenant_label = "example.com/team";
  expected.static_tenants = {{"ml-infra", "platform"}, {"123", "456"}};
  expected.trusted_daemon_set_service_accounts = {"gpu-operator/nvidia-device-plugin",
                                                  "kube-system/a.b"};
  expected.daemon_set_controller_user = "system:other";
  expected.extra_checks = {"host-port", "gpu-visible-devices"};
  expected.placement_rules = {
      {.name = "tenant-pools",
       .tenants = {"*"},
       .require =
           LabelSelector{{{"zone", SelectorOperator::in, {"z-$(tenant)"}},
                          {"guard.xila.us/pool", SelectorOperator::in, {"$(tenant)", "shared"}}}}},
      {.name = "regulated-only-attested",
       .tenants = {"bank-a", "bank-b"},
       .require = LabelSelector{{{"guard.xila.us/attested", SelectorOperator::in, {"true"}}}},
       .exclusive = true},
      {.name = "alone", .tenants = {"x"}, .exclusive = true}};
  EXPECT_EQ(*rulebook, expected);
}

TEST(Policy, EveryKeyIsOptional) {
  const auto rulebook = parse_policy(kHeader, "f");
  ASSERT_EQ(problems_of(rulebook), Texts{});
  EXPECT_EQ(*rulebook, Rulebook{});
}

TEST(Policy, RefusesWhatItCannotMean) {
  const std::string bad_label =
      " is invalid: it must be 1 to 63 bytes of a-z, 0-9 and \"-\", with a letter or digit "
      "at both ends";
  const std::string bad_value =
      " is invalid: it must be empty or at most 63 bytes of letters, digits, \"-\", \"_\" "
      "and \".\", with a letter or "
      "digit at both ends";
  struct Case {
    std::string lines;
    Texts problems;
  };
  const Case cases[] = {
      {"tenants:", {"f:3:1: tenants: null, expected a mapping"}},
      {"tenants: {namespaceLabel: \"\"}",
       {"f:3:27: tenants.namespaceLabel: label key \"\" is invalid: its name must be 1 to 63 "
        "bytes of letters, digits, "
        "\"-\", \"_\" and \".\", with a letter or digit at both ends, after an optional DNS "
        "name and one \"/\""}},
      {"tenants: {label: a}",
       {"f:3:11: tenants.label: unknown key, expected one of namespaceLabel, namespaces"}},
      {"tenants: {namespaces: {Team: a}}",
       {"f:3:24: tenants.namespaces[Team]: \"Team\"" + bad_label}},
      {"tenants: {namespaces: {a: \"\"}}",
       {"f:3:27: tenants.namespaces[a]: empty, expected a tenant's name"}},
      {"tenants: {namespaces: {a: no}}",
       {"f:3:27: tenants.namespaces[a]: no is a boolean without quotes, expected a string; "
        "write \"no\""}},
      {"tenants: {namespaces: {a: b c}}",
       {"f:3:27: tenants.namespaces[a]: label value \"b c\"" + bad_value}},
      {"tenants: {namespaces: {a: b, a: b}}",
       {"f:3:30: tenants.namespaces.a: key is repeated, first on line 3"}},
      {"tenants: {namespaces: {7: b}}",
       {"f:3:24: tenants.namespaces.7: 7 is a number without quotes, expected a string; "
        "write \"7\""}},
      {"trustedDaemonSetServiceAccounts: [a]",
       {"f:3:35: trustedDaemonSetServiceAccounts[0]: \"a\", expected namespace/name of a "
        "service account"}},
      {"trustedDaemonSetServiceAccounts: [\"*/a\"]",
       {"f:3:35: trustedDaemonSetServiceAccounts[0]: \"*\"" + bad_label}},
      {"trustedDaemonSetServiceAccounts: [a/]",
       {"f:3:35: trustedDaemonSetServiceAccounts[0]: \"\" is invalid: it must be 1 to 253 "
        "bytes of a-z, 0-9, \"-\" and "
        "\".\", with a letter or digit at both ends and beside every \".\""}},
      {"trustedDaemonSetServiceAccounts: a/b",
       {"f:3:34: trustedDaemonSetServiceAccounts: a/b, expected a list"}},
      {"daemonSetControllerUser: \"\"",
       {"f:3:26: daemonSetControllerUser: empty, expected a user name"}},
      {"extraChecks: [privileged]",
       {"f:3:15: extraChecks[0]: \"privileged\", expected one of host-port, capabilities, "
        "proc-mount, "
        "node-affinity-pin, gpu-visible-devices"}},
      {"extraChecks: [host-port, host-port]",
       {"f:3:26: extraChecks[1]: \"host-port\" is listed twice"}},
      {"extraChecks: host-port", {"f:3:14: extraChecks: host-port, expected a list"}},
      {"placement: {rule: []}", {"f:3:13: placement.rule: unknown key, expected one of rules"}},
      {"disabledChecks: [x]",
       {"f:3:1: disabledChecks: unknown key, expected one of apiVersion, kind, tenants, "
        "trustedDaemonSetServiceAccounts, daemonSetControllerUser, extraChecks, placement"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.lines);
    EXPECT_EQ(problems_of_policy(c.lines + "\n"), c.problems);
  }
}

TEST(Policy, RefusesPlacementRulesThatSayNothing) {
  struct Case {
    std::string rule;
    Texts problems;  // each after "f:5:"
  };
  const std::string at = "placement.rules[0]";
  const Case cases[] = {
      {"{name: r, tenants: [a]}",
       {"5: " + at + ": asks nothing of a node, expected require, exclusive: true, or both"}},
      {"{name: r, tenants: [a], exclusive: false}",
       {"5: " + at + ": asks nothing of a node, expected require, exclusive: true, or both"}},
      {"{name: r, tenants: [a], exclusive: \"true\"}",
       {"40: " + at + ".exclusive: the string \"true\", expected true or false"}},
      {"{name: r, tenants: [a], require: {}}",
       {"38: " + at + ".require: asks nothing of a node; name a label, or leave the key out"}},
      {"{name: r, exclusive: true}",
       {"5: " + at + ".tenants: missing, expected a list of tenants, or [\"*\"] for all"}},
      {"{name: r, tenants: [], exclusive: true}",
       {"24: " + at +
        ".tenants: empty, so the rule would apply to nobody; [\"*\"] means every tenant"}},
      {"{name: r, tenants: [a, \"*\"], exclusive: true}",
       {"24: " + at + ".tenants: \"*\" is every tenant already; leave the others out"}},
      {"{name: r, tenants: [a, a], exclusive: true}",
       {"28: " + at + ".tenants[1]: \"a\" is listed twice"}},
      {"{name: r, tenants: [\"\"], exclusive: true}",
       {"25: " + at + ".tenants[0]: empty, expected a tenant's name"}},
      {"{name: r, tenants: [a], require: {matchLabels: {b: $(user)}}}",
       {"56: " + at +
        ".require.matchLabels[b]: \"$(user)\" has a placeholder other than $(tenant)"}},
      {"{name: r, tenants: [a], require: {matchLabels: {$(tenant): b}}}",
       {"53: " + at +
        ".require.matchLabels[$(tenant)]: label key \"$(tenant)\" is invalid: its name must "
        "be 1 to 63 "
        "bytes of letters, digits, \"-\", \"_\" and \".\", with a letter or digit at both "
        "ends, after an optional DNS "
        "name and one \"/\""}},
      {"{name: R, tenants: [a], exclusive: true}",
       {"12: " + at +
        ".name: \"R\" is invalid: it must be 1 to 63 bytes of a-z, 0-9 and \"-\", with a "
        "letter or digit "
        "at both ends"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.rule);
    Texts expected;
    for (const std::string& problem : c.problems) expected.push_back("f:5:" + problem);
    EXPECT_EQ(problems_of_policy("placement:\n  rules:\n  - " + c.rule + "\n"), expected);
  }
}

TEST(Policy, RuleNamesAreUnique) {
  EXPECT_EQ(
      problems_of_policy("placement:\n  rules:\n  - {name: r, tenants: [a], exclusive: true}\n"
                         "  - {name: r, tenants: [b], exclusive: true}\n"),
      Texts{"f:6:12: placement.rules[1].name: \"r\" is already the name of "
            "placement.rules[0]"});
}

}  // namespace
}  // namespace xila::config
