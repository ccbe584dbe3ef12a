#include "elector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/lease_lab.hpp"

namespace xila::observe {
namespace {

using Line = LeaseClient::Line;

// Looked at often, and given up by nobody while a test lasts.
LeaseOptions lasting() {
  LeaseOptions options = rarely_renewed();
  options.retry = quick().retry;
  return options;
}

TEST(Elector, OneOfTwoLeads) {
  LeaseLab lab;
  Replica& a = lab.start("a");
  Replica& b = lab.start("b");
  ASSERT_TRUE(lab.until([&] { return a.is_leading() || b.is_leading(); }));
  Replica& leader = a.is_leading() ? a : b;
  Replica& follower = a.is_leading() ? b : a;
  // It sees the leader live, and leaves it be.
  ASSERT_TRUE(lab.until([&] { return follower.leaders_seen >= 3; }));
  EXPECT_TRUE(leader.is_leading());
  EXPECT_EQ(leader.leads, 1);
  EXPECT_EQ(leader.before, std::nullopt);
  EXPECT_EQ(leader.leaders_seen, 0);
  EXPECT_EQ(leader.losses, 0);
  EXPECT_EQ(leader.metrics.leader.value(), 1);
  EXPECT_EQ(follower.leads, 0);
  EXPECT_EQ(follower.metrics.leader.value(), 0);
  EXPECT_THAT(follower.metrics.exposition(), testing::HasSubstr("\nxila_guard_leader 0\n"));
  EXPECT_EQ(lab.server.lease->holder, &leader == &a ? "a" : "b");
  EXPECT_EQ(lab.server.lease->transitions, 0);
}

// A leader that dies gives nothing back.
TEST(Elector, AnotherLeadsOnceTheLeaseHasRunOutAndNotBefore) {
  LeaseLab lab;
  Replica& dying = lab.start("a");
  dying.reported = "what it told";
  ASSERT_TRUE(lab.until([&] { return lab.server.writes.size() >= 3; }));
  Replica& next = lab.start("b");
  ASSERT_TRUE(lab.until([&] { return next.leaders_seen > 0; }));
  dying.elector.stop();
  ASSERT_TRUE(lab.until([&] { return next.is_leading(); }));

  const auto& writes = lab.server.writes;
  const auto first = std::ranges::find(writes, "b", [](const auto& w) { return w.lease.holder; });
  ASSERT_NE(first, writes.end());
  const auto last = std::prev(first);
  EXPECT_EQ(last->lease.holder, "a");
  EXPECT_EQ(last->lease.duration, 1s);  // 600 ms, rounded up: it counts in seconds
  EXPECT_GE(first->at - last->at, 1s);
  EXPECT_LE(first->at - last->at, 10s);
  // It is handed what the last one left.
  EXPECT_EQ(next.before, last->lease);
  EXPECT_EQ(next.before->reported, "what it told");
  EXPECT_EQ(first->lease.transitions, 1);
  EXPECT_EQ(first->lease.reported, "what it told");
}

// Its holder may be long dead, or have renewed it only just: nobody knows at first sight.
TEST(Elector, ALeaseIsWaitedForFromItsFirstSight) {
  struct Case {
    const char* what;
    std::chrono::seconds of_lease;
    Clock::duration waits;
  };
  // A lease without a duration is held to this replica's own.
  for (const Case& c : {Case{"its own", 1s, 1s}, {"none", 0s, 600ms}}) {
    SCOPED_TRACE(c.what);
    LeaseLab lab;
    lab.server.give_to("dead", c.of_lease);
    const Steady begun = Clock::now();
    Replica& replica = lab.start("a");
    ASSERT_TRUE(lab.until([&] { return replica.is_leading(); }));
    EXPECT_GE(lab.server.writes[1].at - begun, c.waits);
    EXPECT_EQ(replica.leaders_seen, 0);
    EXPECT_EQ(replica.before->holder, "dead");
  }
}

TEST(Elector, ALeaseThatNobodyHoldsIsTakenAtOnce) {
  LeaseLab lab;
  lab.server.give_to("", 3600s);
  Replica& replica = lab.start("a", lasting());
  ASSERT_TRUE(lab.until([&] { return replica.is_leading(); }));
  EXPECT_EQ(lab.server.lease->transitions, 1);
}

TEST(Elector, AReplicaThatKnowsTooLittleDoesNotLead) {
  LeaseLab lab;
  Replica& replica = lab.start("a");
  replica.may_lead = false;
  ASSERT_TRUE(lab.until([&] { return replica.client.count("GET") >= 3; }));
  EXPECT_EQ(lab.server.lease, std::nullopt);
  EXPECT_FALSE(replica.is_leading());
  replica.may_lead = true;
  EXPECT_TRUE(lab.until([&] { return replica.is_leading(); }));
}

TEST(Elector, ALeaderThatEndsHandsOverAtOnce) {
  LeaseLab lab;
  Replica& ending = lab.start("a", lasting());
  ASSERT_TRUE(lab.until([&] { return ending.is_leading(); }));
  Replica& next = lab.start("b", lasting());
  ASSERT_TRUE(lab.until([&] { return next.leaders_seen > 0; }));
  ending.reported = "the last word";
  lab.end(ending);
  ASSERT_TRUE(lab.until([&] { return next.is_leading(); }));
  EXPECT_EQ(next.before->holder, "");
  EXPECT_EQ(next.before->reported, "the last word");
  EXPECT_FALSE(ending.is_leading());
  EXPECT_EQ(ending.metrics.leader.value(), 0);
  EXPECT_EQ(ending.losses, 0);  // it knows
}

TEST(Elector, AFollowerThatEndsLeavesTheLeaseAlone) {
  LeaseLab lab;
  Replica& leader = lab.start("a", lasting());
  ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
  Replica& follower = lab.start("b", lasting());
  ASSERT_TRUE(lab.until([&] { return follower.leaders_seen > 0; }));
  lab.end(follower);
  const std::size_t writes = lab.server.writes.size();
  ASSERT_TRUE(lab.until([&] { return lab.server.writes.size() >= writes + 2; }));
  EXPECT_EQ(follower.client.count("PUT"), 0);
  EXPECT_TRUE(leader.is_leading());
}

// A renewal under way makes the version that is given back the older one.
TEST(Elector, ALeaderThatEndsWhileItRenewsHandsOverAllTheSame) {
  LeaseLab lab;
  Replica& ending = lab.start("a", lasting());
  ASSERT_TRUE(lab.until([&] { return ending.is_leading(); }));
  Replica& next = lab.start("b", lasting());
  ending.client.put(Line::held);
  ASSERT_TRUE(lab.until([&] { return ending.client.waiting() == 1; }));
  lab.end(ending);
  ASSERT_TRUE(lab.until([&] { return ending.client.waiting() == 2; }));
  ending.client.put(Line::up);
  EXPECT_TRUE(lab.until([&] { return next.is_leading(); }, 5s));
}

// The lease is free from the moment in which the server takes it back, not from its answer.
TEST(Elector, ALeaderThatEndsLeadsNoLongerWhileNobodyAnswers) {
  LeaseLab lab;
  Replica& ending = lab.start("a", rarely_renewed());
  ASSERT_TRUE(lab.until([&] { return ending.is_leading(); }));
  Replica& next = lab.start("b", lasting());
  ending.client.put(Line::deaf);
  lab.end(ending);
  EXPECT_TRUE(lab.until([&] { return next.is_leading(); }));
}

TEST(Elector, ALeaderThatCannotRenewStepsDownBeforeAnotherLeads) {
  LeaseLab lab;
  Replica& leader = lab.start("a");
  ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
  Replica& next = lab.start("b");
  ASSERT_TRUE(lab.until([&] { return next.leaders_seen > 0; }));
  leader.client.put(Line::held);
  ASSERT_TRUE(lab.until([&] { return leader.losses > 0; }));
  EXPECT_FALSE(leader.is_leading());
  EXPECT_EQ(leader.metrics.leader.value(), 0);
  EXPECT_EQ(next.leads, 0);
  EXPECT_GE(leader.failures("unreachable"), 1);
  ASSERT_TRUE(lab.until([&] { return next.is_leading(); }));

  // Back again, it follows.
  leader.client.put(Line::up);
  ASSERT_TRUE(lab.until([&] { return leader.leaders_seen > 0; }));
  EXPECT_TRUE(next.is_leading());
  EXPECT_EQ(leader.losses, 1);
  EXPECT_EQ(next.losses, 0);
}

TEST(Elector, ALeaderOutlivesARenewalThatHangs) {
  LeaseOptions options = quick();
  options.duration = 10s;
  options.renew_deadline = 2s;
  LeaseLab lab;
  Replica& leader = lab.start("a", options);
  ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
  leader.client.to_lose = 1;
  ASSERT_TRUE(lab.until([&] { return leader.failures("unreachable") > 0; }));
  const std::size_t writes = lab.server.writes.size();
  ASSERT_TRUE(lab.until([&] { return lab.server.writes.size() > writes; }));
  EXPECT_TRUE(leader.is_leading());
  EXPECT_EQ(leader.losses, 0);
}

// A process that stood still for long has not noticed anything yet.
TEST(Elector, NobodyLeadsBeyondTheLeasesEndWhateverHappens) {
  LeaseLab lab;
  Replica& leader = lab.start("a");
  ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
  EXPECT_FALSE(leader.elector.is_leading(Clock::now() + quick().duration));
}

TEST(Elector, ALeaderStepsDownWhereAnotherHoldsTheLease) {
  LeaseLab lab;
  Replica& leader = lab.start("a", lasting());
  ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
  lab.server.give_to("other", 3600s);
  ASSERT_TRUE(lab.until([&] { return leader.losses > 0; }));
  EXPECT_FALSE(leader.is_leading());
  EXPECT_EQ(leader.failures("conflict"), 1);
  EXPECT_EQ(lab.server.lease->holder, "other");
}

// As kubectl annotate does.
TEST(Elector, ALeaderStaysWhereSomebodyElseOnlyTouchedTheLease) {
  LeaseLab lab;
  Replica& leader = lab.start("a", lasting());
  ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
  lab.server.write(*lab.server.lease);
  ASSERT_TRUE(lab.until([&] { return leader.failures("conflict") > 0; }));
  const std::size_t writes = lab.server.writes.size();
  ASSERT_TRUE(lab.until([&] { return lab.server.writes.size() > writes; }));
  EXPECT_TRUE(leader.is_leading());
  EXPECT_EQ(leader.losses, 0);
  EXPECT_EQ(leader.leads, 1);
  EXPECT_EQ(leader.leaders_seen, 0);
}

TEST(Elector, ALeaseThatWasDeletedIsMadeAnew) {
  LeaseLab lab;
  Replica& leader = lab.start("a", lasting());
  ASSERT_TRUE(lab.until([&] { return leader.is_leading(); }));
  lab.server.lease.reset();
  ASSERT_TRUE(lab.until([&] { return leader.leads == 2; }));
  EXPECT_EQ(leader.losses, 1);
  EXPECT_EQ(leader.before, std::nullopt);
  EXPECT_EQ(lab.server.lease->holder, "a");
}

}  // namespace
}  // namespace xila::observe
