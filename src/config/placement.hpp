#pragma once

#include <optional>
#include <string>
#include <vector>

#include "map_reader.hpp"
#include "xila/policy/rulebook.hpp"

namespace xila::config {

// A tenant's name: a label value that is not empty.
std::optional<std::string> read_tenant(const Value& value, Findings& findings);

// The `placement` key of a policy file.
std::vector<policy::PlacementRule> read_placement(const Value& value, Findings& findings);

}  // namespace xila::config
