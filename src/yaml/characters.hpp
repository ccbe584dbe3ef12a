#pragma once

#include <string_view>

namespace xila::yaml {

bool is_utf8(std::string_view text);

}  // namespace xila::yaml
