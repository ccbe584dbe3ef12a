#include "xila/kube/tenant_source.hpp"

namespace xila::kube {

std::optional<policy::TenantResolution> StaticTenants::known(const std::string& space,
                                                             const policy::Rulebook& rulebook) {
  const auto entry = rulebook.static_tenants.find(space);
  if (entry != rulebook.static_tenants.end() && !entry->second.empty()) {
    return policy::TenantResolution::resolved(entry->second);
  }
  return policy::TenantResolution::unresolved(
      "it is not among the policy's tenants.namespaces, and no cluster is asked");
}

boost::asio::awaitable<policy::TenantResolution> StaticTenants::resolve(
    const std::string& space, const policy::Rulebook& rulebook, Deadline /*deadline*/) {
  std::optional<policy::TenantResolution> answer = known(space, rulebook);
  co_return std::move(*answer);
}

}  // namespace xila::kube
