#include <gtest/gtest.h>

#include "policy/examples.hpp"

namespace xila::policy {
namespace {

TEST(Tenant, IsWhatTheNamespaceResolvesTo) {
  struct Case {
    const char* name;
    TenantResolution tenant;
    std::vector<std::string> messages;
  };
  const Case cases[] = {
      {"resolved", TenantResolution::resolved("team-a"), {}},
      {"not judged", TenantResolution::not_judged(), {}},
      {"nobody answered",
       {},
       {"the tenant of namespace team-a could not be looked up, try again and tell the platform "
        "team if it does not pass"}},
      {"look-up failed",
       TenantResolution::lookup_failed("no answer within 2 s"),
       {"the tenant of namespace team-a could not be looked up (no answer within 2 s), try again "
        "and tell the platform team if it does not pass"}},
      {"no label",
       TenantResolution::unresolved("it has no label guard.xila.us/tenant"),
       {"namespace team-a belongs to no tenant (it has no label guard.xila.us/tenant), ask the "
        "platform team to set its label guard.xila.us/tenant"}},
      {"no reason",
       TenantResolution::unresolved(""),
       {"namespace team-a belongs to no tenant, ask the platform team to set its label "
        "guard.xila.us/tenant"}},
      {"empty tenant",
       TenantResolution::resolved(""),
       {"namespace team-a belongs to no tenant (its tenant is empty), ask the platform team to set "
        "its label guard.xila.us/tenant"}},
      {"a reason that would break a line",
       TenantResolution::lookup_failed("connect:\nrefused"),
       {"the tenant of namespace team-a could not be looked up (connect:\\nrefused), try again and "
        "tell the platform team if it does not pass"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(messages_of(find("tenant", good_pod(), volcano_rulebook(), c.tenant)), c.messages);
  }
}

TEST(Tenant, NamesTheFieldAndTheConfiguredLabel) {
  Rulebook rulebook = volcano_rulebook();
  rulebook.tenant_label = "example.com/owner";
  EXPECT_EQ(find("tenant", good_pod(), rulebook, TenantResolution::unresolved("")),
            (Violations{{"tenant", "metadata.namespace", "",
                         "namespace team-a belongs to no tenant, ask the platform team to set its "
                         "label example.com/owner"}}));
}

}  // namespace
}  // namespace xila::policy
