#include <gtest/gtest.h>

#include "xila/codec/event.hpp"
#include "xila/codec/lease.hpp"

// What is written to an API server, whole.
namespace xila::codec {
namespace {

using std::chrono::system_clock;

const system_clock::time_point kTen{std::chrono::seconds(1796119200)};  // 2026-12-01T10:00:00Z

Event event() {
  return {.name = "train-0.0123456789abcdef",
          .space = "team-a",
          .reason = "PlacementViolation",
          .action = "Observe",
          .note = "a \"note\"",
          .controller = "guard.xila.us/observe",
          .instance = "observe-0",
          .regarding = {.kind = "Pod", .space = "team-a", .name = "train-0", .uid = "u-1"},
          .related = {.kind = "Node", .name = "gpu-7"},
          .time = kTen};
}

TEST(EncodeEvent, WritesAllThatTheApiServerAsksFor) {
  EXPECT_EQ(
      encode_event(event()),
      R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"train-0.0123456789abcdef","namespace":"team-a"},"eventTime":"2026-12-01T10:00:00.000000Z","reportingController":"guard.xila.us/observe","reportingInstance":"observe-0","action":"Observe","reason":"PlacementViolation","regarding":{"apiVersion":"v1","kind":"Pod","namespace":"team-a","name":"train-0","uid":"u-1"},"note":"a \"note\"","type":"Warning","related":{"apiVersion":"v1","kind":"Node","name":"gpu-7"}})");
}

TEST(EncodeEvent, WritesValidUtf8WhateverItIsGiven) {
  Event odd = event();
  odd.note = "a\xff\n";
  odd.related = {};
  EXPECT_NE(encode_event(odd).find("\"note\":\"a\xef\xbf\xbd\\n\""), std::string::npos);
  EXPECT_EQ(encode_event(odd).find("related"), std::string::npos);
}

TEST(EncodeEvent, CountsItOnceMore) {
  EXPECT_EQ(encode_event_series(3, kTen),
            R"({"series":{"count":3,"lastObservedTime":"2026-12-01T10:00:00.000000Z"}})");
}

TEST(Leases, AreReadAsTheyWereWritten) {
  const Lease lease{.name = "observe",
                    .space = "guard",
                    .resource_version = "7",
                    .holder = "observe-0_ab",
                    .duration = std::chrono::seconds(10),
                    .acquired = kTen,
                    .renewed = kTen + std::chrono::microseconds(5),
                    .transitions = 3,
                    .reported = "0a,0b"};
  const auto read = decode_lease(encode_lease(lease));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, lease);
}

TEST(Leases, OfNobodyAreReadToo) {
  const auto read = decode_lease(
      R"({"metadata":{"name":"l","resourceVersion":"1"},"spec":{"holderIdentity":null}})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (Lease{.name = "l", .resource_version = "1"}));
  EXPECT_FALSE(decode_lease(R"({"metadata":{"name":"l"}})"));
  EXPECT_FALSE(decode_lease("nothing"));
}

TEST(Leases, ANewOneHasNoVersion) {
  EXPECT_EQ(encode_lease({.name = "l", .space = "s", .holder = "me"}).find("resourceVersion"),
            std::string::npos);
}

}  // namespace
}  // namespace xila::codec
