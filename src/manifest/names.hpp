#pragma once

#include <string>
#include <string_view>

#include "value.hpp"

namespace xila::manifest {

// metadata.name of an object, else its generateName with "*" for what the API server appends, else
// "*".
std::string name_of(const Value& object);

// What a controller would call the first Pod of an object, with "*" for each part that it makes up.
// The built-in kinds have rules of their own; any other is taken to put a suffix behind the name.
std::string pod_name(std::string_view kind, std::string_view object_name);

}  // namespace xila::manifest
