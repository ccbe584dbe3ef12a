#include "json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "xila/base/text.hpp"

namespace xila::telemetry {

void append_json_text(std::string& out, std::string_view text, std::size_t limit) {
  const bool is_plain = text.size() <= limit && std::ranges::all_of(text, [](char c) {
                          return c >= ' ' && c <= '~' && c != '"' && c != '\\';
                        });
  if (!is_plain) {
    out += base::quote(text, limit);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

void append_json_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

}  // namespace xila::telemetry
