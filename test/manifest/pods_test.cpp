#include "xila/manifest/pods.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xila::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

std::string show(yaml::Mark mark) {
  return std::to_string(mark.line) + ":" + std::to_string(mark.column);
}

// "3:5 Job train -> team-a/train-* by volcano"
Texts found_in(std::string_view text) {
  Texts shown;
  for (const FoundPod& pod : read_manifest(text, "f", "default").pods) {
    const policy::Subject& subject = pod.review.subject;
    shown.push_back(show(pod.mark) + " " + pod.kind + " " + pod.name + " -> " + subject.space +
                    "/" + subject.name + " by " +
                    std::string(scheduler_of(pod.review.object.value())));
  }
  return shown;
}

Texts problems_in(std::string_view text) {
  Texts shown;
  for (const Problem& problem : read_manifest(text, "f", "default").problems) {
    shown.push_back(problem.file + ":" + show(problem.mark) + ": " + problem.message);
  }
  return shown;
}

TEST(Pods, AreFoundInWhateverHoldsThem) {
  struct Case {
    const char* name;
    std::string text;
    Texts pods;
  };
  const std::string spec = "{containers: [{name: c, image: i}]}";
  const std::string templated = "{template: {spec: " + spec + "}}";
  const Case cases[] = {
      {"Pod",
       "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns}\nspec: " + spec,
       {"1:1 Pod p -> ns/p by default-scheduler"}},
      {"Pod without namespace",
       "kind: Pod\nmetadata: {name: p}\nspec: " + spec,
       {"1:1 Pod p -> default/p by default-scheduler"}},
      {"generated name",
       "kind: Pod\nmetadata: {generateName: p-}\nspec: " + spec,
       {"1:1 Pod p-* -> default/p-* by default-scheduler"}},
      {"no name", "kind: Pod\nspec: " + spec, {"1:1 Pod * -> default/* by default-scheduler"}},
      {"Job",
       "kind: Job\nmetadata: {name: j}\nspec: " + templated,
       {"3:8 Job j -> default/j-* by default-scheduler"}},
      {"Deployment",
       "kind: Deployment\nmetadata: {name: d, namespace: ns}\nspec: " + templated,
       {"3:8 Deployment d -> ns/d-*-* by default-scheduler"}},
      {"StatefulSet",
       "kind: StatefulSet\nmetadata: {name: s}\nspec: " + templated,
       {"3:8 StatefulSet s -> default/s-0 by default-scheduler"}},
      {"CronJob",
       "kind: CronJob\nmetadata: {name: c}\nspec: {jobTemplate: {spec: " + templated + "}}",
       {"3:29 CronJob c -> default/c-*-* by default-scheduler"}},
      {"PodTemplate",
       "kind: PodTemplate\nmetadata: {name: t}\ntemplate: {spec: " + spec + "}",
       {"3:1 PodTemplate t -> default/t-* by default-scheduler"}},
      {"templates at any depth, with the scheduler of the nearest spec",
       "kind: Job\nmetadata: {name: v}\nspec:\n  schedulerName: outer\n  tasks:\n"
       "  - template: {spec: " +
           spec +
           "}\n"
           "  - template: {spec: {schedulerName: own, containers: []}}\n"
           "  - template: {spec: {schedulerName: \"\", containers: []}}\n"
           "  - job: {spec: {schedulerName: inner, template: {spec: " +
           spec + "}}}\n",
       {"6:5 Job v -> default/v-* by outer", "7:5 Job v -> default/v-* by own",
        "8:5 Job v -> default/v-* by outer", "9:40 Job v -> default/v-* by inner"}},
      {"templates by other names",
       "kind: Set\nmetadata: {name: l}\nspec: {a: {leaderTemplate: {spec: " + spec +
           "}, workerTemplate: {spec: " + spec + "}}}",
       {"3:12 Set l -> default/l-* by default-scheduler",
        "3:73 Set l -> default/l-* by default-scheduler"}},
      {"a template of something else",
       "kind: X\nspec: {template: {spec: {replicas: 1}}, pattern: {spec: " + spec + "}}",
       {}},
      {"List",
       "kind: List\nitems:\n- {kind: Pod, metadata: {name: p}, spec: " + spec +
           "}\n"
           "- {kind: Job, metadata: {name: j}, spec: " +
           templated + "}\n",
       {"3:3 Pod p -> default/p by default-scheduler",
        "4:43 Job j -> default/j-* by default-scheduler"}},
      {"PodList",
       "kind: PodList\nitems:\n- {metadata: {name: p}, spec: " + spec + "}\n",
       {"3:3 Pod p -> default/p by default-scheduler"}},
      {"list of objects",
       "- {kind: Pod, metadata: {name: p}, spec: " + spec + "}\n",
       {"1:3 Pod p -> default/p by default-scheduler"}},
      {"several documents",
       "kind: Pod\nmetadata: {name: p}\nspec: " + spec +
           "\n---\nkind: ConfigMap\n---\n"
           "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"q\"},\"spec\":{\"containers\":[]}}",
       {"1:1 Pod p -> default/p by default-scheduler",
        "7:1 Pod q -> default/q by default-scheduler"}},
      {"items of what is no list, as kubectl reads them",
       "kind: ConfigMap\nmetadata: {name: c}\nitems:\n- {kind: Pod, metadata: {name: p}, spec: " +
           spec + "}\n",
       {"4:3 Pod p -> default/p by default-scheduler"}},
      {"a template and items",
       "kind: Job\nmetadata: {name: j}\nspec: " + templated +
           "\nitems:\n- {kind: Pod, metadata: {name: p}, spec: " + spec + "}\n",
       {"5:3 Pod p -> default/p by default-scheduler",
        "3:8 Job j -> default/j-* by default-scheduler"}},
      {"items that are no objects", "kind: Order\nitems: [1, two, [3]]\n", {}},
      {"nothing", "kind: Service\nspec: {}\n", {}},
      {"text", "hello\n", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(found_in(c.text), c.pods);
    EXPECT_THAT(problems_in(c.text), IsEmpty());
  }
}

TEST(Pods, OfATemplateHaveOnlyTheOwnerThatTheirControllerGives) {
  const auto owners_in = [](const std::string& api_version, const std::string& kind,
                            const std::string& around) {
    const Contents contents = read_manifest(
        "apiVersion: " + api_version + "\nkind: " + kind + "\nmetadata: {name: d}\n" + around +
            ": {template: {metadata: {name: x, namespace: y, ownerReferences: "
            "[{apiVersion: apps/v1, kind: DaemonSet, name: z, uid: u, controller: true}]}, spec: "
            "{containers: []}}}\n",
        "f", "default");
    return contents.pods.at(0).review;
  };
  const auto of_daemon_set = owners_in("apps/v1", "DaemonSet", "spec");
  EXPECT_THAT(of_daemon_set.object->owners,
              ElementsAre(policy::OwnerReference{
                  .api_version = "apps/v1", .kind = "DaemonSet", .name = "d", .controller = true}));
  ASSERT_EQ(of_daemon_set.object->node_requirements.size(), 1U);  // its controller pins by name
  EXPECT_EQ(of_daemon_set.object->node_requirements[0].key, "metadata.name");
  EXPECT_EQ(of_daemon_set.subject.name, "d-*");
  EXPECT_EQ(of_daemon_set.subject.space, "default");
  EXPECT_EQ(of_daemon_set.object->name, "");
  EXPECT_THAT(owners_in("apps/v1", "Deployment", "spec").object->owners, IsEmpty());
  EXPECT_THAT(owners_in("apps/v1", "Deployment", "spec").object->node_requirements, IsEmpty());
  EXPECT_THAT(owners_in("apps.example.com/v1", "DaemonSet", "spec").object->owners, IsEmpty());
  EXPECT_THAT(owners_in("apps/v1", "DaemonSet", "other").object->owners, IsEmpty());
}

TEST(Pods, YamlMeansWhatItMeansToKubectl) {
  const Contents contents = read_manifest(R"(
kind: Pod
metadata: {name: p}
x: &danger {privileged: yes}
spec:
  hostNetwork: on
  hostPID: "true"
  containers:
  - name: a
    securityContext: *danger
  - name: b
    securityContext: {<<: *danger}
    ports: [{hostPort: 0x50}]
)",
                                          "f", "default");
  ASSERT_EQ(contents.pods.size(), 1U);
  const policy::Review& review = contents.pods[0].review;
  EXPECT_TRUE(review.object->host_network);
  EXPECT_TRUE(review.object->containers.at(0).privileged);
  EXPECT_TRUE(review.object->containers.at(1).privileged);
  EXPECT_EQ(review.object->containers.at(1).host_ports.at(0).second, 80);
  ASSERT_EQ(review.malformed.size(), 1U);
  EXPECT_EQ(review.malformed[0].field, "spec.hostPID");
}

