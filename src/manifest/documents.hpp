#pragma once

#include <string_view>
#include <vector>

#include "value.hpp"

namespace xila::manifest {

struct Documents {
  std::vector<Value> values;
  std::vector<yaml::Problem> problems;  // each for one document that is not among the values
};

// The documents of a text: between lines that begin with "---", as kubectl splits them, JSON values
// or one YAML document each. What begins as JSON and is none may still be YAML in its flow style.
Documents parse_documents(std::string_view text);

}  // namespace xila::manifest
