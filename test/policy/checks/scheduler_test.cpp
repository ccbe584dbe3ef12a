#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

Pod scheduled_by(std::string scheduler) {
  Pod pod = good_pod();
  pod.scheduler_name = std::move(scheduler);
  return pod;
}

TEST(Scheduler, MustBeAcceptedByteForByte) {
  struct Case {
    const char* name;
    std::string scheduler;
    std::set<std::string, std::less<>> accepted;
    bool denied;
  };
  const Case cases[] = {
      {"accepted", "volcano", {"volcano", "yunikorn"}, false},
      {"absent, default accepted", "", {"default-scheduler"}, false},
      {"absent, default not accepted", "", {"volcano"}, true},
      {"default by name", "default-scheduler", {"default-scheduler"}, false},
      {"other case", "Volcano", {"volcano"}, true},
      {"prefix", "volcan", {"volcano"}, true},
      {"longer", "volcano2", {"volcano"}, true},
      {"white space", "volcano ", {"volcano"}, true},
      {"NUL does not end it", std::string("volcano\0x", 9), {"volcano"}, true},
      {"look-alike letter", "v\xD0\xBElcano", {"volcano"}, true},
      {"nothing accepted", "volcano", {}, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Rulebook rulebook = volcano_rulebook();
    rulebook.accepted_schedulers = c.accepted;
    const std::vector<std::string> expected =
        c.denied ? std::vector<std::string>{"spec.schedulerName"} : std::vector<std::string>{};
    EXPECT_EQ(fields_of(find("scheduler", scheduled_by(c.scheduler), rulebook)), expected);
  }
}

TEST(Scheduler, MessageListsWhatIsAccepted) {
  struct Case {
    const char* name;
    std::string scheduler;
    std::set<std::string, std::less<>> accepted;
    const char* message;
  };
  const Case cases[] = {
      {"one",
       "x",
       {"volcano"},
       R"(spec.schedulerName "x" is not an accepted scheduler, set "volcano")"},
      {"several",
       "x",
       {"volcano", "default-scheduler"},
       R"(spec.schedulerName "x" is not an accepted scheduler, set one of "default-scheduler", "volcano")"},
      {"absent",
       "",
       {"volcano"},
       R"(spec.schedulerName is not set, which means "default-scheduler", and that is not an accepted scheduler, set "volcano")"},
      {"none",
       "x",
       {},
       R"(spec.schedulerName "x" is not an accepted scheduler, no profile names one, tell the platform team)"},
      {"too many to list",
       "x",
       {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "b0", "b1"},
       R"(spec.schedulerName "x" is not an accepted scheduler, set one of "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9" and 2 more)"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Rulebook rulebook = volcano_rulebook();
    rulebook.accepted_schedulers = c.accepted;
    EXPECT_EQ(messages_of(find("scheduler", scheduled_by(c.scheduler), rulebook)),
              std::vector<std::string>{c.message});
  }
}

TEST(Scheduler, ALongNameIsCutAtACharacter) {
  std::string long_name;
  for (int i = 0; i < 300; ++i) long_name += "\xC3\xA9";
  const Violations found = find("scheduler", scheduled_by(long_name));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message, "spec.schedulerName \"" + long_name.substr(0, 256) +
                                  "...\" is not an accepted scheduler, set \"volcano\"");
}

}  // namespace
}  // namespace xila::policy
