#pragma once

#include <filesystem>
#include <string>

#include "xila/base/result.hpp"
#include "xila/net/client.hpp"

namespace xila::kube {

// PEM text, or the file that holds it and may be replaced at any time. Both empty = none; `text`
// wins.
struct PemSource {
  std::string text;
  std::filesystem::path file;

  bool empty() const { return text.empty() && file.empty(); }
  bool operator==(const PemSource&) const = default;
};

// How to reach an API server and as whom.
struct ClusterAccess {
  net::Origin server;
  std::string path_prefix;  // "" or "/k8s/clusters/c-1", without a slash at the end
  PemSource ca;             // none = the system's store
  PemSource certificate;
  PemSource key;
  bool insecure_skip_verify = false;
  std::string token;
  std::filesystem::path token_file;  // wins over `token`

  bool operator==(const ClusterAccess&) const = default;
};

inline constexpr const char* kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// True in a Pod with a service account: what in_cluster_access() needs is there.
bool is_in_cluster();

// The Pod's own service account: `host` and `port` as in KUBERNETES_SERVICE_HOST and _PORT, token
// and ca.crt in `folder`. Error: what is missing.
base::Result<ClusterAccess> in_cluster_access(const std::string& host, const std::string& port,
                                              const std::filesystem::path& folder);
base::Result<ClusterAccess> in_cluster_access();  // from the environment

// The current context of a kubeconfig file; relative paths in it are relative to the file. Exec and
// auth-provider plugins, passwords, impersonation and proxies are refused, with the way out in the
// error.
base::Result<ClusterAccess> kubeconfig_access(const std::filesystem::path& path);

}  // namespace xila::kube
