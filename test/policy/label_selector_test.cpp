#include "xila/policy/label_selector.hpp"

#include <gtest/gtest.h>

#include "xila/policy/profile.hpp"
#include "xila/policy/rulebook.hpp"

namespace xila::policy {
namespace {

using enum SelectorOperator;

TEST(LabelSelector, MatchesAsKubernetesDoes) {
  struct Case {
    const char* name;
    std::vector<SelectorRequirement> requirements;
    Labels labels;
    bool matched;
  };
  const Case cases[] = {
      {"nothing required", {}, {}, true},
      {"In, value listed", {{"a", in, {"x", "y"}}}, {{"a", "y"}}, true},
      {"In, value not listed", {{"a", in, {"x"}}}, {{"a", "y"}}, false},
      {"In, key absent", {{"a", in, {"x"}}}, {{"b", "x"}}, false},
      {"In the empty value, key absent", {{"a", in, {""}}}, {}, false},
      {"In the empty value", {{"a", in, {""}}}, {{"a", ""}}, true},
      {"NotIn, value not listed", {{"a", not_in, {"x"}}}, {{"a", "y"}}, true},
      {"NotIn, value listed", {{"a", not_in, {"x"}}}, {{"a", "x"}}, false},
      {"NotIn, key absent", {{"a", not_in, {"x"}}}, {}, true},
      {"Exists, empty value", {{"a", exists, {}}}, {{"a", ""}}, true},
      {"Exists, key absent", {{"a", exists, {}}}, {{"ab", "x"}}, false},
      {"DoesNotExist", {{"a", does_not_exist, {}}}, {{"b", "x"}}, true},
      {"DoesNotExist, key there", {{"a", does_not_exist, {}}}, {{"a", ""}}, false},
      {"all must hold", {{"a", exists, {}}, {"b", in, {"x"}}}, {{"a", ""}, {"b", "y"}}, false},
      {"all hold", {{"a", exists, {}}, {"b", in, {"x"}}}, {{"b", "x"}, {"a", ""}}, true},
      {"case counts", {{"a", in, {"X"}}}, {{"a", "x"}}, false},
      {"NUL does not end a value", {{"a", in, {"x"}}}, {{"a", std::string("x\0y", 3)}}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(matches({c.requirements}, c.labels), c.matched);
  }
}

TEST(LabelSelector, OperatorsAreSpelledExactly) {
  for (const SelectorOperator op : {in, not_in, exists, does_not_exist}) {
    EXPECT_EQ(selector_operator(to_text(op)), op);
  }
  for (const std::string_view text : {"", "in", "IN", "Exists ", "Gt", "NotExists"}) {
    EXPECT_FALSE(selector_operator(text).has_value()) << text;
  }
  EXPECT_EQ(selector_operator("exists").error().message,
            R"("exists" is no operator, use In, NotIn, Exists or DoesNotExist, spelled so)");
}

TEST(FindLabel, ReturnsTheValueOrNull) {
  const Labels labels = {{"a", "1"}, {"b", ""}};
  ASSERT_NE(find_label(labels, "b"), nullptr);
  EXPECT_EQ(*find_label(labels, "b"), "");
  EXPECT_EQ(find_label(labels, "c"), nullptr);
}

std::string repeated(char c, std::size_t count) {
  return std::string(count, c);
}

// 253 bytes in labels of 63, 63, 63 and 61.
std::string longest_subdomain() {
  const std::string label = repeated('a', 63) + '.';
  return label + label + label + repeated('a', 61);
}

TEST(Validation, LabelKeys) {
  const std::string good[] = {"a",
                              "A",
                              "0",
                              "volcano.sh/job-name",
                              "a_b.c-d",
                              "1/2",
                              repeated('k', 63),
                              longest_subdomain() + '/' + repeated('k', 63)};
  const std::string bad[] = {"",
                             "/",
                             "a/",
                             "/a",
                             "a/b/c",
                             "-a",
                             "a-",
                             ".a",
                             "a_",
                             "a b",
                             "a\n",
                             "\xC3\xA9",
                             "Example.com/a",
                             "a..b/c",
                             "a_b/c",
                             repeated('k', 64),
                             longest_subdomain() + "a/k",
                             std::string("a\0", 2)};
  for (const std::string& key : good) EXPECT_TRUE(validate_label_key(key).has_value()) << key;
  for (const std::string& key : bad) EXPECT_FALSE(validate_label_key(key).has_value()) << key;
  EXPECT_EQ(
      validate_label_key("a b").error().message,
      R"(label key "a b" is invalid: its name must be 1 to 63 bytes of letters, digits, "-", )"
      R"("_" and ".", with a letter or digit at both ends, after an optional DNS name and one "/")");
  EXPECT_EQ(
      validate_label_key("A/b").error().message,
      R"(label key "A/b" is invalid: what stands before "/" must be a DNS name of at most 253 )"
      R"(bytes, as example.com)");
}

TEST(Validation, LabelValues) {
  const std::string good[] = {"", "a", "A.b_c-1", repeated('v', 63)};
  const std::string bad[] = {"-", "a-", "_a", "a/b", "a b", " ", "\n", repeated('v', 64)};
  for (const std::string& value : good)
    EXPECT_TRUE(validate_label_value(value).has_value()) << value;
  for (const std::string& value : bad)
    EXPECT_FALSE(validate_label_value(value).has_value()) << value;
  EXPECT_EQ(
      validate_label_value("a b").error().message,
      R"(label value "a b" is invalid: it must be empty or at most 63 bytes of letters, digits, )"
      R"("-", "_" and ".", with a letter or digit at both ends)");
}

TEST(Validation, DnsNames) {
  for (const std::string& name : {std::string("a"), std::string("a-0"), repeated('a', 63)}) {
    EXPECT_TRUE(validate_dns_label(name).has_value()) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("A"), std::string("a.b"), std::string("-a"), std::string("a-"),
        std::string("a_b"), repeated('a', 64)}) {
    EXPECT_FALSE(validate_dns_label(name).has_value()) << name;
  }
  for (const std::string& name :
       {std::string("a.b-c.0"), longest_subdomain(), repeated('a', 253)}) {
    EXPECT_TRUE(validate_dns_subdomain(name).has_value()) << name;
  }
  for (const std::string& name : {std::string(), std::string("."), std::string("a."),
                                  std::string(".a"), std::string("a-.b"), repeated('a', 254)}) {
    EXPECT_FALSE(validate_dns_subdomain(name).has_value()) << name;
  }
  EXPECT_EQ(
      validate_dns_label("A").error().message,
      R"("A" is invalid: it must be 1 to 63 bytes of a-z, 0-9 and "-", with a letter or digit )"
      R"(at both ends)");
  EXPECT_EQ(
      validate_dns_subdomain("a.").error().message,
      R"("a." is invalid: it must be 1 to 253 bytes of a-z, 0-9, "-" and ".", with a letter or )"
      R"(digit at both ends and beside every ".")");
}

TEST(Validation, Requirements) {
  struct Case {
    SelectorRequirement requirement;
    const char* error;  // "" = valid
  };
  const Case cases[] = {
      {{"a", in, {"x"}}, ""},
      {{"a", in, {""}}, ""},
      {{"a", not_in, {"x", "y"}}, ""},
      {{"a", exists, {}}, ""},
      {{"a", does_not_exist, {}}, ""},
      {{"a", in, {}}, R"(operator In of key "a" needs at least one value)"},
      {{"a", not_in, {}}, R"(operator NotIn of key "a" needs at least one value)"},
      {{"a", exists, {"x"}}, R"(operator Exists of key "a" takes no values)"},
      {{"a", does_not_exist, {""}}, R"(operator DoesNotExist of key "a" takes no values)"},
  };
  for (const Case& c : cases) {
    const auto result = validate(c.requirement);
    EXPECT_EQ(result.has_value() ? "" : result.error().message, c.error);
  }
  EXPECT_FALSE(validate({"a b", exists, {}}).has_value());
  EXPECT_FALSE(validate({"a", in, {"x", "a b"}}).has_value());
}

TEST(Profile, SelectsWithAnyOfItsSelectors) {
  const Profile profile{
      .name = "kueue",
      .workload_selectors = {{{{"podset", exists, {}}}}, {{{"managed", in, {"true"}}}}}};
  EXPECT_TRUE(selects(profile, {{"podset", ""}}));
  EXPECT_TRUE(selects(profile, {{"managed", "true"}}));
  EXPECT_FALSE(selects(profile, {{"managed", "false"}}));
  EXPECT_FALSE(selects({.name = "none"}, {{"podset", ""}}));
}

TEST(Profile, ModesAndVerificationHaveOneSpelling) {
  for (const Mode candidate : {Mode::enforce, Mode::warn, Mode::audit}) {
    EXPECT_EQ(mode(to_text(candidate)), candidate);
  }
  EXPECT_EQ(mode("Enforce").error().message, R"("Enforce" is no mode, use enforce, warn or audit)");
  EXPECT_EQ(to_text(Verification::verified), "verified");
  EXPECT_EQ(to_text(Verification::example), "example");
}

TEST(Rulebook, FindsProfilesByNameAndByLabels) {
  Rulebook rulebook;
  rulebook.profiles = {{.name = "one", .workload_selectors = {{{{"a", exists, {}}}}}},
                       {.name = "two", .workload_selectors = {{{{"b", exists, {}}}}}}};
  EXPECT_EQ(find_profile(rulebook, "two"), &rulebook.profiles[1]);
  EXPECT_EQ(find_profile(rulebook, "Two"), nullptr);
  EXPECT_EQ(find_profile(rulebook, ""), nullptr);
  EXPECT_EQ(profile_for(rulebook, {{"b", ""}}), &rulebook.profiles[1]);
  EXPECT_EQ(profile_for(rulebook, {{"b", ""}, {"a", ""}}), &rulebook.profiles[0]);
  EXPECT_EQ(profile_for(rulebook, {}), nullptr);
}

}  // namespace
}  // namespace xila::policy
