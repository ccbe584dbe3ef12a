#include <gtest/gtest.h>

#include "codec/review_text.hpp"

namespace xila::codec {
namespace {

policy::Pod pod_of(std::string_view text) {
  const base::Result<DecodedPod> decoded = decode_pod(text);
  EXPECT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(findings(decoded->malformed), Findings{});
  return decoded->pod;
}

Findings problems_of(std::string_view text) {
  const base::Result<DecodedPod> decoded = decode_pod(text);
  EXPECT_TRUE(decoded) << decoded.error().message;
  return decoded ? findings(decoded->malformed) : Findings{};
}

constexpr std::string_view kEverything = R"({
  "kind": "Pod", "apiVersion": "v1",
  "metadata": {"name": "train-0", "generateName": "train-", "namespace": "elsewhere",
    "labels": {"b/x": "1", "a": ""},
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "7", "controller": true},
                        {"kind": "Other"}]},
  "spec": {
    "schedulerName": "batch", "nodeName": "gpu-7", "serviceAccountName": "runner",
    "hostNetwork": true, "hostPID": true, "hostIPC": true,
    "securityContext": {"windowsOptions": {"hostProcess": true}},
    "ephemeralContainers": [{"name": "debug", "securityContext": {"privileged": true}}],
    "initContainers": [{"name": "init", "securityContext": {"procMount": "Unmasked"}}],
    "containers": [
      {"name": "a", "ports": [{"containerPort": 1}, {"hostPort": 0}, {"hostPort": 443}, {"hostPort": -1}]},
      {"name": "b", "env": [{"name": "HOME"}, {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
       "securityContext": {"windowsOptions": {"hostProcess": false}, "capabilities": {"add": ["SYS_ADMIN", "x"], "drop": [1]}}}],
    "volumes": [{"name": "tmp", "emptyDir": {}}, {"name": "host", "hostPath": {"path": "/"}},
                {"name": "bare", "hostPath": {}}, {"name": "data", "persistentVolumeClaim": {"claimName": "corpus"}}],
    "nodeSelector": {"zone": "x", "kubernetes.io/hostname": "gpu-8"},
    "affinity": {"nodeAffinity": {
      "preferredDuringSchedulingIgnoredDuringExecution": [{"preference": {"matchFields": [{"key": "metadata.name"}]}}],
      "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "Exists"},
                              {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1", "n2"]},
                              {"key": "metadata.name", "operator": "Exists"}]},
        {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n3"]}]}]}}}
  }})";

TEST(DecodePod, KeepsEverythingThatAnyCheckReads) {
  using enum policy::ContainerKind;
  const std::string terms =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  policy::Pod want{
      .name = "train-0",
      .generate_name = "train-",
      .labels = {{"b/x", "1"}, {"a", ""}},
      .owners = {{"apps/v1", "DaemonSet", "d", "7", true}, {.kind = "Other"}},
      .scheduler_name = "batch",
      .node_name = "gpu-7",
      .service_account_name = "runner",
      .host_network = true,
      .host_pid = true,
      .host_ipc = true,
      .host_process = true,
      .hostname_selector = "gpu-8",
  };
  want.containers = {
      {.kind = regular, .index = 0, .name = "a", .host_ports = {{2, 443}, {3, -1}}},
      {.kind = regular,
       .index = 1,
       .name = "b",
       .host_process = false,
       .added_capabilities = {"SYS_ADMIN", "x"},
       .gpu_variables = {{1, "NVIDIA_VISIBLE_DEVICES"}}},
      {.kind = init, .index = 0, .name = "init", .proc_mount = "Unmasked"},
      {.kind = ephemeral, .index = 0, .name = "debug", .privileged = true},
  };
  want.volumes = {
      {.index = 0, .name = "tmp"},
      {.index = 1, .name = "host", .has_host_path = true, .host_path = "/"},
      {.index = 2, .name = "bare", .has_host_path = true},
      {.index = 3, .name = "data", .claim = "corpus"},
  };
  want.node_requirements = {
      {terms + "[0].matchExpressions[1]", "kubernetes.io/hostname", "In", {"n1", "n2"}},
      {terms + "[1].matchFields[0]", "metadata.name", "NotIn", {"n3"}},
  };

  const base::Result<DecodedPod> decoded = decode_pod(kEverything);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->pod, want);
  EXPECT_EQ(decoded->space, "elsewhere");
  EXPECT_EQ(findings(decoded->malformed), Findings{});
}

TEST(DecodePod, TakesNullForAbsent) {
  const std::string_view nulls =
      R"({"metadata": {"name": null, "generateName": null, "namespace": null,
      "labels": null, "ownerReferences": null},
    "spec": {"schedulerName": null, "nodeName": null, "serviceAccountName": null, "hostNetwork": null,
      "hostPID": null, "hostIPC": null, "securityContext": null, "initContainers": null,
      "ephemeralContainers": null, "nodeSelector": null, "affinity": null,
      "volumes": [{"name": null, "hostPath": null, "persistentVolumeClaim": null}],
      "containers": [{"name": null, "securityContext": null, "ports": null, "env": null},
        {"securityContext": {"privileged": null, "procMount": null, "capabilities": null, "windowsOptions": null},
         "ports": [{"hostPort": null}], "env": [{"name": null}]},
        {"securityContext": {"capabilities": {"add": null}, "windowsOptions": {"hostProcess": null}}}]}})";
  policy::Pod want;
  want.containers = {{.index = 0}, {.index = 1}, {.index = 2}};
  want.volumes = {{.index = 0}};
  EXPECT_EQ(pod_of(nulls), want);
  EXPECT_EQ(pod_of(R"({"metadata":null,"spec":{"containers":[{}],
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":null}},
      "nodeSelector":{"kubernetes.io/hostname":null},"securityContext":{"windowsOptions":null}}})"),
            (policy::Pod{.containers = {{}}}));
}

