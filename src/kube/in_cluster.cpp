#include <cstdlib>
#include <system_error>

#include "xila/base/text.hpp"
#include "xila/kube/cluster_access.hpp"

namespace xila::kube {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool is_in_cluster() {
  std::error_code ignored;
  return !variable("KUBERNETES_SERVICE_HOST").empty() &&
         std::filesystem::exists(std::filesystem::path(kServiceAccountFolder) / "token", ignored);
}

base::Result<ClusterAccess> in_cluster_access(const std::string& host, const std::string& port,
                                              const std::filesystem::path& folder) {
  if (host.empty() || port.empty()) {
    return base::fail(
        "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set: outside of a Pod "
        "give --kubeconfig");
  }
  const bool is_ipv6 = host.find(':') != std::string::npos;
  const base::Result<net::Url> url =
      net::parse_url("https://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + port);
  if (!url)
    return base::fail("KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT: " + url.error().message);

  ClusterAccess access;
  access.server = url->origin;
  access.ca.file = folder / "ca.crt";
  access.token_file = folder / "token";
  for (const auto& file : {access.ca.file, access.token_file}) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
      return base::fail(file.string() +
                        " is not there: let the Pod mount its service account's token "
                        "(automountServiceAccountToken), or give --kubeconfig");
    }
  }
  return access;
}

base::Result<ClusterAccess> in_cluster_access() {
  return in_cluster_access(variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"),
                           kServiceAccountFolder);
}

}  // namespace xila::kube
