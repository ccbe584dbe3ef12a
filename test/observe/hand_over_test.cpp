#include "hand_over.hpp"

#include <gtest/gtest.h>

#include <set>

namespace xila::observe {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

constexpr std::size_t kNameBytes = 10;  // a lease of an older version must stay readable

Steady at(std::chrono::milliseconds time) {
  return Steady(1h) + time;
}

Transition step(const std::string& id, Change change = Change::opened) {
  return {.change = change, .finding = {.id = id, .evidence = {{.field = "f", .wanted = "w"}}}};
}

std::string name(const std::string& id) {
  return HandOver::name_of(step(id));
}

// A replica that had judged everything at 0 s, and saw a leader who must have known as much.
HandOver follower() {
  HandOver hand_over;
  hand_over.begin(at(0s));
  hand_over.saw_leader(at(HandOver::kLag));
  return hand_over;
}

// What it tells when it takes over: ids, in order; "all anew" where it does not know.
Lines told(HandOver& hand_over, const std::string& named, Steady now) {
  const std::optional<std::vector<Transition>> steps = hand_over.take_over(named, now);
  if (!steps) return {"all anew"};
  Lines lines;
  for (const Transition& step : *steps) lines.push_back(step.finding.id);
  return lines;
}

TEST(HandOver, TellsInOrderWhatTheLeaseDoesNotName) {
  HandOver leader;
  HandOver next = follower();
  for (const char* id : {"a", "b", "c", "d"}) next.remember(step(id), at(3s));
  for (const char* id : {"d", "b"}) leader.reported(name(id), at(3s));
  EXPECT_EQ(told(next, leader.named(at(4s)), at(15s)), (Lines{"a", "c"}));
}

// A finding that opened, was resolved and opened again has the same step twice.
TEST(HandOver, AStepThatWasTakenTwiceIsToldAsOftenAsTheLeaseLacksIt) {
  struct Case {
    const char* what;
    std::string named;
    Lines told;
  };
  const Case cases[] = {
      {"never named", "", {"a", "b", "a"}},
      {"named once", name("a"), {"b", "a"}},
      {"named twice", name("a") + name("a"), {"b"}},
      {"named more often", name("a") + name("a") + name("a"), {"b"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    HandOver next = follower();
    for (const char* id : {"a", "b", "a"}) next.remember(step(id), at(3s));
    EXPECT_EQ(told(next, c.named, at(4s)), c.told);
  }
}

TEST(HandOver, AnnotationsOfOthersNameNothing) {
  for (const std::string& named :
       {std::string("x"), name("a").substr(1), "?" + name("a"), std::string(100'000, 'f')}) {
    HandOver next = follower();
    next.remember(step("a"), at(3s));
    EXPECT_EQ(told(next, named, at(4s)), (Lines{"a"})) << named.substr(0, 20);
  }
  // What somebody cut short still names what it names whole.
  HandOver next = follower();
  for (const char* id : {"a", "b"}) next.remember(step(id), at(3s));
  EXPECT_EQ(told(next, name("a") + name("b").substr(1), at(4s)), (Lines{"b"}));
}

TEST(HandOver, WhatStoodAtTheBeginningIsNotRemembered) {
  HandOver next = follower();
  Transition baseline = step("old");
  baseline.is_baseline = true;
  next.remember(baseline, at(3s));
  next.remember(step("new"), at(3s));
  EXPECT_EQ(told(next, "", at(4s)), (Lines{"new"}));
}

// A leader that died before this replica knew the cluster may never have told what stood then.
TEST(HandOver, KnowsNothingUnlessALeaderLivedWellAfterItHadJudgedEverything) {
  constexpr auto kLag = HandOver::kLag;
  struct Case {
    const char* what;
    std::optional<std::chrono::milliseconds> begun;
    std::optional<std::chrono::milliseconds> seen;
    Lines told;
  };
  const Case cases[] = {
      {"nothing was judged", {}, 1h, {"all anew"}},
      {"no leader was seen", 0s, {}, {"all anew"}},
      {"the leader lived before", 10s, 5s, {"all anew"}},
      {"the leader lived just after", 10s, 10s + kLag - 1ms, {"all anew"}},
      {"the leader lived for the lag", 10s, 10s + kLag, {"a"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    HandOver next;
    if (c.begun) next.begin(at(*c.begun));
    if (c.seen) next.saw_leader(at(*c.seen));
    next.remember(step("a"), at(13s));
    EXPECT_EQ(told(next, "", at(20s)), c.told);
  }
}

TEST(HandOver, WhoLedOnceKnowsWhatWasTold) {
  HandOver replica;
  EXPECT_EQ(told(replica, "", at(0s)), (Lines{"all anew"}));
  replica.remember(step("a"), at(5s));  // it lost the lease meanwhile
  EXPECT_EQ(told(replica, "", at(6s)), (Lines{"a"}));
  EXPECT_EQ(told(replica, "", at(7s)), Lines{});
}

// A living leader has reported it by then.
TEST(HandOver, AFollowerForgetsAStepThatALeaderOutlivedByItsMemory) {
  for (const auto& [seen, expected] :
       {std::pair(HandOver::kMemory + 0ms, Lines{"a", "b"}), {HandOver::kMemory + 1ms, {"b"}}}) {
    HandOver next = follower();
    next.remember(step("a"), at(3s));
    next.remember(step("b"), at(4s));
    next.saw_leader(at(3s + seen));
    EXPECT_EQ(told(next, "", at(1h)), expected) << seen.count();
  }
}

TEST(HandOver, AFollowerThatSeesNoLeaderForgetsNothing) {
  HandOver next = follower();
  next.remember(step("a"), at(3s));
  EXPECT_EQ(told(next, "", at(10h)), (Lines{"a"}));
}

TEST(HandOver, AFollowerRemembersTheLastStepsOfAStorm) {
  constexpr std::size_t kMost = 8192;
  HandOver next = follower();
  for (std::size_t i = 0; i <= kMost; ++i) next.remember(step(std::to_string(i)), at(3s));
  const Lines lines = told(next, "", at(4s));
  ASSERT_EQ(lines.size(), kMost);
  EXPECT_EQ(lines.front(), "1");
  EXPECT_EQ(lines.back(), std::to_string(kMost));
}

TEST(HandOver, ALeaderNamesAStepForAWhile) {
  HandOver leader;
  leader.reported(name("a"), at(0s));
  leader.reported(name("b"), at(5s));
  EXPECT_EQ(leader.named(at(HandOver::kNaming)), name("a") + name("b"));
  EXPECT_EQ(leader.named(at(HandOver::kNaming + 1ms)), name("b"));
  EXPECT_EQ(leader.named(at(HandOver::kNaming + 6s)), "");
}

// Its watch was broken for half a minute: what it sees then is old news to the leader.
TEST(HandOver, AFollowerThatSawAStepLateDoesNotTellItAgain) {
  constexpr auto kLate = 30s;
  HandOver leader;
  HandOver next = follower();
  leader.reported(name("a"), at(3s));
  next.remember(step("a"), at(3s + kLate));
  const Steady end = at(3s + kLate + HandOver::kMemory);
  next.saw_leader(end);
  EXPECT_EQ(told(next, leader.named(end), end + 10s), Lines{});
}

TEST(HandOver, ALeaderNamesTheLastStepsOfAStorm) {
  HandOver leader;
  const std::size_t most = HandOver::kMostNamed;
  for (std::size_t i = 0; i <= most; ++i) leader.reported(name(std::to_string(i)), at(0s));
  const std::string named = leader.named(at(1s));
  EXPECT_EQ(named.size(), most * kNameBytes);
  EXPECT_TRUE(named.starts_with(name("1")));
  EXPECT_TRUE(named.ends_with(name(std::to_string(most))));
}

// The next but one may remember what the last but one reported.
TEST(HandOver, WhatItTookOverStaysNamed) {
  HandOver second = follower();
  second.remember(step("a"), at(3s));
  second.remember(step("b"), at(3s));
  EXPECT_EQ(told(second, name("a"), at(10s)), (Lines{"b"}));
  second.reported(name("b"), at(11s));
  EXPECT_EQ(second.named(at(12s)), name("a") + name("b"));

  HandOver third = follower();
  for (const char* id : {"a", "b", "c"}) third.remember(step(id), at(13s));
  EXPECT_EQ(told(third, second.named(at(13s)), at(20s)), (Lines{"c"}));
}

TEST(HandOver, TakingOverAnotherTimeNamesWhatTheLeaseNames) {
  HandOver replica = follower();
  replica.reported(name("old"), at(3s));
  replica.take_over(name("a"), at(4s));
  EXPECT_EQ(replica.named(at(5s)), name("a"));
}

// Replicas see a step at different times, and tell it in different words of their own.
TEST(HandOver, AStepHasTheSameNameInEveryReplica) {
  const Transition mine = step("a");
  Transition theirs = mine;
  theirs.finding.since += 3s;
  theirs.is_baseline = true;
  EXPECT_EQ(HandOver::name_of(mine), HandOver::name_of(theirs));
  EXPECT_EQ(HandOver::name_of(mine), "681f2ed9e1");  // in every version too: they roll
}

TEST(HandOver, AnotherStepHasAnotherName) {
  using Edit = void (*)(Transition&);
  const std::pair<const char*, Edit> edits[] = {
      {"finding", [](Transition& t) { t.finding.id = "b"; }},
      {"change", [](Transition& t) { t.change = Change::changed; }},
      {"what was found", [](Transition& t) { t.finding.evidence[0].found = "x"; }},
      {"what was wanted", [](Transition& t) { t.finding.evidence[0].wanted = "x"; }},
      {"field", [](Transition& t) { t.finding.evidence[0].field = "x"; }},
      {"more evidence", [](Transition& t) { t.finding.evidence.push_back({}); }},
      {"no evidence", [](Transition& t) { t.finding.evidence.clear(); }},
      {"other bounds", [](Transition& t) { t.finding.evidence[0] = {.field = "fw"}; }},
  };
  std::set<std::string> names{name("a")};
  for (const auto& [what, edit] : edits) {
    Transition other = step("a");
    edit(other);
    EXPECT_TRUE(names.insert(HandOver::name_of(other)).second) << what;
  }
}

}  // namespace
}  // namespace xila::observe
