#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "xila/base/result.hpp"
#include "xila/kube/tenant_directory.hpp"
#include "xila/kube/tenant_source.hpp"
#include "xila/kube/transport.hpp"
#include "xila/telemetry/metrics.hpp"

namespace CLI {
class App;
}

namespace xila::cli {

// The way to the cluster, if there is one: --kubeconfig, else the Pod's service account, else none.
// Error: what is wrong with the one that was named.
base::Result<std::optional<kube::MakeTransport>> find_cluster(
    const std::optional<std::filesystem::path>& kubeconfig);

struct TenantOptions {
  std::optional<std::filesystem::path> kubeconfig;
  std::chrono::milliseconds staleness_limit{60'000};
};

void add_tenant_options(CLI::App& app, TenantOptions& options);

// Who answers whose namespace it is: the cluster's namespaces over the policy file's static map, or
// outside a cluster the map alone.
class Tenants {
 public:
  // Begins to watch. Error: credentials. `metrics` outlives it.
  base::Result<void> start(const TenantOptions& options, telemetry::Metrics& metrics);

  kube::TenantSource& source();
  std::optional<std::string> not_ready_because() const;
  // After the servers that ask have stopped.
  void stop();

 private:
  kube::StaticTenants static_tenants_;
  std::unique_ptr<kube::TenantDirectory> directory_;  // null outside a cluster
};

}  // namespace xila::cli
