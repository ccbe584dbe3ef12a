#pragma once

#include "xila/policy/decide.hpp"

namespace xila::policy {

// The only way round the checks: a Pod that the DaemonSet controller creates, for a DaemonSet of
// apps/, to run as a service account that the policy trusts. All three must hold: the controller
// acts for everybody who may create a DaemonSet, and owner and account are what the Pod's author
// writes.
//
// CREATE only: a debug container that a person adds later is judged. With Requester::unknown the
// first condition counts as met.
bool is_exempt(const Pod& pod, const Subject& subject, const Rulebook& rulebook,
               Requester requester);

}  // namespace xila::policy
