#pragma once

#include <cstdint>

#include "map_reader.hpp"
#include "xila/policy/label_selector.hpp"

namespace xila::config {

// What the values of a selector may hold.
enum class SelectorValues : std::uint8_t {
  labels,           // label values
  labels_or_tenant  // also $(tenant), alone or within a value, which stands for the Pod's tenant
};

// A Kubernetes LabelSelector: matchLabels and matchExpressions, by Kubernetes' own rules. One
// without requirements, which matches everything, is for the caller to judge.
policy::LabelSelector read_selector(const Value& value, SelectorValues values, Findings& findings);

}  // namespace xila::config