TEST(Pods, FieldsAreLocated) {
  const Contents contents = read_manifest(
      "kind: Job\n"
      "metadata:\n"
      "  namespace: ns\n"
      "spec:\n"
      "  schedulerName: s\n"
      "  template:\n"
      "    metadata: {namespace: other}\n"
      "    spec:\n"
      "      containers:\n"
      "      - name: a\n",
      "f", "default");
  const auto& locate = contents.pods.at(0).locate;
  EXPECT_EQ(show(locate("spec.containers[0].name")), "10:9");
  EXPECT_EQ(show(locate("spec.hostNetwork")), "8:5");
  EXPECT_EQ(show(locate("metadata.namespace")), "3:3");
  EXPECT_EQ(show(locate("spec.schedulerName")), "5:3");
  EXPECT_EQ(show(locate("unknown")), "6:3");
}

TEST(Pods, OfAReviewAreJudgedAsItWasAsked) {
  const Contents contents = read_manifest(
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"UPDATE",
"namespace":"n","name":"p","userInfo":{"username":"someone"},"resource":{"group":"","version":"v1","resource":"pods"},
"object":{"metadata":{"name":"p","namespace":"other"},"spec":{"containers":[{"name":"a"}],
 "hostPID":true}},
"oldObject":{"spec":{"containers":[{"name":"a"}]}}}})",
      "f", "default");
  ASSERT_EQ(contents.pods.size(), 1U);
  const FoundPod& pod = contents.pods[0];
  EXPECT_EQ(pod.kind, "AdmissionReview");
  EXPECT_EQ(pod.requester, policy::Requester::from_review);
  EXPECT_EQ(pod.review.uid, "u");
  EXPECT_EQ(pod.review.subject.operation, policy::Operation::update);
  EXPECT_EQ(pod.review.subject.space, "n");
  EXPECT_EQ(pod.review.subject.user, "someone");
  EXPECT_EQ(show(pod.locate("spec.hostPID")), "4:2");
  EXPECT_EQ(show(pod.locate("oldObject.spec")), "5:14");
  EXPECT_EQ(show(pod.locate("request.resource")), "2:62");
}

