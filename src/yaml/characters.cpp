#include "characters.hpp"

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

std::string hexadecimal(char c) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
}

// Line breaks to YAML 1.1, and so to kubectl, but not to YAML 1.2 and the parser here: text behind
// one is a comment to the one and a key to the other. The byte order mark is dropped by some.
std::string_view find_disputed(std::string_view character) {
  if (character == "\xC2\x85") return "U+0085";
  if (character == "\xE2\x80\xA8") return "U+2028";
  if (character == "\xE2\x80\xA9") return "U+2029";
  if (character == kByteOrderMark) return "U+FEFF";
  return {};
}

// What is wrong with the character at the start of `text`, "" = nothing.
std::string find_wrong(std::string_view text, std::size_t bytes, Syntax syntax) {
  if (bytes == 0) return "not UTF-8: byte " + hexadecimal(text[0]);
  const char c = text[0];
  const auto byte = static_cast<unsigned char>(c);
  if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F) {
    return "control character " + hexadecimal(c);
  }
  if (syntax == Syntax::json) return {};
  if (c == '\r' && !text.starts_with("\r\n")) return "a carriage return without a line feed";
  const std::string_view disputed = find_disputed(text.substr(0, bytes));
  if (disputed.empty()) return {};
  return std::string(disputed) +
         ", which ends a line for some readers of YAML; escape or remove it";
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::expected<void, Problem> check_characters(std::string_view text, Syntax syntax) {
  Mark mark{1, 1};
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (std::string wrong = find_wrong(text, bytes, syntax); !wrong.empty()) {
      return std::unexpected(Problem{mark, std::move(wrong)});
    }
    mark = text[0] == '\n' ? Mark{mark.line + 1, 1} : Mark{mark.line, mark.column + 1};
    text.remove_prefix(bytes);
  }
  return {};
}

}  // namespace xila::yaml
