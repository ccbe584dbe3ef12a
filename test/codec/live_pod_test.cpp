#include "xila/codec/live_pod.hpp"

#include <gtest/gtest.h>

#include <string>

namespace xila::codec {
namespace {

using std::chrono::system_clock;

// As an API server v1.34 lists it, shortened to what matters and what could mislead.
constexpr const char* kRunning = R"({
  "metadata": {"name": "train-0", "namespace": "team-a", "uid": "u-1", "resourceVersion": "70",
    "creationTimestamp": "2026-12-01T09:59:00Z",
    "labels": {"volcano.sh/job-name": "train"},
    "ownerReferences": [{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "train",
                         "uid": "j-1", "controller": true}],
    "managedFields": [
      {"manager": "vc-controller-manager", "operation": "Update", "fieldsType": "FieldsV1",
       "fieldsV1": {"f:metadata": {"f:labels": {}}, "f:spec": {"f:containers": {}}}},
      {"manager": "kubelet", "operation": "Update", "subresource": "status",
       "fieldsV1": {"f:status": {"f:phase": {}}}}]},
  "spec": {"schedulerName": "volcano", "nodeName": "gpu-7", "containers": [{"name": "main"}],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}},
                {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}},
                {"name": "token", "projected": {}}]},
  "status": {"phase": "Running", "conditions": [
    {"type": "Ready", "status": "True", "lastTransitionTime": "2026-12-01T10:05:00Z"},
    {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-12-01T10:00:00Z"}]}})";

std::string page_of(const std::string& items) {
  return R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[)" + items + "]}";
}

LivePod decoded(const std::string& pod) {
  const auto page = decode_pod_page(page_of(pod));
  EXPECT_TRUE(page) << page.error().message;
  return page ? page->items.at(0).object : LivePod{};
}

TEST(LivePod, KeepsWhatTheChecksReadAndWhereItStands) {
  const auto page = decode_pod_page(page_of(kRunning));
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->items.size(), 1u);
  const ObjectId id{.name = "train-0", .space = "team-a", .uid = "u-1", .resource_version = "70"};
  EXPECT_EQ(page->items[0].id, id);

  const LivePod& live = page->items[0].object;
  EXPECT_EQ(live.pod.name, "train-0");
  EXPECT_EQ(live.pod.node_name, "gpu-7");
  EXPECT_EQ(live.pod.scheduler_name, "volcano");
  EXPECT_EQ(live.pod.labels, (policy::Labels{{"volcano.sh/job-name", "train"}}));
  EXPECT_EQ(live.malformed, policy::Violations{});
  EXPECT_FALSE(live.has_ended);
  EXPECT_FALSE(live.is_terminating);
  EXPECT_EQ(live.bound_at,
            system_clock::time_point(std::chrono::seconds(1796119200)));  // 10:00:00
  EXPECT_EQ(live.node_choice, NodeChoice::by_binding);
  EXPECT_EQ(live.claims, (std::vector<std::string>{"data-0", "train-0-scratch"}));
}

