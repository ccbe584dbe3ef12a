#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xila::telemetry {

// Appends `text` as a JSON string, cut at a character to `limit` bytes before escaping. Whatever is
// in `text`, what is appended is valid UTF-8, one line, and ends only at its own closing quote.
void append_json_text(std::string& out, std::string_view text, std::size_t limit);

// Appends the shortest form that reads back as `value`; null where JSON has no such number.
void append_json_number(std::string& out, double value);

}  // namespace xila::telemetry