TEST(DecodePod, ReadsTextsWhole) {
  EXPECT_EQ(pod_of(pod_with(R"("schedulerName":"batch\u0000x")")).scheduler_name,
            std::string("batch\0x", 7));
  EXPECT_EQ(pod_of(pod_with(R"("nodeName":"\u0000")")).node_name, std::string("\0", 1));
  EXPECT_EQ(pod_of(pod_with(R"("n\u006fdeName":"\u0067pu")")).node_name, "gpu");
  EXPECT_EQ(
      pod_of(pod_with(R"("nodename":"a","NodeName":"b","nodeName\u0000":"c","nodeName ":"d")"))
          .node_name,
      "");
}

TEST(DecodePod, NamesTheFieldOfAWrongType) {
  struct Case {
    std::string text;
    Findings want;
  };
  const Case cases[] = {
      {R"({})", {{"spec", "spec is absent"}}},
      {R"({"spec":null})", {{"spec", "spec is absent"}}},
      {R"({"spec":[]})", {{"spec", "spec is an array, expected an object"}}},
      {R"({"spec":{}})", {{"spec.containers", "spec.containers is absent"}}},
      {R"({"spec":{"containers":null}})", {{"spec.containers", "spec.containers is absent"}}},
      {R"({"spec":{"containers":[]}})", {{"spec.containers", "spec.containers is empty"}}},
      {R"({"spec":{"containers":{}}})",
       {{"spec.containers", "spec.containers is an object, expected an array"}}},
      {R"({"spec":{"containers":[null]}})",
       {{"spec.containers[0]", "spec.containers[0] is null, expected an object"}}},
      {R"({"spec":{"containers":["a",{},1.5]}})",
       {{"spec.containers[0]", "spec.containers[0] is a string, expected an object"},
        {"spec.containers[2]", "spec.containers[2] is a number, expected an object"}}},
      {R"({"metadata":"m","spec":{"containers":[{}]}})",
       {{"metadata", "metadata is a string, expected an object"}}},
      {R"({"metadata":{"name":1,"generateName":{},"namespace":false},"spec":{"containers":[{}]}})",
       {{"metadata.name", "metadata.name is a number, expected a string"},
        {"metadata.generateName", "metadata.generateName is an object, expected a string"},
        {"metadata.namespace", "metadata.namespace is a boolean, expected a string"}}},
      {R"({"metadata":{"labels":["a"],"ownerReferences":{}},"spec":{"containers":[{}]}})",
       {{"metadata.labels", "metadata.labels is an array, expected an object"},
        {"metadata.ownerReferences", "metadata.ownerReferences is an object, expected an array"}}},
      {R"({"metadata":{"labels":{"a":1,"x.io/b":null,"c\n":true}},"spec":{"containers":[{}]}})",
       {{"metadata.labels.a", "metadata.labels.a is a number, expected a string"},
        {"metadata.labels[x.io/b]", "metadata.labels[x.io/b] is null, expected a string"},
        {"metadata.labels[c\\n]", "metadata.labels[c\\n] is a boolean, expected a string"}}},
      {R"({"metadata":{"ownerReferences":[1,{"apiVersion":1,"kind":2,"name":3,"uid":4,"controller":"true"}]},
           "spec":{"containers":[{}]}})",
       {{"metadata.ownerReferences[0]",
         "metadata.ownerReferences[0] is a number, expected an object"},
        {"metadata.ownerReferences[1].apiVersion",
         "metadata.ownerReferences[1].apiVersion is a number, expected a string"},
        {"metadata.ownerReferences[1].kind",
         "metadata.ownerReferences[1].kind is a number, expected a string"},
        {"metadata.ownerReferences[1].name",
         "metadata.ownerReferences[1].name is a number, expected a string"},
        {"metadata.ownerReferences[1].uid",
         "metadata.ownerReferences[1].uid is a number, expected a string"},
        {"metadata.ownerReferences[1].controller",
         "metadata.ownerReferences[1].controller is a string, expected a boolean"}}},
      {pod_with(R"("schedulerName":0,"nodeName":false,"serviceAccountName":[])"),
       {{"spec.schedulerName", "spec.schedulerName is a number, expected a string"},
        {"spec.nodeName", "spec.nodeName is a boolean, expected a string"},
        {"spec.serviceAccountName", "spec.serviceAccountName is an array, expected a string"}}},
      {pod_with(R"("hostNetwork":"true","hostPID":1,"hostIPC":{})"),
       {{"spec.hostNetwork", "spec.hostNetwork is a string, expected a boolean"},
        {"spec.hostPID", "spec.hostPID is a number, expected a boolean"},
        {"spec.hostIPC", "spec.hostIPC is an object, expected a boolean"}}},
      {pod_with(R"("securityContext":1)"),
       {{"spec.securityContext", "spec.securityContext is a number, expected an object"}}},
      {pod_with(R"("securityContext":{"windowsOptions":[]})"),
       {{"spec.securityContext.windowsOptions",
         "spec.securityContext.windowsOptions is an array, expected an object"}}},
      {pod_with(R"("securityContext":{"windowsOptions":{"hostProcess":"yes"}})"),
       {{"spec.securityContext.windowsOptions.hostProcess",
         "spec.securityContext.windowsOptions.hostProcess is a string, expected a boolean"}}},
      {pod_with(R"("initContainers":{},"ephemeralContainers":[[]])"),
       {{"spec.initContainers", "spec.initContainers is an object, expected an array"},
        {"spec.ephemeralContainers[0]",
         "spec.ephemeralContainers[0] is an array, expected an object"}}},
      {container_with(R"("name":1,"securityContext":[],"ports":{},"env":"x")"),
       {{"spec.containers[0].name", "spec.containers[0].name is a number, expected a string"},
        {"spec.containers[0].securityContext",
         "spec.containers[0].securityContext is an array, expected an object"},
        {"spec.containers[0].ports", "spec.containers[0].ports is an object, expected an array"},
        {"spec.containers[0].env", "spec.containers[0].env is a string, expected an array"}}},
      {container_with(
           R"("securityContext":{"privileged":"true","procMount":1,"capabilities":[],"windowsOptions":true})"),
       {{"spec.containers[0].securityContext.privileged",
         "spec.containers[0].securityContext.privileged is a string, expected a boolean"},
        {"spec.containers[0].securityContext.windowsOptions",
         "spec.containers[0].securityContext.windowsOptions is a boolean, expected an object"},
        {"spec.containers[0].securityContext.procMount",
         "spec.containers[0].securityContext.procMount is a number, expected a string"},
        {"spec.containers[0].securityContext.capabilities",
         "spec.containers[0].securityContext.capabilities is an array, expected an object"}}},
      {container_with(
           R"("securityContext":{"capabilities":{"add":["A",null,5]},"windowsOptions":{"hostProcess":0}})"),
       {{"spec.containers[0].securityContext.windowsOptions.hostProcess",
         "spec.containers[0].securityContext.windowsOptions.hostProcess is a number, expected a "
         "boolean"},
        {"spec.containers[0].securityContext.capabilities.add[1]",
         "spec.containers[0].securityContext.capabilities.add[1] is null, expected a string"},
        {"spec.containers[0].securityContext.capabilities.add[2]",
         "spec.containers[0].securityContext.capabilities.add[2] is a number, expected a string"}}},
      {container_with(R"("securityContext":{"capabilities":{"add":"ALL"}})"),
       {{"spec.containers[0].securityContext.capabilities.add",
         "spec.containers[0].securityContext.capabilities.add is a string, expected an array"}}},
      {container_with(
           R"("ports":[{"hostPort":"80"},{"hostPort":80.0},{"hostPort":18446744073709551615},5])"),
       {{"spec.containers[0].ports[0].hostPort",
         "spec.containers[0].ports[0].hostPort is a string, expected an integer"},
        {"spec.containers[0].ports[1].hostPort",
         "spec.containers[0].ports[1].hostPort is no integer of 64 bits"},
        {"spec.containers[0].ports[2].hostPort",
         "spec.containers[0].ports[2].hostPort is no integer of 64 bits"},
        {"spec.containers[0].ports[3]",
         "spec.containers[0].ports[3] is a number, expected an object"}}},
      {container_with(R"("env":[{"name":["CUDA_VISIBLE_DEVICES"]},null])"),
       {{"spec.containers[0].env[0].name",
         "spec.containers[0].env[0].name is an array, expected a string"},
        {"spec.containers[0].env[1]", "spec.containers[0].env[1] is null, expected an object"}}},
      {pod_with(R"("volumes":{})"),
       {{"spec.volumes", "spec.volumes is an object, expected an array"}}},
      {pod_with(R"("volumes":[1,{"name":2,"hostPath":{"path":3},"persistentVolumeClaim":"c"},
                              {"persistentVolumeClaim":{"claimName":4}}])"),
       {{"spec.volumes[0]", "spec.volumes[0] is a number, expected an object"},
        {"spec.volumes[1].name", "spec.volumes[1].name is a number, expected a string"},
        {"spec.volumes[1].hostPath.path",
         "spec.volumes[1].hostPath.path is a number, expected a string"},
        {"spec.volumes[1].persistentVolumeClaim",
         "spec.volumes[1].persistentVolumeClaim is a string, expected an object"},
        {"spec.volumes[2].persistentVolumeClaim.claimName",
         "spec.volumes[2].persistentVolumeClaim.claimName is a number, expected a string"}}},
      {pod_with(R"("nodeSelector":"x","affinity":1)"),
       {{"spec.nodeSelector", "spec.nodeSelector is a string, expected an object"},
        {"spec.affinity", "spec.affinity is a number, expected an object"}}},
      {pod_with(R"("nodeSelector":{"kubernetes.io/hostname":7},"affinity":{"nodeAffinity":[]})"),
       {{"spec.nodeSelector[kubernetes.io/hostname]",
         "spec.nodeSelector[kubernetes.io/hostname] is a number, expected a string"},
        {"spec.affinity.nodeAffinity",
         "spec.affinity.nodeAffinity is an array, expected an object"}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(problems_of(c.text), c.want);
  }
}

