#include <cstdint>
#include <string>

#include "xila/yaml/document.hpp"

namespace xila::yaml {
namespace {

struct Range {
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

// What may follow a lead byte directly, and how many bytes follow it in all. Source: Unicode 15,
// table 3-7.
struct Sequence {
  std::size_t continuation = 0;
  Range first;
};

bool announce(unsigned char lead, Sequence& out) {
  if (lead < 0x80) return out = {0, {}}, true;
  if (lead < 0xC2 || lead > 0xF4) return false;
  if (lead < 0xE0) return out = {1, {}}, true;
  if (lead < 0xF0) {
    out = {2, {}};
    if (lead == 0xE0) out.first.low = 0xA0;   // overlong
    if (lead == 0xED) out.first.high = 0x9F;  // surrogates
    return true;
  }
  out = {3, {}};
  if (lead == 0xF0) out.first.low = 0x90;   // overlong
  if (lead == 0xF4) out.first.high = 0x8F;  // beyond U+10FFFF
  return true;
}

// The bytes of the character at the start of `text`; 0 where there is no valid one.
std::size_t character_bytes(std::string_view text) {
  Sequence sequence;
  if (!announce(static_cast<unsigned char>(text[0]), sequence)) return 0;
  if (text.size() <= sequence.continuation) return 0;
  for (std::size_t i = 1; i <= sequence.continuation; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const Range range = i == 1 ? sequence.first : Range{};
    if (byte < range.low || byte > range.high) return 0;
  }
  return sequence.continuation + 1;
}

bool is_forbidden(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

std::string hexadecimal(char c) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
}

}  // namespace

std::expected<void, Problem> check_characters(std::string_view text) {
  Mark mark{1, 1};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text.substr(at));
    if (bytes == 0) {
      return std::unexpected(Problem{mark, "not UTF-8: byte " + hexadecimal(text[at])});
    }
    if (is_forbidden(text[at])) {
      return std::unexpected(Problem{mark, "control character " + hexadecimal(text[at])});
    }
    mark = text[at] == '\n' ? Mark{mark.line + 1, 1} : Mark{mark.line, mark.column + 1};
    at += bytes;
  }
  return {};
}

}  // namespace xila::yaml
