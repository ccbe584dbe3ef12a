#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "webhook/served.hpp"
#include "webhook/tenants.hpp"

namespace xila::webhook {
namespace {

using policy::TenantResolution;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kGood = "volcano/volcano-worker";

TEST(ValidateTenant, AnswersByWhatTheSourceSays) {
  struct Case {
    const char* name;
    TenantResolution answer;
    milliseconds after;
    bool allowed;
    const char* said;
  };
  const Case cases[] = {
      {"at once", TenantResolution::resolved("team-a"), milliseconds(0), true, ""},
      {"later", TenantResolution::resolved("team-a"), milliseconds(20), true, ""},
      {"empty name", TenantResolution::resolved(""), milliseconds(0), false, "its tenant is empty"},
      {"unresolved", TenantResolution::unresolved("its label is absent"), milliseconds(5), false,
       "its label is absent"},
      {"failed", TenantResolution::lookup_failed("32 look-ups under way"), milliseconds(5), false,
       "32 look-ups under way"},
      {"not judged", TenantResolution::not_judged(), milliseconds(0), false, "gave no answer"},
      {"nothing", TenantResolution(), milliseconds(0), false, "could not be looked up"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Admission admission;
    LateTenants tenants(c.answer, c.after);
    admission.tenants = &tenants;
    const json answer = admission.answer_json(review_named(kGood));
    EXPECT_EQ(answer["response"]["allowed"], c.allowed);
    EXPECT_THAT(message_of(answer), HasSubstr(c.said));
    EXPECT_THAT(tenants.asked, ElementsAre("team-a"));
    EXPECT_GT(tenants.seen_tenants, 0U);

    // The same, known without waiting.
    tenants.at_hand = c.answer;
    EXPECT_EQ(admission.answer_json(review_named(kGood))["response"]["allowed"], c.allowed);
    EXPECT_THAT(tenants.asked, SizeIs(1));
  }
}

TEST(ValidateTenant, IsAskedForOnlyWhereItDecides) {
  Admission admission;
  LateTenants tenants(TenantResolution::resolved("team-a"), milliseconds(0));
  admission.tenants = &tenants;
  for (const char* name : {"volcano/pod-update-by-controller", "volcano/label-removed-update",
                           "volcano/pod-binding", "volcano/ephemeral-privileged-update"}) {
    admission.answer_json(review_named(name));
  }
  EXPECT_THAT(tenants.asked, IsEmpty());
}

TEST(ValidateTenant, IsNotAskedForOfWhatIsNoNamespace) {
  Admission admission;
  LateTenants tenants(TenantResolution::resolved("team-a"), milliseconds(0));
  tenants.at_hand = TenantResolution::resolved("team-a");
  admission.tenants = &tenants;
  for (const char* space :
       {"", "..", "../../secrets", "team-a/pods", "TEAM-A", "team-a ", "a?b=c"}) {
    SCOPED_TRACE(space);
    const json answer = admission.answer_json(review_with(kGood, "/request/namespace", space));
    EXPECT_EQ(answer["response"]["allowed"], false);
    EXPECT_THAT(message_of(answer), HasSubstr("is no namespace's name"));
  }
  EXPECT_THAT(tenants.asked, IsEmpty());
}

TEST(ValidateTenant, SourceGetsTheDeadlineOfTheRequest) {
  struct Case {
    const char* query;
    milliseconds time;
  };
  const Case cases[] = {{"timeout=1s", milliseconds(800)},
                        {"timeout=30s", milliseconds(8000)},
                        {"", milliseconds(8000)}};
  for (const Case& c : cases) {
    Admission admission;
    LateTenants tenants(TenantResolution::resolved("team-a"), milliseconds(0));
    admission.tenants = &tenants;
    Posted request = post("/validate/volcano", review_named(kGood));
    request.query = c.query;
    admission.answer(request);
    EXPECT_LE(tenants.allowed_time, c.time) << c.query;
    EXPECT_GT(tenants.allowed_time, c.time - milliseconds(500)) << c.query;
  }
}

TEST(ValidateTenant, ASourceThatNeverAnswersCostsNoMoreThanTheDeadline) {
  Admission admission;
  LateTenants tenants(TenantResolution::resolved("team-a"), std::chrono::hours(24));
  admission.tenants = &tenants;
  Posted request = post("/validate/volcano", review_named(kGood));
  request.query = "timeout=400ms";
  const auto begin = std::chrono::steady_clock::now();
  const json answer = json::parse(admission.answer(request).body);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, milliseconds(249));
  EXPECT_LT(took, std::chrono::seconds(10));
  EXPECT_EQ(answer["response"]["allowed"], false);
  EXPECT_THAT(message_of(answer), HasSubstr("(no answer in time)"));
}

}  // namespace
}  // namespace xila::webhook
