#include "xila/codec/watch_event.hpp"

#include <gtest/gtest.h>

#include <string>

namespace xila::codec {
namespace {

TEST(MetadataPage, KeepsWhatIdentifiesAnObjectAndItsLabels) {
  const auto page = decode_metadata_page(R"({
    "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
    "metadata": {"resourceVersion": "705", "continue": "eyJ2", "remainingItemCount": 2},
    "items": [
      {"kind": "PartialObjectMetadata", "metadata": {"name": "a", "uid": "u-1", "resourceVersion": "7",
       "labels": {"kubernetes.io/metadata.name": "a", "guard.xila.us/tenant": "team"},
       "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:metadata": {}}}]}},
      {"metadata": {"name": "b", "namespace": "a", "labels": null, "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    ]})");

  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->resource_version, "705");
  EXPECT_EQ(page->next, "eyJ2");
  const std::vector<Item<ObjectMeta>> expected{
      {.id = {.name = "a", .uid = "u-1", .resource_version = "7"},
       .object = {.labels = {{"kubernetes.io/metadata.name", "a"},
                             {"guard.xila.us/tenant", "team"}}}},
      {.id = {.name = "b", .space = "a"}, .object = {.is_terminating = true}}};
  EXPECT_EQ(page->items, expected);
}

TEST(MetadataPage, MayBeEmpty) {
  for (const std::string items : {"[]", "null"}) {
    const auto page =
        decode_metadata_page(R"({"metadata":{"resourceVersion":"1"},"items":)" + items + "}");
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_TRUE(page->items.empty());
  }
}

TEST(MetadataPage, MayBeLongerThanWasAskedFor) {
  std::string text = R"({"metadata":{"resourceVersion":"1"},"items":[)";
  for (int i = 0; i < 30'000; ++i) {
    if (i > 0) text += ',';
    text += R"({"metadata":{"name":"n)" + std::to_string(i) + "\"}}";
  }
  const auto page = decode_metadata_page(text + "]}");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->items.size(), 30'000u);
  EXPECT_EQ(page->items.back().id.name, "n29999");
}

TEST(MetadataPage, SaysWhatCannotBeRead) {
  struct Case {
    const char* text;
    const char* error;
  };
  const Case cases[] = {
      {R"({"metadata":{},"items":[]})", "metadata.resourceVersion is absent"},
      {R"({"items":[]})", "metadata is absent"},
      {R"({"metadata":{"resourceVersion":"1"},"items":{}})", "items is no array"},
      {R"({"metadata":{"resourceVersion":"1"},"items":[7]})", "items[0] is no object"},
      {R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}},{}]})",
       "items[1].metadata is absent"},
      {R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"uid":"u"}}]})",
       "items[0].metadata.name is absent"},
      {R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","labels":{"k":1}}}]})",
       "items[0].metadata.labels.k is a number, expected a string"},
      {R"({"metadata":{"resourceVersion":"1"},"items":[)", "the document is not valid JSON: "},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto page = decode_metadata_page(c.text);
    ASSERT_FALSE(page);
    EXPECT_TRUE(page.error().message.starts_with(c.error)) << page.error().message;
  }
}

TEST(MetadataEvent, ReadsEveryTypeOfChange) {
  struct Case {
    const char* type;
    EventKind kind;
  };
  const Case cases[] = {{"ADDED", EventKind::added},
                        {"MODIFIED", EventKind::modified},
                        {"DELETED", EventKind::removed}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.type);
    const auto event = decode_metadata_event(
        std::string(R"({"type":")") + c.type +
        R"(","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"9","labels":{"k":"v"}}}})");
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(event->kind, c.kind);
    EXPECT_EQ(event->item.id, (ObjectId{.name = "a", .uid = "u", .resource_version = "9"}));
    EXPECT_EQ(event->item.object.labels, (policy::Labels{{"k", "v"}}));
  }
}

TEST(MetadataEvent, BookmarkHoldsAVersionAndNoObject) {
  const auto event = decode_metadata_event(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"990",
      "creationTimestamp":null},"spec":{"containers":null}}})");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->kind, EventKind::bookmark);
  EXPECT_EQ(event->item.id, ObjectId{.resource_version = "990"});
}

TEST(MetadataEvent, ErrorHoldsAStatus) {
  const auto event = decode_metadata_event(
      R"json({"type":"ERROR","object":{"kind":"Status","metadata":{},"status":"Failure",
      "message":"too old resource version: 1 (2)","reason":"Expired","code":410,
      "details":{"retryAfterSeconds":3}}})json");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->kind, EventKind::error);
  const Status expected{.code = 410,
                        .reason = "Expired",
                        .message = "too old resource version: 1 (2)",
                        .retry_after = std::chrono::seconds(3)};
  EXPECT_EQ(event->status, expected);
}

TEST(MetadataEvent, SaysWhatCannotBeRead) {
  struct Case {
    const char* text;
    const char* error;
  };
  const Case cases[] = {
      {R"({"type":"RENAMED","object":{}})", "type is no type of watch event"},
      {R"({"object":{}})", "type is absent"},
      {R"({"type":"ADDED"})", "object is absent"},
      {R"({"type":"ADDED","object":{"metadata":{}}})", "object.metadata.name is absent"},
      {R"({"type":"BOOKMARK","object":{"metadata":{}}})",
       "object.metadata.resourceVersion is absent"},
      {R"({"type":"ADDED","object":{"metadata":{"na)", "the document is not valid JSON: "},
      {"", "the document is empty"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto event = decode_metadata_event(c.text);
    ASSERT_FALSE(event);
    EXPECT_TRUE(event.error().message.starts_with(c.error)) << event.error().message;
  }
}

TEST(Metadata, OfOneObjectOfAnyKind) {
  const auto item = decode_metadata(
      R"({"kind":"Namespace","metadata":{"name":"a","uid":"u","labels":{"k":"v"},
      "deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{}})");
  ASSERT_TRUE(item) << item.error().message;
  EXPECT_EQ(item->id.name, "a");
  EXPECT_EQ(item->object, (ObjectMeta{.labels = {{"k", "v"}}, .is_terminating = true}));
  EXPECT_FALSE(decode_metadata(R"({"kind":"Status","code":404,"metadata":{}})"));
}

TEST(StatusBody, IsReadOnlyWhereItIsOne) {
  const auto status =
      decode_status(R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no"})");
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(*status, (Status{.code = 403, .reason = "Forbidden", .message = "no"}));
  EXPECT_FALSE(decode_status(R"({"message":"from a proxy"})"));
  EXPECT_FALSE(decode_status("<html>Bad gateway</html>"));
}

}  // namespace
}  // namespace xila::codec
