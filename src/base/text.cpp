#include "xila/base/text.hpp"

#include <array>
#include <cstdint>

namespace xila::base {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Character {
  char32_t code = kReplacement;
  std::size_t bytes = 1;  // how much of the text it takes; at least 1
  bool valid = false;
};

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// The bytes that a lead byte announces; 0 for a byte that starts nothing.
std::size_t announced_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// The second byte's range is narrower after four leads: it is what excludes overlong forms,
// surrogates and what lies beyond U+10FFFF. Source: Unicode 15, table 3-7.
bool may_follow(unsigned char lead, char next) {
  const auto byte = static_cast<unsigned char>(next);
  switch (lead) {
    case 0xE0:
      return byte >= 0xA0 && byte <= 0xBF;
    case 0xED:
      return byte >= 0x80 && byte <= 0x9F;
    case 0xF0:
      return byte >= 0x90 && byte <= 0xBF;
    case 0xF4:
      return byte >= 0x80 && byte <= 0x8F;
    default:
      return is_continuation(next);
  }
}

// The first character of a text that is not empty. What is no UTF-8 counts as one U+FFFD for each
// longest beginning of a character, as browsers do it.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t announced = announced_bytes(lead);
  if (announced == 0) return {};
  if (announced == 1) return {lead, 1, true};

  char32_t code = lead & (0xFFU >> (announced + 1));
  for (std::size_t i = 1; i < announced; ++i) {
    const bool fits =
        i < text.size() && (i == 1 ? may_follow(lead, text[i]) : is_continuation(text[i]));
    if (!fits) return {kReplacement, i, false};
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return {code, announced, true};
}

// Characters that break a line, move a terminal's cursor or reorder what a person reads.
bool must_be_escaped(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) ||       // C0, DEL, C1
         code == 0x2028 || code == 0x2029 ||                    // line and paragraph separator
         code == 0x061C || code == 0x200E || code == 0x200F ||  // bidirectional marks
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);  // and overrides
}

void append_escape(std::string& out, char32_t code) {
  if (code == '\n') {
    out += "\\n";
    return;
  }
  if (code == '\t') {
    out += "\\t";
    return;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += kDigits[(code >> shift) & 0xFU];
}

void append_escaped(std::string& out, std::string_view text, bool escape_quotes) {
  while (!text.empty()) {
    const Character next = first_character(text);
    if (next.code == '\\' || (escape_quotes && next.code == '"')) {
      out += '\\';
      out += text[0];
    } else if (!next.valid) {
      out += "\xEF\xBF\xBD";  // U+FFFD
    } else if (must_be_escaped(next.code)) {
      append_escape(out, next.code);
    } else {
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string quote(std::string_view text, std::size_t limit) {
  const std::string_view shown = prefix_at_character(text, limit);
  std::string out;
  out.reserve(shown.size() + 5);
  out += '"';
  append_escaped(out, shown, true);
  if (shown.size() < text.size()) out += "...";
  out += '"';
  return out;
}

std::string escape_control(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_escaped(out, text, false);
  return out;
}

std::string_view prefix_at_character(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  // A character that the limit cuts starts at most three bytes before it.
  for (std::size_t back = 1; back <= 3 && back <= limit; ++back) {
    const std::size_t start = limit - back;
    if (is_continuation(text[start])) continue;
    const Character last = first_character(text.substr(start));
    return text.substr(0, start + last.bytes > limit ? start : limit);
  }
  return text.substr(0, limit);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) out += separator;
    out += part;
  }
  return out;
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (lower(left[i]) != lower(right[i])) return false;
  }
  return true;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace xila::base
