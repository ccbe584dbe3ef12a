#include "tenants.hpp"

#include <utility>

#include <CLI/CLI.hpp>

#include "serving.hpp"
#include "xila/kube/cluster_access.hpp"
#include "xila/telemetry/log.hpp"

namespace xila::cli {

base::Result<std::optional<kube::MakeTransport>> find_cluster(
    const std::optional<std::filesystem::path>& kubeconfig) {
  if (!kubeconfig && !kube::is_in_cluster()) return std::nullopt;
  auto access = kubeconfig ? kube::kubeconfig_access(*kubeconfig) : kube::in_cluster_access();
  if (!access) return std::unexpected(access.error());
  return [access = std::move(*access)](const boost::asio::any_io_executor& executor) {
    return kube::make_api_client(executor, access);
  };
}

void add_tenant_options(CLI::App& app, TenantOptions& options) {
  const char* group = "Cluster";
  app.add_option("--kubeconfig", options.kubeconfig,
                 "How to reach the API server; without it the Pod's service account, outside a "
                 "cluster nothing: then the policy's tenants.namespaces is all")
      ->type_name("FILE")
      ->group(group);
  add_duration(app, "--namespace-staleness-limit", options.staleness_limit,
               "Without a living watch of the namespaces for longer, not ready, and every look-up "
               "goes live")
      ->group(group);
}

base::Result<void> Tenants::start(const TenantOptions& options, telemetry::Metrics& metrics) {
  auto cluster = find_cluster(options.kubeconfig);
  if (!cluster) return std::unexpected(cluster.error());
  if (!*cluster) {
    telemetry::info("no_cluster", {{"tenants", "tenants.namespaces of the policy alone"}});
    return {};
  }
  auto directory =
      kube::TenantDirectory::make(**cluster, {.staleness_limit = options.staleness_limit}, metrics);
  if (!directory) return std::unexpected(directory.error());
  directory_ = std::move(*directory);
  directory_->start();
  return {};
}

kube::TenantSource& Tenants::source() {
  if (directory_) return *directory_;
  return static_tenants_;
}

std::optional<std::string> Tenants::not_ready_because() const {
  if (!directory_) return std::nullopt;
  return directory_->not_ready_because();
}

void Tenants::stop() {
  if (directory_) directory_->stop();
}

}  // namespace xila::cli
