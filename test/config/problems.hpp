#pragma once

#include <string>
#include <vector>

#include "xila/config/load.hpp"

namespace xila::config {

// A result's problems as a person reads them; {} where it has a value.
template <class T>
std::vector<std::string> problems_of(const std::expected<T, Problems>& result) {
  std::vector<std::string> texts;
  if (result) return texts;
  for (const Problem& problem : result.error()) texts.push_back(to_text(problem));
  return texts;
}

}  // namespace xila::config
