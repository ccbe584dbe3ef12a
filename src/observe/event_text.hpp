#pragma once

#include <optional>
#include <string>

#include "records.hpp"
#include "xila/codec/event.hpp"
#include "xila/observe/finding.hpp"

namespace xila::observe {

inline constexpr const char* kReportingController = "guard.xila.us/observe";

// The Event that tells the Pod's owner of a step, or nothing where there is nobody to tell: a Pod
// that is gone, a profile, or a finding whose evidence was erased.
//
// Tenants read it: its text is constant per finding, and names nobody else's Pod or namespace. Its
// name follows from the finding alone, so that no replica and no restart writes it twice.
std::optional<codec::Event> event_of(const Transition& transition, const std::string& instance,
                                     Wall time);

}  // namespace xila::observe
