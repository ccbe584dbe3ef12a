#pragma once

#include "observe_options.hpp"
#include "xila/kube/transport.hpp"
#include "xila/policy/rulebook.hpp"

namespace xila::cli {

// xila-guard observe --once. 0 nothing found, 1 findings, 2 errors.
int observe_once(const ObserveOptions& options, policy::Rulebook rulebook,
                 const kube::MakeTransport& make_transport);

}  // namespace xila::cli