TEST(DecodePod, NamesTheFieldOfAWrongTypeInsideAffinity) {
  const std::string required =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution";
  const auto with = [](std::string_view value) {
    return pod_with(
        R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)" +
        std::string(value) + "}}");
  };
  const std::string terms = required + ".nodeSelectorTerms";
  struct Case {
    std::string text;
    std::string field;
    std::string what;
  };
  const Case cases[] = {
      {with("[]"), required, "is an array, expected an object"},
      {with(R"({"nodeSelectorTerms":{}})"), terms, "is an object, expected an array"},
      {with(R"({"nodeSelectorTerms":[null]})"), terms + "[0]", "is null, expected an object"},
      {with(R"({"nodeSelectorTerms":[{"matchFields":{}}]})"), terms + "[0].matchFields",
       "is an object, expected an array"},
      {with(R"({"nodeSelectorTerms":[{"matchExpressions":[1]}]})"),
       terms + "[0].matchExpressions[0]", "is a number, expected an object"},
      {with(R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":1}]}]})"),
       terms + "[0].matchExpressions[0].key", "is a number, expected a string"},
      {with(R"({"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":1}]}]})"),
       terms + "[0].matchFields[0].operator", "is a number, expected a string"},
      {with(R"({"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","values":"n"}]}]})"),
       terms + "[0].matchFields[0].values", "is a string, expected an array"},
      {with(
           R"({"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","values":["n",1]}]}]})"),
       terms + "[0].matchFields[0].values[1]", "is a number, expected a string"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(problems_of(c.text), (Findings{{c.field, c.field + " " + c.what}}));
  }
}

