#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace xila::kube {

// Standard base64, padded or not; line breaks and blanks are skipped, as YAML block texts have
// them. Nothing = it is none.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace xila::kube
