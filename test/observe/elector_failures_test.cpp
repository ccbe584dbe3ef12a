#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/lease_lab.hpp"
#include "telemetry/captured_stderr.hpp"

// What the elector writes when asked to, and what it does when it cannot.
namespace xila::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Line = LeaseClient::Line;
using Lines = std::vector<std::string>;

Lines reported(const LeaseServer& server) {
  Lines lines;
  for (const LeaseServer::Write& write : server.writes) lines.push_back(write.lease.reported);
  return lines;
}

TEST(ElectorNudge, WhatWasReportedIsInTheLeaseSoonAndOnce) {
  LeaseLab lab;
  Replica& leader = lab.start("a", rarely_renewed());
  ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
  leader.reported = "first";
  leader.elector.nudge();
  ASSERT_TRUE(lab.until([&] { return lab.server.writes.size() == 2; }));
  EXPECT_FALSE(lab.until([&] { return lab.server.writes.size() > 2; }, 500ms));
  leader.reported = "second";
  leader.elector.nudge();
  ASSERT_TRUE(lab.until([&] { return lab.server.writes.size() == 3; }));
  EXPECT_EQ(reported(lab.server), (Lines{"", "first", "second"}));
}

TEST(ElectorNudge, ReportsWithoutEndShareAFewWritingsASecond) {
  LeaseLab lab;
  Replica& leader = lab.start("a", rarely_renewed());
  ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
  const auto& writes = lab.server.writes;
  ASSERT_TRUE(lab.until([&] {
    leader.elector.nudge();
    return writes.size() >= 4;
  }));
  for (std::size_t i = 1; i < writes.size(); ++i) {
    EXPECT_GE(writes[i].at - writes[i - 1].at, 150ms) << i;
  }
}

TEST(ElectorNudge, WhatIsReportedDuringAWritingIsInTheNext) {
  LeaseLab lab;
  Replica& leader = lab.start("a", rarely_renewed());
  ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
  leader.client.put(Line::deaf);
  leader.reported = "first";
  leader.elector.nudge();
  ASSERT_TRUE(lab.until([&] { return lab.server.writes.size() == 2; }));
  leader.reported = "second";
  leader.elector.nudge();
  leader.client.put(Line::up);
  ASSERT_TRUE(lab.until([&] { return lab.server.writes.size() == 3; }));
  EXPECT_EQ(reported(lab.server), (Lines{"", "first", "second"}));
}

TEST(ElectorNudge, AFollowerNeitherWritesNorHurries) {
  LeaseLab lab;
  lab.server.give_to("other", 1s);
  LeaseOptions options = quick();
  options.retry = 200ms;
  Replica& follower = lab.start("a", options);
  follower.reported = "not its own";
  ASSERT_TRUE(lab.until([&] { return follower.client.count("GET") >= 1; }));
  follower.elector.nudge();
  ASSERT_TRUE(lab.until([&] { return follower.is_leading(); }));  // a second later
  EXPECT_EQ(lab.server.writes.size(), 2u);
  EXPECT_LE(follower.client.count("GET"), 10);
}

// A nudge that finds no leader any more must not keep it from waiting: it would ask the API server
// as fast as that answers.
TEST(ElectorNudge, ALeaderThatIsNudgedAsItLosesTheLeaseFollowsCalmly) {
  LeaseLab lab;
  LeaseOptions options = quick();
  options.duration = options.renew_deadline = 1h;
  options.retry = 200ms;
  Replica& leader = lab.start("a", options);
  ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
  leader.client.put(Line::held);
  ASSERT_TRUE(lab.until([&] { return leader.client.waiting() == 1; }));
  lab.server.give_to("other", 1s);
  leader.elector.nudge();
  leader.client.put(Line::up);
  ASSERT_TRUE(lab.until([&] { return leader.losses == 1; }));
  ASSERT_TRUE(lab.until([&] { return leader.leads == 2; }));  // a second later
  EXPECT_LE(leader.client.count("GET"), 10);
}

