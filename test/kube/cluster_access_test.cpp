#include "xila/kube/cluster_access.hpp"

#include <gtest/gtest.h>

#include "base64.hpp"
#include "kube_test_support.hpp"

namespace xila::kube {
namespace {

TEST(Base64, IsDecodedStrictly) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("aGVsbG8="), "hello");
  EXPECT_EQ(decode_base64("aGVsbG8"), "hello");
  EXPECT_EQ(decode_base64("aGVs\n  bG8=\n"), "hello");
  EXPECT_EQ(decode_base64("/+8="), "\xff\xef");
  for (const char* wrong : {"a", "aGVsbG8==", "aGVs*G8=", "aG=VsbG8", "-_8="}) {
    EXPECT_EQ(decode_base64(wrong), std::nullopt) << wrong;
  }
}

TEST(InClusterAccess, IsTheServiceAccount) {
  const TemporaryFolder folder;
  folder.write("token", "abc");
  folder.write("ca.crt", "pem");
  const auto access = in_cluster_access("10.96.0.1", "443", folder.path());
  ASSERT_TRUE(access) << access.error().message;
  const ClusterAccess expected{.server = {.host = "10.96.0.1", .port = 443},
                               .ca = {.file = folder.path() / "ca.crt"},
                               .token_file = folder.path() / "token"};
  EXPECT_EQ(*access, expected);
}

TEST(InClusterAccess, TakesIpv6) {
  const TemporaryFolder folder;
  folder.write("token", "abc");
  folder.write("ca.crt", "pem");
  const auto access = in_cluster_access("fd00:10:96::1", "6443", folder.path());
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, (net::Origin{.host = "fd00:10:96::1", .port = 6443}));
}

TEST(InClusterAccess, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_EQ(
      in_cluster_access("", "443", folder.path()).error().message,
      "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set: outside of a Pod give "
      "--kubeconfig");
  EXPECT_EQ(in_cluster_access("10.0.0.1", "443", folder.path()).error().message,
            (folder.path() / "ca.crt").string() +
                " is not there: let the Pod mount its service account's token "
                "(automountServiceAccountToken), or give --kubeconfig");
}

constexpr const char* kKubeconfig = R"(
apiVersion: v1
kind: Config
preferences: {}
current-context: work
contexts:
- {name: other, context: {cluster: nowhere, user: nobody}}
- {name: work, context: {cluster: prod, user: guard, namespace: x}}
clusters:
- name: prod
  cluster:
    server: https://kube.example:6443/k8s/clusters/c-1/
    certificate-authority: pki/ca.crt
    tls-server-name: kubernetes.default
users:
- name: guard
  user:
    client-certificate-data: Q0VSVA==
    client-key: /etc/guard/key.pem
    token: abc
    tokenFile: token
)";

TEST(KubeconfigAccess, IsTheCurrentContext) {
  const TemporaryFolder folder;
  const auto access = kubeconfig_access(folder.write("config", kKubeconfig));
  ASSERT_TRUE(access) << access.error().message;
  const ClusterAccess expected{
      .server = {.host = "kube.example", .port = 6443, .server_name = "kubernetes.default"},
      .path_prefix = "/k8s/clusters/c-1",
      .ca = {.file = folder.path() / "pki/ca.crt"},
      .certificate = {.text = "CERT"},
      .key = {.file = "/etc/guard/key.pem"},
      .token = "abc",
      .token_file = folder.path() / "token"};
  EXPECT_EQ(*access, expected);
}

TEST(KubeconfigAccess, ReadsJsonAndDataBeforeFiles) {
  const TemporaryFolder folder;
  const auto access = kubeconfig_access(folder.write("config", R"({
    "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": ""}}],
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:8001", "insecure-skip-tls-verify": true,
      "certificate-authority": "ca.crt", "certificate-authority-data": "Q0E="}}]})"));
  ASSERT_TRUE(access) << access.error().message;
  const ClusterAccess expected{.server = {.tls = false, .host = "127.0.0.1", .port = 8001},
                               .ca = {.text = "CA"},
                               .insecure_skip_verify = true};
  EXPECT_EQ(*access, expected);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

TEST(KubeconfigAccess, SaysWhereItIsWrong) {
  constexpr const char* kWayOut =
      " is not supported: give a token, a tokenFile or a client certificate (kubectl create token "
      "makes a "
      "token)";
  struct Case {
    const char* what;
    const char* by;
    std::string error;
  };
  const Case cases[] = {
      {"current-context: work", "",
       ":2:1: has no current-context: kubectl config use-context NAME sets it"},
      {"current-context: work", "current-context: play", ":7:1: contexts has no context \"play\""},
      {"current-context: work", "current-context: other",
       ":10:1: clusters has no cluster \"nowhere\""},
      {"user: guard", "user: me", ":16:1: users has no user \"me\""},
      {"https://kube", "kube",
       ":12:5: server: URL \"kube.example:6443/k8s/clusters/c-1/\" does not begin with https:// or "
       "http://"},
      {"token: abc", "exec: {command: aws}", std::string(":20:11: exec") + kWayOut},
      {"token: abc", "username: me", std::string(":20:15: username") + kWayOut},
      {"token: abc", "as: me", std::string(":20:9: as") + kWayOut},
      {"client-key: /etc/guard/key.pem", "",
       ":18:5: client-certificate and client-key belong together"},
      {"Q0VSVA==", "???", ":18:30: client-certificate-data is not base64"},
      {"tls-server-name: kubernetes.default", "proxy-url: http://p",
       ":14:16: proxy-url is not supported: give a server that can be reached directly"},
      {"tls-server-name: kubernetes.default", "insecure-skip-tls-verify: maybe",
       ":12:5: insecure-skip-tls-verify must be true or false"},
      {"token: abc", "token: [a]", ":20:12: token must be a text"},
  };
  const TemporaryFolder folder;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.by);
    const auto path = folder.write("config", replaced(kKubeconfig, c.what, c.by));
    const auto access = kubeconfig_access(path);
    ASSERT_FALSE(access);
    EXPECT_EQ(access.error().message, path.string() + c.error);
  }
  EXPECT_EQ(kubeconfig_access(folder.path() / "none").error().message,
            (folder.path() / "none").string() + ": No such file or directory");
  EXPECT_EQ(kubeconfig_access(folder.write("list", "- a")).error().message,
            (folder.path() / "list").string() + ": is no kubeconfig");
}

}  // namespace
}  // namespace xila::kube