TEST(DecodePod, CountsAHostPathOfAnyType) {
  for (const std::string_view value : {R"("/")", "1", "[]", "{}", "true", R"({"path":null})"}) {
    SCOPED_TRACE(value);
    const auto decoded =
        decode_pod(pod_with(R"("volumes":[{"name":"v","hostPath":)" + std::string(value) + "}]"));
    ASSERT_TRUE(decoded);
    EXPECT_TRUE(decoded->pod.volumes.at(0).has_host_path);
  }
}

TEST(DecodePod, ReadsTheRestOfWhatIsMalformed) {
  const auto decoded = decode_pod(
      R"({"metadata":5,"spec":{"containers":[7,{"name":"b","securityContext":{"privileged":true}}],"hostPID":true}})");
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->pod.host_pid);
  ASSERT_EQ(decoded->pod.containers.size(), 1U);
  EXPECT_EQ(decoded->pod.containers[0],
            (policy::Container{.index = 1, .name = "b", .privileged = true}));
}

TEST(DecodePod, IgnoresWhatNoCheckReads) {
  EXPECT_EQ(problems_of(pod_with(
                R"("tolerations":7,"restartPolicy":[],"privileged":"yes","hostnetwork":1)")),
            Findings{});
  EXPECT_EQ(problems_of(container_with(R"("image":1,"volumeMounts":"x","resources":[])")),
            Findings{});
}