TEST(ElectorFailures, ARefusalIsCountedAndSaidOnceUntilItIsLifted) {
  const Lines lines = telemetry::logged(telemetry::LogFormat::text, telemetry::LogLevel::info, [] {
    LeaseLab lab;
    Replica& replica = lab.start("a");
    replica.client.refusal = status_error(403);
    ASSERT_TRUE(lab.until([&] { return replica.failures("forbidden") >= 3; }));
    EXPECT_FALSE(replica.is_leading());
    EXPECT_EQ(replica.leads, 0);
    replica.client.refusal.reset();
    ASSERT_TRUE(lab.until([&] { return replica.is_leading(); }));
  });
  const std::string lease = "lease=guard/observe";
  ASSERT_EQ(lines.size(), 2u) << testing::PrintToString(lines);
  EXPECT_TRUE(
      lines[0].ends_with("warn  lease_failed " + lease + " reason=\"the API server answered 403\""))
      << lines[0];
  EXPECT_TRUE(lines[1].ends_with("info  leading " + lease + " identity=a before=\"\"")) << lines[1];
}

TEST(ElectorFailures, AnotherReasonIsAnotherLineAndSoIsTheSameAfterASuccess) {
  const Lines lines = telemetry::logged(telemetry::LogFormat::text, telemetry::LogLevel::warn, [] {
    LeaseLab lab;
    LeaseOptions options = quick();
    options.duration = options.renew_deadline = 1h;
    Replica& leader = lab.start("a", options);
    ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
    for (const int status : {500, 403, 403}) {
      leader.client.refusal = status_error(status);
      const double before = leader.failures("refused") + leader.failures("forbidden");
      ASSERT_TRUE(lab.until(
          [&] { return leader.failures("refused") + leader.failures("forbidden") > before + 3; }));
      if (status == 500) continue;  // from one failure into the next
      leader.client.refusal.reset();
      const std::size_t writes = lab.server.writes.size();
      ASSERT_TRUE(lab.until([&] { return lab.server.writes.size() > writes; }));
    }
    EXPECT_EQ(leader.losses, 0);
  });
  EXPECT_THAT(lines, ElementsAre(HasSubstr("answered 500"), HasSubstr("answered 403"),
                                 HasSubstr("answered 403")));
}

TEST(ElectorFailures, AreCountedByReason) {
  struct Case {
    kube::ApiError error;
    const char* reason;
  };
  const Case cases[] = {
      {status_error(403), "forbidden"},
      {status_error(401), "forbidden"},
      {status_error(409), "conflict"},
      {status_error(429), "refused"},
      {status_error(500), "refused"},
      {{.what = kube::ApiFailure::connect, .message = "refused"}, "unreachable"},
      {{.what = kube::ApiFailure::timeout, .message = "late"}, "unreachable"},
      {{.what = kube::ApiFailure::tls, .message = "unknown CA"}, "unreachable"},
  };
  for (const Case& c : cases) {
    LeaseLab lab;
    Replica& replica = lab.start("a");
    replica.client.refusal = c.error;
    ASSERT_TRUE(lab.until([&] { return replica.client.count("GET") >= 3; }));
    EXPECT_EQ(replica.failures(c.reason), 2) << c.error.message;
    double sum = 0;
    for (const char* reason : {"forbidden", "conflict", "refused", "unreachable"}) {
      sum += replica.failures(reason);
    }
    EXPECT_EQ(sum, 2) << c.error.message;
  }
}

// It asks again after its pause, and no sooner.
TEST(ElectorFailures, NeverSpin) {
  for (const bool is_leading : {false, true}) {
    SCOPED_TRACE(is_leading);
    LeaseLab lab;
    LeaseOptions options = quick();
    options.retry = 100ms;
    Replica& replica = lab.start("a", options);
    if (is_leading) {
      ASSERT_TRUE(lab.until([&] { return replica.is_leading(); }));
    }
    replica.client.refusal = kube::ApiError{.message = "refused"};
    const std::size_t before = replica.client.sent.size();
    lab.until([] { return false; }, 1s);
    EXPECT_GE(replica.client.sent.size(), before + 2);
    EXPECT_LE(replica.client.sent.size(), before + 22);  // two each 100 ms
  }
}

}  // namespace
}  // namespace xila::observe
