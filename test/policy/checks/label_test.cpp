#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

using enum SelectorOperator;

// What the whole decision says, since the check needs the old object.
Violations on_update(const std::vector<LabelSelector>& selectors, Labels before, Labels after,
                     std::string_view path = "volcano", std::string resource = "pods") {
  Rulebook rulebook = volcano_rulebook();
  rulebook.profiles[0].workload_selectors = selectors;
  Pod old_pod = good_pod();
  Pod new_pod = good_pod();
  old_pod.labels = std::move(before);
  new_pod.labels = std::move(after);
  const Review review = update_review(old_pod, new_pod, std::move(resource));
  return decide(review, path, team_a(), rulebook).violations;
}

TEST(Label, MayNotBeTakenOff) {
  const std::vector<LabelSelector> job = {{{{"job", exists, {}}}}};
  const std::vector<LabelSelector> either = {{{{"podset", exists, {}}}},
                                             {{{"managed", in, {"true"}}}}};
  const std::vector<LabelSelector> unless = {
      {{{"job", exists, {}}, {"opt-out", does_not_exist, {}}}}};
  struct Case {
    const char* name;
    std::vector<LabelSelector> selectors;
    Labels before;
    Labels after;
    const char* lost;  // what the message names; "" = allowed
  };
  const Case cases[] = {
      {"kept", job, {{"job", "a"}}, {{"job", "a"}}, ""},
      {"other value still matches", job, {{"job", "a"}}, {{"job", "b"}}, ""},
      {"taken off", job, {{"job", "a"}}, {}, "\"job\""},
      {"never matched", job, {}, {}, ""},
      {"added", job, {}, {{"job", "a"}}, ""},
      {"value changed", either, {{"managed", "true"}}, {{"managed", "false"}}, "\"managed\""},
      {"other selector takes over", either, {{"managed", "true"}}, {{"podset", ""}}, ""},
      {"both lost", either, {{"managed", "true"}, {"podset", ""}}, {}, "\"podset\", \"managed\""},
      {"lost by adding", unless, {{"job", "a"}}, {{"job", "a"}, {"opt-out", ""}}, "\"opt-out\""},
      {"everything is selected", {{}}, {{"job", "a"}}, {}, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Violations expected;
    if (*c.lost != '\0') {
      expected.push_back(
          {"label", "metadata.labels", "",
           "metadata.labels would no longer select the Pod for profile volcano, leave " +
               std::string(c.lost) + " as it was"});
    }
    EXPECT_EQ(on_update(c.selectors, c.before, c.after), expected);
  }
}

TEST(Label, IsJudgedOnlyWhereTheProfileIsKnown) {
  const std::vector<LabelSelector> job = {{{{"job", exists, {}}}}};
  EXPECT_EQ(on_update(job, {{"job", "a"}}, {}, "volcano").size(), 1U);
  EXPECT_TRUE(on_update(job, {{"job", "a"}}, {}, "enforcement").empty());
  EXPECT_TRUE(on_update(job, {{"job", "a"}}, {}, "unheard-of").empty());
}

TEST(Label, IsJudgedOnlyOnUpdateOfPodsItself) {
  const std::vector<LabelSelector> job = {{{{"job", exists, {}}}}};
  EXPECT_TRUE(on_update(job, {{"job", "a"}}, {}, "volcano", "pods/ephemeralcontainers").empty());
}

}  // namespace
}  // namespace xila::policy
