#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "value.hpp"

namespace xila::manifest {

// What kubectl makes of a YAML scalar: sets type and text of the result. An explicit tag decides
// where there is one (the parser's spelling of it, "" = none); a plain scalar without tag is read
// by YAML 1.1 as Go's reader knows it; anything else is a string.
//
// Error: the text is no such thing as its tag says, or a number that JSON does not have.
// Source: go.yaml.in/yaml/v2 resolve.go, as sigs.k8s.io/yaml uses it; tried against kubectl 1.32.
std::expected<Value, std::string> resolve(std::string_view text, bool is_plain,
                                          std::string_view tag);

}  // namespace xila::manifest
