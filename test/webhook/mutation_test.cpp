#include "webhook/mutation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "webhook/oracle.hpp"
#include "webhook/served.hpp"

namespace xila::webhook {
namespace {

constexpr unsigned kSeedsForEach = 300;

const char* const kAllowed[] = {
    "volcano/volcano-worker",
    "volcano/volcano-ps",
    "volcano/pod-update-by-controller",
};

const char* const kDenied[] = {
    "volcano/denied-node-pin",      "volcano/denied-privileged",
    "volcano/denied-host-access",   "volcano/ephemeral-privileged-update",
    "volcano/label-removed-update", "volcano/deployment-pod-default-scheduler",
    "volcano/daemonset-pod",        "volcano/pod-binding",
};

bool allows(Admission& admission, const net::Service& service, const std::string& body) {
  const net::Response answer = served(service, post("/validate/volcano", body));
  EXPECT_THAT(answer.status, testing::AnyOf(200, 400));
  if (answer.status != 200) return false;
  EXPECT_EQ(admission.metrics.handler_exceptions.value("validate"), 0);
  const json review = json::parse(answer.body);  // throws where it is no valid UTF-8 JSON
  EXPECT_FALSE(review["response"]["uid"].get<std::string>().empty());
  return review["response"]["allowed"].get<bool>();
}

TEST(Oracle, AgreesOnTheRecordedReviews) {
  for (const char* name : kDenied) EXPECT_FALSE(Oracle::is_harmless(review_named(name))) << name;
  for (const char* name : kAllowed) EXPECT_TRUE(Oracle::is_harmless(review_named(name))) << name;
}

// How many mutants of the review are let through. Each of them must be harmless.
std::size_t count_allowed(const char* name) {
  Admission admission;
  const net::Service service = admission.service();
  const std::string original = review_named(name);
  std::size_t allowed = 0;
  for (unsigned seed = 0; seed < kSeedsForEach; ++seed) {
    const std::string body = Mutator(seed).mutate(original);
    if (!allows(admission, service, body)) continue;
    ++allowed;
    EXPECT_TRUE(Oracle::is_harmless(body)) << name << ", seed " << seed << ":\n" << body;
  }
  return allowed;
}

// Whatever happens to a review on its way, to one that is denied and to one that is not: it is let
// through only where it is harmless as it arrives.
TEST(Mutations, AreAllowedOnlyWhereHarmless) {
  std::size_t repaired = 0;
  for (const char* name : kDenied) repaired += count_allowed(name);
  EXPECT_GT(repaired, 5U);  // else this proves nothing

  for (const char* name : kAllowed) {
    const std::size_t unharmed = count_allowed(name);
    EXPECT_GT(unharmed, kSeedsForEach / 10);
    EXPECT_LT(unharmed, kSeedsForEach);
  }
}

// The other way round: what stays harmless by both readings and is a CREATE of a good Pod is not
// denied for a fault of ours. Whitespace, order and escapes of letters change nothing.
TEST(Mutations, ThatChangeNothingDenyNothing) {
  Admission admission;
  const net::Service service = admission.service();
  const std::string original = review_named("volcano/volcano-worker");
  const json parsed = json::parse(original);
  EXPECT_TRUE(allows(admission, service, parsed.dump()));
  EXPECT_TRUE(allows(admission, service, parsed.dump(4)));
  EXPECT_TRUE(allows(admission, service, parsed.dump(-1, ' ', true)));
  EXPECT_TRUE(allows(admission, service, " \t\r\n" + original + "\n\n"));
}

}  // namespace
}  // namespace xila::webhook
