#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace xila::base {

// `text` in double quotes for messages and log lines: quotes and backslashes escaped, control
// characters (C0, DEL, C1, U+2028 and U+2029, bidirectional overrides) as \n, \t or \u00XX, invalid
// UTF-8 as U+FFFD. Longer than `limit` bytes: cut at a character and followed by "..." inside the
// quotes.
std::string quote(std::string_view text, std::size_t limit = 256);

// The same escaping without the surrounding quotes, and quotes left as they are.
std::string escape_control(std::string_view text);

// The longest prefix of `text` that is at most `limit` bytes and ends at a character boundary of
// UTF-8.
std::string_view prefix_at_character(std::string_view text, std::size_t limit);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

// ASCII only, as HTTP wants it.
bool equals_ignoring_case(std::string_view left, std::string_view right);

std::string_view trim(std::string_view text);

}  // namespace xila::base