// The API server's conversion takes the older name where the newer is empty.
TEST(DecodePod, TheOlderNameOfTheServiceAccountCountsWithoutTheNewer) {
  struct Case {
    const char* spec;
    const char* account;
  };
  const Case cases[] = {
      {R"("serviceAccount":"old")", "old"},
      {R"("serviceAccount":"old","serviceAccountName":"")", "old"},
      {R"("serviceAccount":"old","serviceAccountName":"new")", "new"},
      {R"("serviceAccountName":"new","serviceAccount":"old")", "new"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(pod_of(pod_with(c.spec)).service_account_name, c.account) << c.spec;
  }
}

std::string repeated(std::string_view element, std::size_t count) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list.append(i == 0 ? "" : ",").append(element);
  return list;
}

TEST(DecodePod, RefusesMoreThanAnyPodHas) {
  const std::string too_much =
      " is too much: at most 20000 labels, containers, volumes and the like are read";
  const std::string full = R"({"spec":{"containers":[)" + repeated("{}", 20'000) + "]}}";
  EXPECT_EQ(pod_of(full).containers.size(), 20'000U);

  struct Case {
    std::string text;
    std::string field;
  };
  std::string many_labels;
  for (int i = 0; i <= 20'000; ++i)
    many_labels += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"\"";
  const std::string requirement =
      R"({"key":"metadata.name","values":[)" + repeated(R"("n")", 20'000) + "]}";
  const Case cases[] = {
      {R"({"spec":{"containers":[)" + repeated("{}", 20'001) + "]}}", "spec.containers"},
      {pod_with(R"("volumes":[)" + repeated("{}", 20'001) + "]"), "spec.volumes"},
      {R"({"metadata":{"labels":{)" + many_labels + R"(}},"spec":{"containers":[{}]}})",
       "metadata.labels"},
      {R"({"metadata":{"ownerReferences":[)" + repeated("{}", 20'001) +
           R"(]},"spec":{"containers":[{}]}})",
       "metadata.ownerReferences"},
      {R"({"spec":{"containers":[)" +
           repeated(R"({"securityContext":{"capabilities":{"add":["A","B","C","D","E"]}}})",
                    4'000) +
           "]}}",
       "spec.containers[3200].securityContext.capabilities.add"},
      {container_with(R"("ports":[)" + repeated(R"({"hostPort":1})", 20'000) + "]"),
       "spec.containers[0].ports[19999]"},
      {container_with(R"("env":[)" + repeated(R"({"name":"CUDA_VISIBLE_DEVICES"})", 20'000) + "]"),
       "spec.containers[0].env[19999]"},
      {pod_with(
           R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchFields":[)" +
           requirement + "]}]}}}"),
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms[0].matchFields[0].values"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.field);
    EXPECT_EQ(problems_of(c.text), (Findings{{c.field, c.field + too_much}}));
  }
}

TEST(DecodePod, TakesAnyNumberOfWhatItDoesNotKeep) {
  const std::string many =
      container_with(R"("env":[)" + repeated(R"({"name":"A"})", 100'000) + R"(],"ports":[)" +
                     repeated(R"({"containerPort":1})", 30'000) + "]");
  EXPECT_EQ(pod_of(many).containers.size(), 1U);
}

TEST(DecodePod, NamesAHundredFieldsAndCountsTheRest) {
  const Findings found = problems_of(R"({"spec":{"containers":[)" + repeated("0", 5'000) + "]}}");
  ASSERT_EQ(found.size(), 101U);
  EXPECT_EQ(found[99].first, "spec.containers[99]");
  EXPECT_EQ(found[100], (std::pair<std::string, std::string>(
                            "", "4900 more fields are not what they must be")));
}

TEST(DecodePod, CutsLongKeysInAPath) {
  const std::string key(1'000'000, 'k');
  const std::string field = "metadata.labels[" + std::string(64, 'k') + "]";
  EXPECT_EQ(
      problems_of(R"({"metadata":{"labels":{")" + key + R"(":1}},"spec":{"containers":[{}]}})"),
      (Findings{{field, field + " is a number, expected a string"}}));
}

TEST(DecodePod, RefusesWhatIsNoObject) {
  struct Case {
    std::string_view text;
    std::string_view error;
  };
  const Case cases[] = {
      {"", "the document is empty"},
      {"[]", "the document is an array, expected an object"},
      {"null", "the document is null, expected an object"},
      {"7", "the document is a number, expected an object"},
      {R"({"a":1,"a":2})", "the document has a key twice: a"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto decoded = decode_pod(c.text);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().message, c.error);
  }
}

}  // namespace
}  // namespace xila::codec
