#pragma once

#include <string>
#include <string_view>

#include "packed_labels.hpp"
#include "xila/kube/reflector.hpp"
#include "xila/policy/tenant.hpp"

namespace xila::kube {

// What is kept of a namespace. One that is being deleted still has its tenant: its Pods end in
// order.
using Namespaces = Store<PackedLabels>;

Decoder<PackedLabels> namespace_decoder();

// Whose it is, by the label `label`.
policy::TenantResolution tenant_of(const PackedLabels& labels, const std::string& label);

}  // namespace xila::kube
