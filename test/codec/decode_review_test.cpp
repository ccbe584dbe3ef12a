#include <gtest/gtest.h>

#include "codec/review_text.hpp"

namespace xila::codec {
namespace {

std::string error_of(std::string text) {
  const base::Result<policy::Review> review = decode(std::move(text));
  return review ? "" : review.error().message;
}

TEST(DecodeReview, RefusesWhatItCannotAnswer) {
  struct Case {
    std::string text;
    std::string error;
  };
  const std::string opening = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview")";
  const std::string other = "; this server takes AdmissionReview of admission.k8s.io/v1";
  const Case cases[] = {
      {"", "the document is empty"},
      {" \n", "the document is empty"},
      {R"("text")", "the document is a string, expected an object"},
      {"[]", "the document is an array, expected an object"},
      {"{}", "apiVersion is \"\" and kind is \"\"" + other},
      {R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"})",
       "apiVersion is \"admission.k8s.io/v1beta1\" and kind is \"AdmissionReview\"" + other},
      {R"({"apiVersion":"admission.k8s.io/v1","kind":"admissionreview"})",
       "apiVersion is \"admission.k8s.io/v1\" and kind is \"admissionreview\"" + other},
      {R"({"apiVersion":"admission.k8s.io/v1\u0000","kind":"AdmissionReview"})",
       "apiVersion is \"admission.k8s.io/v1\\u0000\" and kind is \"AdmissionReview\"" + other},
      {R"({"apiVersion":1,"kind":"AdmissionReview","request":{"uid":"u"}})",
       "apiVersion is \"\" and kind is \"AdmissionReview\"" + other},
      {R"({"APIVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u"}})",
       "apiVersion is \"\" and kind is \"AdmissionReview\"" + other},
      {opening + "}", "no AdmissionReview to answer: request is absent"},
      {opening + R"(,"request":null})", "no AdmissionReview to answer: request is absent"},
      {opening + R"(,"request":[]})",
       "no AdmissionReview to answer: request is an array, expected an object"},
      {opening + R"(,"request":{}})", "no AdmissionReview to answer: request.uid is absent"},
      {opening + R"(,"request":{"uid":null}})",
       "no AdmissionReview to answer: request.uid is absent"},
      {opening + R"(,"request":{"uid":""}})", "no AdmissionReview to answer: request.uid is empty"},
      {opening + R"(,"request":{"uid":7}})",
       "no AdmissionReview to answer: request.uid is a number, expected a string"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(error_of(c.text), c.error);
  }
}

TEST(DecodeReview, ReadsWhoAsksForWhat) {
  const auto review = decode(review_with(
      R"("operation":"UPDATE","namespace":"team-a","name":"p-0","userInfo":{"username":"alice","groups":7},
         "resource":{"group":"","version":"v1","resource":"pods"},"subResource":"ephemeralcontainers","dryRun":true,
         "object":{"metadata":{"name":"other","namespace":"other"},"spec":{"containers":[{"name":"new"}]}},
         "oldObject":{"spec":{"containers":[{"name":"old"}]}})"));
  ASSERT_TRUE(review) << review.error().message;
  EXPECT_EQ(review->uid, "u-1");
  EXPECT_EQ(review->subject, (policy::Subject{.operation = policy::Operation::update,
                                              .space = "team-a",
                                              .name = "p-0",
                                              .user = "alice",
                                              .resource = "pods/ephemeralcontainers",
                                              .dry_run = true}));
  EXPECT_EQ(findings(review->malformed), Findings{});
  ASSERT_TRUE(review->object && review->old_object);
  EXPECT_EQ(review->object->containers.at(0).name, "new");
  EXPECT_EQ(review->old_object->containers.at(0).name, "old");
}

TEST(DecodeReview, TakesTheNameFromWhereItIs) {
  struct Case {
    std::string_view request_name;
    std::string_view metadata;
    std::string_view want;
  };
  const Case cases[] = {
      {R"("a")", R"({"name":"b","generateName":"c-"})", "a"},
      {R"("")", R"({"name":"b","generateName":"c-"})", "b"},
      {"null", R"({"name":"b"})", "b"},
      {"null", R"({"name":"","generateName":"c-"})", "c-*"},
      {"null", R"({"generateName":"c-"})", "c-*"},
      {"null", "{}", ""},
      {"null", "null", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.metadata);
    const auto review =
        decode(review_with(R"("operation":"CREATE",)" + std::string(kPods) + R"(,"name":)" +
                           std::string(c.request_name) + R"(,"object":{"metadata":)" +
                           std::string(c.metadata) + R"(,"spec":{"containers":[{}]}})"));
    ASSERT_TRUE(review);
    EXPECT_EQ(review->subject.name, c.want);
    EXPECT_EQ(findings(review->malformed), Findings{});
  }
}

TEST(DecodeReview, NamesTheResourceSoThatOnlyPodsAreCalledPods) {
  struct Case {
    std::string_view resource;
    std::string_view part;
    std::string_view want;
    bool has_pod;
  };
  const Case cases[] = {
      {R"({"group":"","version":"v1","resource":"pods"})", "null", "pods", true},
      {R"({"version":"v1","resource":"pods"})", R"("")", "pods", true},
      {R"({"version":"v1","resource":"pods"})", R"("ephemeralcontainers")",
       "pods/ephemeralcontainers", true},
      {R"({"version":"v1","resource":"pods"})", R"("binding")", "pods/binding", false},
      {R"({"version":"v1","resource":"bindings"})", "null", "bindings", false},
      {R"({"version":"v2","resource":"pods"})", "null", "pods.v2", false},
      {R"({"group":"x.io","version":"v1","resource":"pods"})", "null", "pods.x.io", false},
      {R"({"group":"apps","version":"v1","resource":"deployments"})", R"("scale")",
       "deployments.apps/scale", false},
      {R"({"version":"v1","resource":"Pods"})", "null", "Pods", false},
      {R"({"version":"v1","resource":"pods\u0000"})", "null", "pods\\0", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.want);
    const auto review = decode(review_with(
        R"("operation":"CREATE","resource":)" + std::string(c.resource) + R"(,"subResource":)" +
        std::string(c.part) + R"(,"object":)" + std::string(kGoodPod)));
    ASSERT_TRUE(review);
    const std::string want = c.want == "pods\\0" ? std::string("pods\0", 5) : std::string(c.want);
    EXPECT_EQ(review->subject.resource, want);
    EXPECT_EQ(review->object.has_value(), c.has_pod);
    EXPECT_EQ(findings(review->malformed), Findings{});
  }
}

TEST(DecodeReview, ReadsObjectsOnlyWhereTheyAreJudged) {
  struct Case {
    std::string_view operation;
    bool reads_object;
    bool reads_old;
  };
  const Case cases[] = {{"CREATE", true, false},
                        {"UPDATE", true, true},
                        {"DELETE", false, false},
                        {"CONNECT", false, false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.operation);
    const std::string pods = R"(","name":"p","object":)" + std::string(kGoodPod) +
                             R"(,"oldObject":)" + std::string(kGoodPod);
    const auto review = decode(
        review_with(std::string(kPods) + R"(,"operation":")" + std::string(c.operation) + pods));
    ASSERT_TRUE(review);
    EXPECT_EQ(policy::to_text(review->subject.operation), c.operation);
    EXPECT_EQ(review->object.has_value(), c.reads_object);
    EXPECT_EQ(review->old_object.has_value(), c.reads_old);
    EXPECT_EQ(findings(review->malformed), Findings{});

    const auto bad =
        decode(review_with(std::string(kPods) + R"(,"operation":")" + std::string(c.operation) +
                           R"(","object":1,"oldObject":2)"));
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->malformed.size(),
              static_cast<std::size_t>(c.reads_object) + static_cast<std::size_t>(c.reads_old));
  }
}

TEST(DecodeReview, NamesTheFieldOfAWrongType) {
  const std::string pods(kPods);
  const std::string object = R"("object":)" + std::string(kGoodPod);
  struct Case {
    std::string fields;
    Findings want;
  };
  const Case cases[] = {
      {pods + "," + object, {{"request.operation", "request.operation is absent"}}},
      {R"("operation":"",)" + pods + "," + object,
       {{"request.operation", "request.operation is empty"}}},
      {R"("operation":"create",)" + pods + "," + object,
       {{"request.operation", "request.operation is \"create\", which is none"}}},
      {R"("operation":1,)" + pods + "," + object,
       {{"request.operation", "request.operation is a number, expected a string"}}},
      {R"("operation":"CREATE",)" + object, {{"request.resource", "request.resource is absent"}}},
      {R"("operation":"CREATE","resource":"pods",)" + object,
       {{"request.resource", "request.resource is a string, expected an object"}}},
      {R"("operation":"CREATE","resource":{"resource":5},)" + object,
       {{"request.resource.resource", "request.resource.resource is a number, expected a string"},
        {"request.resource.version", "request.resource.version is absent"}}},
      {R"("operation":"CREATE","resource":{"group":[],"version":"v1","resource":"pods"},)" + object,
       {{"request.resource.group", "request.resource.group is an array, expected a string"}}},
      {R"("operation":"CREATE","namespace":5,"name":{},"userInfo":"alice","dryRun":"false","subResource":1,)" +
           pods + "," + object,
       {{"request.namespace", "request.namespace is a number, expected a string"},
        {"request.name", "request.name is an object, expected a string"},
        {"request.userInfo", "request.userInfo is a string, expected an object"},
        {"request.subResource", "request.subResource is a number, expected a string"},
        {"request.dryRun", "request.dryRun is a string, expected a boolean"}}},
      {R"("operation":"CREATE","userInfo":{"username":["system:admin"]},)" + pods + "," + object,
       {{"request.userInfo.username", "request.userInfo.username is an array, expected a string"}}},
      {R"("operation":"CREATE",)" + pods, {{"request.object", "request.object is absent"}}},
      {R"("operation":"CREATE","object":null,)" + pods,
       {{"request.object", "request.object is absent"}}},
      {R"("operation":"CREATE","object":[],)" + pods,
       {{"request.object", "request.object is an array, expected an object"}}},
      {R"("operation":"UPDATE",)" + pods + "," + object,
       {{"request.oldObject", "request.oldObject is absent"}}},
      {R"("operation":"UPDATE","oldObject":"x",)" + pods + "," + object,
       {{"request.oldObject", "request.oldObject is a string, expected an object"}}},
      {R"("operation":"UPDATE",)" + pods +
           R"(,"object":{"spec":{"containers":[{}],"hostPID":1}},"oldObject":{"spec":{"containers":{},"hostPID":2}})",
       {{"spec.hostPID", "spec.hostPID is a number, expected a boolean"},
        {"oldObject.spec.hostPID", "oldObject.spec.hostPID is a number, expected a boolean"},
        {"oldObject.spec.containers",
         "oldObject.spec.containers is an object, expected an array"}}},
      {R"("operation":"CREATE","oldObject":"whatever",)" + pods + "," + object, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.fields);
    const auto review = decode(review_with(c.fields));
    ASSERT_TRUE(review) << review.error().message;
    EXPECT_EQ(review->uid, "u-1");
    EXPECT_EQ(findings(review->malformed), c.want);
  }
}

TEST(DecodeReview, EchoesAnyUid) {
  const auto review = decode(
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"\"\\ \u0000 \u00e9 \ud83d\ude00"}})");
  ASSERT_TRUE(review);
  EXPECT_EQ(review->uid, std::string("\"\\ \0 \xc3\xa9 \xf0\x9f\x98\x80", 12));
}

// Else a Pod that was let in could never be changed, its finalizers never be taken off.
TEST(DecodeReview, AnUpdateMayHoldTwoPodsAsLargeAsACreateMay) {
  std::string labels;
  for (int i = 0; i < 15'000; ++i) {
    labels += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"\"";
  }
  const std::string pod =
      R"({"metadata":{"labels":{)" + labels + R"(}},"spec":{"containers":[{"name":"c"}]}})";
  for (const std::string& text :
       {R"("operation":"CREATE","object":)" + pod,
        R"("operation":"UPDATE","object":)" + pod + R"(,"oldObject":)" + pod}) {
    const auto review = decode(review_with(std::string(kPods) + "," + text));
    ASSERT_TRUE(review);
    ASSERT_TRUE(review->object);
    EXPECT_TRUE(review->malformed.empty()) << review->malformed.front().message;
  }
}

TEST(DecodeReview, ForgetsTheReviewBefore) {
  ASSERT_TRUE(decode(create_of(pod_with(R"("hostPID":true)"))));
  ASSERT_FALSE(decode("{"));
  const auto review = decode(create_of(kGoodPod));
  ASSERT_TRUE(review);
  EXPECT_FALSE(review->object->host_pid);
}

}  // namespace
}  // namespace xila::codec
