#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "map_reader.hpp"
#include "xila/yaml/document.hpp"

namespace xila::config {

inline constexpr std::string_view kApiVersion = "guard.xila.us/v1alpha1";
inline constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20U;

// The one document of a text, as a tree. Without a value, findings says why: not one document, no
// YAML, not UTF-8, a byte order mark, tabs for indentation, too long, too deep.
std::optional<yaml::Node> read_document(std::string_view text, Findings& findings);

// Checks apiVersion and kind. False: this is some other kind of file, and its other keys say
// nothing.
bool check_header(MapReader& map, std::string_view kind);

}  // namespace xila::config
