#include "xila/codec/storage.hpp"

#include <gtest/gtest.h>

namespace xila::codec {
namespace {

TEST(VolumeClaims, SayWhichVolumeTheyAreBoundTo) {
  const auto page = decode_claim_page(R"({"metadata":{"resourceVersion":"1"},"items":[
    {"metadata":{"name":"bound","namespace":"a"},"spec":{"volumeName":"pv-1"},
     "status":{"phase":"Bound"}},
    {"metadata":{"name":"asked","namespace":"a"},"spec":{"volumeName":"pv-2"},
     "status":{"phase":"Pending"}},
    {"metadata":{"name":"new","namespace":"a"},"spec":{}}]})");
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->items.size(), 3u);
  EXPECT_EQ(page->items[0].object, (VolumeClaim{.volume = "pv-1", .is_bound = true}));
  EXPECT_EQ(page->items[1].object, (VolumeClaim{.volume = "pv-2"}));
  EXPECT_EQ(page->items[2].object, VolumeClaim{});
}

TEST(PersistentVolumes, SayWhetherTheyAreAPathOfANode) {
  struct Case {
    std::string spec;
    PersistentVolume volume;
  };
  const Case cases[] = {
      {R"({"hostPath":{"path":"/data"},"claimRef":{"namespace":"a","name":"c"}})",
       {VolumeSource::host_path, "/data", "a/c"}},
      {R"({"local":{"path":"/mnt/nvme0"}})", {VolumeSource::local, "/mnt/nvme0", ""}},
      {R"({"hostPath":{}})", {VolumeSource::host_path, "", ""}},
      {R"({"hostPath":null,"csi":{"driver":"d"}})", {}},
      {"{}", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec);
    const auto event = decode_volume_event(
        R"({"type":"ADDED","object":{"metadata":{"name":"pv"},"spec":)" + c.spec + "}}");
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(event->item.object, c.volume);
  }
}

TEST(Storage, WhatCannotBeReadIsNotTakenForAbsent) {
  EXPECT_FALSE(decode_claim_page(
      R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"c"},"spec":7}]})"));
  EXPECT_FALSE(decode_volume_event(
      R"({"type":"ADDED","object":{"metadata":{"name":"v"},"spec":{"hostPath":7}}})"));
}

}  // namespace
}  // namespace xila::codec
