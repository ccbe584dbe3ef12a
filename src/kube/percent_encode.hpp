#pragma once

#include <string>
#include <string_view>

namespace xila::kube {

// For one value of a query or one segment of a path: all but RFC 3986's unreserved characters.
inline std::string percent_encode(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool is_unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                               c == '~';
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved) {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace xila::kube
