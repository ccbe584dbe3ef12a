#include "base64.hpp"

#include <cstdint>

namespace xila::kube {

std::optional<std::string> decode_base64(std::string_view text) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string decoded;
  std::uint32_t bits = 0;
  int count = 0;   // of bits that are not yet written
  int digits = 0;  // in the last group of four
  int padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos || padding > 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    digits = (digits + 1) % 4;
    if (count >= 8) {
      count -= 8;
      decoded += static_cast<char>(bits >> count & 0xff);
    }
  }
  const int wanted = digits == 0 ? 0 : 4 - digits;
  if (digits == 1 || (padding != 0 && padding != wanted)) return std::nullopt;
  return decoded;
}

}  // namespace xila::kube
