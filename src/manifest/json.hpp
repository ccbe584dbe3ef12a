#pragma once

#include <expected>
#include <string_view>
#include <vector>

#include "value.hpp"

namespace xila::manifest {

// JSON by RFC 8259, with places: any number of values, one after the other. `text` must be valid
// UTF-8 and begin at the start of a line. This reads for places and structure; what a Pod means is
// read by the codec.
std::expected<std::vector<Value>, yaml::Problem> parse_json(std::string_view text);

}  // namespace xila::manifest
