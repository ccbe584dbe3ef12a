#include "event_queue.hpp"

#include <gtest/gtest.h>

namespace xila::observe {
namespace {

using namespace std::chrono_literals;
using Put = EventQueue::Put;
using Lines = std::vector<std::string>;

Steady at(std::chrono::nanoseconds time) {
  return Steady(1h) + std::chrono::duration_cast<Steady::duration>(time);
}

codec::Event event(const std::string& space, const std::string& name) {
  codec::Event event;
  event.name = name;
  event.space = space;
  return event;
}

Put put(EventQueue& queue, const std::string& space, const std::string& name,
        bool may_be_known = false) {
  return queue.put(event(space, name), may_be_known);
}

// All that may be written now, in order: "space/name".
Lines taken(EventQueue& queue, Steady now) {
  Lines lines;
  while (const auto entry = queue.take(now)) {
    lines.push_back(entry->event.space + "/" + entry->event.name);
  }
  return lines;
}

void put_many(EventQueue& queue, int count) {
  for (int i = 0; i < count; ++i) put(queue, "s", std::to_string(i));
}

TEST(EventQueue, WhatCameFirstIsWrittenFirst) {
  EventQueue queue({}, at(0s));
  put(queue, "team-b", "z");
  put(queue, "team-a", "y");
  put(queue, "team-b", "x");
  put(queue, "team-b", "z");  // merged: it keeps its place
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(taken(queue, at(0s)), (Lines{"team-b/z", "team-a/y", "team-b/x"}));
  EXPECT_EQ(queue.size(), 0u);
}

TEST(EventQueue, WritesABurstAtOnceAndThenKeepsItsPace) {
  EventQueue queue({.per_second = 4, .burst = 3}, at(0s));
  put_many(queue, 10);
  EXPECT_EQ(taken(queue, at(0s)).size(), 3u);
  EXPECT_EQ(taken(queue, at(249ms)).size(), 0u);
  EXPECT_EQ(taken(queue, at(250ms)).size(), 1u);
  EXPECT_EQ(taken(queue, at(1s)).size(), 3u);
  EXPECT_EQ(queue.size(), 3u);
}

TEST(EventQueue, APauseEarnsABurstAndNoMore) {
  EventQueue queue({.per_second = 4, .burst = 3}, at(0s));
  put_many(queue, 10);
  taken(queue, at(0s));
  EXPECT_EQ(taken(queue, at(1h)).size(), 3u);
  EXPECT_EQ(taken(queue, at(1h)).size(), 0u);
}

TEST(EventQueue, AClockThatStandsOrGoesBackEarnsNothing) {
  EventQueue queue({.per_second = 4, .burst = 1}, at(10s));
  put_many(queue, 3);
  EXPECT_EQ(taken(queue, at(10s)).size(), 1u);
  EXPECT_EQ(taken(queue, at(10s)).size(), 0u);
  EXPECT_EQ(taken(queue, at(5s)).size(), 0u);
}

TEST(EventQueue, SaysWhenTheNextMayBeWritten) {
  EventQueue queue({.per_second = 3, .burst = 1}, at(0s));
  EXPECT_EQ(queue.ready_at(at(0s)), std::nullopt);  // none waits
  put_many(queue, 2);
  EXPECT_EQ(queue.ready_at(at(0s)), at(0s));
  EXPECT_TRUE(queue.take(at(0s)));
  EXPECT_EQ(queue.ready_at(at(0s)), at(334ms));  // a third of a second, rounded up
  EXPECT_EQ(queue.ready_at(at(100ms)), at(334ms));
}

// Woken a moment too soon a writer would ask again at once, and again.
TEST(EventQueue, HasAnEventWhenItSaidAndNoneAMillisecondBefore) {
  for (const double per_second : {0.1, 0.3, 1.0, 3.0, 7.0, 10.0, 13.7, 50.0, 99.9}) {
    SCOPED_TRACE(per_second);
    EventQueue queue({.per_second = per_second, .burst = 1, .waiting_per_space = 1000}, at(0s));
    put_many(queue, 400);
    Steady now = at(0s);
    ASSERT_TRUE(queue.take(now));
    for (int i = 1; i < 400; ++i) {
      now += std::chrono::microseconds(i * 7);  // whoever asks is late by something
      const std::optional<Steady> ready = queue.ready_at(now);
      ASSERT_TRUE(ready);
      if (*ready > now) {
        EventQueue before = queue;
        ASSERT_FALSE(before.take(std::max(now, *ready - 1ms))) << i;
      }
      ASSERT_TRUE(queue.take(*ready)) << i;
      now = *ready;
    }
  }
}

TEST(EventQueue, EventsOfOneNameAreOneThatCounts) {
  EventQueue queue({}, at(0s));
  codec::Event first = event("s", "n");
  first.note = "first";
  EXPECT_EQ(queue.put(first, false), Put::queued);
  EXPECT_EQ(put(queue, "s", "n"), Put::merged);
  EXPECT_EQ(put(queue, "s", "n"), Put::merged);
  EXPECT_EQ(put(queue, "other", "n"), Put::queued);

  const std::optional<EventQueue::Entry> entry = queue.take(at(0s));
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->count, 3);
  EXPECT_EQ(entry->event.note, "first");
  EXPECT_EQ(queue.take(at(0s))->count, 1);
  // What was taken is no longer there to be counted.
  EXPECT_EQ(put(queue, "s", "n"), Put::queued);
  EXPECT_EQ(queue.take(at(0s))->count, 1);
}

// One that is new for certain must be counted even where the others are there already.
TEST(EventQueue, MayBeKnownOnlyWhereAllMayBe) {
  struct Case {
    std::vector<bool> put;
    bool may_be_known;
  };
  const Case cases[] = {
      {{true}, true},         {{false}, false},       {{true, true}, true},
      {{true, false}, false}, {{false, true}, false}, {{true, true, false}, false},
  };
  for (const Case& c : cases) {
    EventQueue queue({}, at(0s));
    for (const bool may_be_known : c.put) put(queue, "s", "n", may_be_known);
    EXPECT_EQ(queue.take(at(0s))->may_be_known, c.may_be_known) << testing::PrintToString(c.put);
  }
}

TEST(EventQueue, DropsWhatIsTooMany) {
  EventQueue queue({.burst = 1, .waiting = 3, .waiting_per_space = 9}, at(0s));
  for (const char* space : {"a", "b", "c"}) EXPECT_EQ(put(queue, space, "1"), Put::queued);
  EXPECT_EQ(put(queue, "d", "1"), Put::dropped);
  EXPECT_EQ(put(queue, "a", "2"), Put::dropped);
  EXPECT_EQ(put(queue, "a", "1"), Put::merged);  // it takes no place
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_TRUE(queue.take(at(0s)));
  EXPECT_EQ(put(queue, "d", "1"), Put::queued);
}

TEST(EventQueue, AStormInOneNamespacePushesOutNobodyElse) {
  EventQueue queue({.burst = 1, .waiting = 5, .waiting_per_space = 2}, at(0s));
  EXPECT_EQ(put(queue, "loud", "1"), Put::queued);
  EXPECT_EQ(put(queue, "loud", "2"), Put::queued);
  EXPECT_EQ(put(queue, "loud", "3"), Put::dropped);
  EXPECT_EQ(put(queue, "loud", "2"), Put::merged);
  EXPECT_EQ(put(queue, "quiet", "1"), Put::queued);
  EXPECT_EQ(put(queue, "quiet", "2"), Put::queued);
  EXPECT_EQ(put(queue, "quiet", "3"), Put::dropped);
  // A place is free once one is taken: of that namespace alone.
  EXPECT_EQ(queue.take(at(0s))->event.space, "loud");
  EXPECT_EQ(put(queue, "quiet", "3"), Put::dropped);
  EXPECT_EQ(put(queue, "loud", "3"), Put::queued);
}

TEST(EventQueue, ForgetsAllThatWaits) {
  EventQueue queue({.burst = 1, .waiting_per_space = 2}, at(0s));
  put_many(queue, 2);
  EXPECT_EQ(queue.clear(), 2u);
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_EQ(queue.ready_at(at(0s)), std::nullopt);
  EXPECT_FALSE(queue.take(at(0s)));
  EXPECT_EQ(queue.clear(), 0u);
  // Neither names nor places are left behind.
  EXPECT_EQ(put(queue, "s", "0"), Put::queued);
  EXPECT_EQ(put(queue, "s", "1"), Put::queued);
  // Nor was the pace spent: what was forgotten was not written.
  EXPECT_EQ(taken(queue, at(0s)), (Lines{"s/0"}));
}

}  // namespace
}  // namespace xila::observe