TEST(LivePod, ManagedFieldsShowWhoChoseTheNode) {
  struct Case {
    const char* name;
    std::string managed;
    NodeChoice choice;
    std::string chooser;
  };
  const std::string mine =
      R"({"manager":"kubectl-create","fieldsV1":{"f:spec":{"f:nodeName":{}}}})";
  const std::string other = R"({"manager":"other","fieldsV1":{"f:spec":{"f:containers":{}}}})";
  const Case cases[] = {
      {"the creator", mine, NodeChoice::by_creator, "kubectl-create"},
      {"the creator, among others", other + "," + mine + "," + other, NodeChoice::by_creator,
       "kubectl-create"},
      {"nobody", other, NodeChoice::by_binding, ""},
      {"erased", "", NodeChoice::unknown, ""},
      {"erased, then a label", R"({"manager":"m","fieldsV1":{"f:metadata":{"f:labels":{}}}})",
       NodeChoice::unknown, ""},
      {"a subresource",
       R"({"manager":"m","subresource":"status","fieldsV1":{"f:spec":{"f:nodeName":{}}}})",
       NodeChoice::unknown, ""},
      {"of another form", R"({"manager":7,"fieldsV1":"x"},{"fieldsV1":{"f:spec":[]}})",
       NodeChoice::unknown, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const LivePod live = decoded(R"({"metadata":{"name":"p","managedFields":[)" + c.managed +
                                 R"(]},"spec":{"nodeName":"n","containers":[{"name":"c"}]}})");
    EXPECT_EQ(live.node_choice, c.choice);
    EXPECT_EQ(live.node_chooser, c.chooser);
    EXPECT_EQ(live.malformed, policy::Violations{});
  }
}

TEST(LivePod, KnowsItsPlaceInLife) {
  const auto with = [](const std::string& metadata, const std::string& status) {
    return decoded(R"({"metadata":{"name":"p")" + metadata +
                   R"(},"spec":{"containers":[{"name":"c"}]},"status":)" + status + "}");
  };
  EXPECT_TRUE(with("", R"({"phase":"Succeeded"})").has_ended);
  EXPECT_TRUE(with("", R"({"phase":"Failed"})").has_ended);
  EXPECT_FALSE(with("", R"({"phase":"Pending"})").has_ended);
  EXPECT_FALSE(with("", "{}").has_ended);
  EXPECT_TRUE(with(R"(,"deletionTimestamp":"2026-12-01T10:00:00Z")", "{}").is_terminating);
  EXPECT_FALSE(with(R"(,"deletionTimestamp":null)", "{}").is_terminating);
}

// A Pod that was created with its node has no such condition until the kubelet sets it.
TEST(LivePod, WithoutTheConditionItsBindingIsItsCreation) {
  const std::string created =
      R"("metadata":{"name":"p","creationTimestamp":"1970-01-01T00:00:07Z"})";
  const std::string spec = R"("spec":{"containers":[{"name":"c"}]})";
  const std::string waiting =
      R"("status":{"conditions":[{"type":"PodScheduled","status":"False","lastTransitionTime":"1970-01-01T00:00:09Z"}]})";
  EXPECT_EQ(decoded("{" + created + "," + spec + "," + waiting + "}").bound_at,
            system_clock::time_point(std::chrono::seconds(7)));
  EXPECT_EQ(decoded(R"({"metadata":{"name":"p"},)" + spec + "}").bound_at, std::nullopt);
}

TEST(LivePod, AnUnreadableSpecIsTheMatterOfItsPodAlone) {
  const auto page = decode_pod_page(
      page_of(R"({"metadata":{"name":"bad"},"spec":{"hostPID":"yes","containers":[]}},)" +
              std::string(kRunning)));
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->items.size(), 2u);
  const policy::Violations& malformed = page->items[0].object.malformed;
  ASSERT_EQ(malformed.size(), 2u);
  EXPECT_EQ(malformed[0].field, "spec.hostPID");
  EXPECT_EQ(malformed[0].message, "spec.hostPID is a string, expected a boolean");
  EXPECT_EQ(malformed[1].message, "spec.containers is empty");
  EXPECT_EQ(page->items[1].object.malformed, policy::Violations{});
}

TEST(LivePod, WithoutANameThePageIsUnreadable) {
  const auto page = decode_pod_page(page_of(R"({"metadata":{},"spec":{}})"));
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().message, "items[0].metadata.name is absent");
}

TEST(LivePod, ABookmarkIsNoPod) {
  const auto event = decode_pod_event(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"990",
          "creationTimestamp":null},"spec":{"containers":null},"status":{}}})");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->kind, EventKind::bookmark);
  EXPECT_EQ(event->item.id.resource_version, "990");
}

}  // namespace
}  // namespace xila::codec
