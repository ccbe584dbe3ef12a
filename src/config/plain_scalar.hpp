#pragma once

#include <string_view>

namespace xila::config {

// What a scalar without quotes is to some reader of YAML, where that is not a string: "a boolean",
// "a number", "a timestamp" or "null"; "" = a string to all of them.
//
// The readers are YAML 1.1 (Helm, kubectl), YAML 1.2 and Go's own additions. They disagree, and the
// same file goes through several of them, so any doubt counts.
std::string_view other_type(std::string_view plain);

}  // namespace xila::config
