#pragma once

#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "deadline.hpp"
#include "xila/kube/tenant_source.hpp"
#include "xila/policy/rulebook.hpp"

namespace xila::webhook {

// Whose namespace is it? The answer at hand, or nothing: then look_up() asks for it.
std::optional<policy::TenantResolution> known_tenant(kube::TenantSource& tenants,
                                                     const std::string& space,
                                                     const policy::Rulebook& rulebook);

// Waits for the source's answer until until.give_up, then answers lookup_failed, whatever the
// source does. An exception of the source's comes out here.
//
// `tenants` outlives the executor, which runs one thing at a time. A source that is late goes on by
// itself, with copies of what it was asked.
boost::asio::awaitable<policy::TenantResolution> look_up_tenant(
    kube::TenantSource& tenants, std::string space,
    std::shared_ptr<const policy::Rulebook> rulebook, Deadlines until);

}  // namespace xila::webhook