TEST(Pods, WhatCannotBeReadIsReportedAndTheRestIsRead) {
  EXPECT_THAT(
      problems_in("kind: [\n---\nkind: AdmissionReview\n"),
      ElementsAre("f:3:1: apiVersion is \"\" and kind is \"AdmissionReview\"; this server takes "
                  "AdmissionReview of admission.k8s.io/v1",
                  "f:2:1: end of sequence flow not found"));
  EXPECT_EQ(
      found_in("kind: [\n---\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n").size(),
      1U);
}

// Which of two values counts differs from reader to reader.
TEST(Pods, ADocumentWithARepeatedKeyIsNotJudged) {
  const std::string_view text =
      "kind: Job\nmetadata: {name: a}\nmetadata: {name: b}\nspec:\n  template:\n    spec:\n"
      "      hostPID: false\n      hostPID: true\n      containers: [{name: a}]\n---\n"
      "{\"kind\":\"Pod\",\n\"spec\":{},\"spec\":{\"containers\":[]}}\n---\n"
      "kind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n";
  EXPECT_EQ(problems_in(text),
            (Texts{"f:3:1: key \"metadata\" is repeated", "f:8:7: key \"hostPID\" is repeated",
                   "f:12:11: key \"spec\" is repeated"}));
  EXPECT_EQ(found_in(text), Texts{"14:1 Pod p -> default/p by default-scheduler"});
}

TEST(Pods, ANamespaceThatIsNoStringIsNoNamespace) {
  EXPECT_EQ(
      problems_in(
          "kind: Job\nmetadata: {namespace: no}\nspec: {template: {spec: {containers: []}}}\n"),
      Texts{"f:2:12: metadata.namespace is no string"});
  const Contents contents =
      read_manifest("kind: Pod\nmetadata: {namespace: no}\nspec: {containers: []}\n", "f", "d");
  EXPECT_EQ(contents.pods.at(0).review.malformed.at(0).field, "metadata.namespace");
}

}  // namespace
}  // namespace xila::manifest
