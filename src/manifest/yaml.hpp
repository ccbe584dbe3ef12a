#pragma once

#include <expected>
#include <string_view>
#include <vector>

#include "value.hpp"

namespace xila::manifest {

// The values of a YAML text as kubectl would turn them into JSON: types by YAML 1.1, aliases and
// merge keys written out, keys made strings. Bounded, so that a few nested aliases cannot fill the
// memory. None where the text holds only comments.
std::expected<std::vector<Value>, yaml::Problem> parse_yaml(std::string_view text);

}  // namespace xila::manifest
