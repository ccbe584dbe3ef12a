#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xila::observe {

// FNV-1a over texts, with their ends counted in: the same in every process and for ever, which
// std::hash is not. Not for texts that somebody could choose to collide.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    add_byte(0xff);  // stands in no UTF-8
    return *this;
  }
  std::uint64_t value() const { return value_; }

  // The last `digits` hexadecimal digits, at most 16.
  std::string text(std::size_t digits) const {
    std::string result(digits, '0');
    std::uint64_t rest = value_;
    for (std::size_t i = digits; i > 0; --i, rest >>= 4) {
      result[i - 1] = "0123456789abcdef"[rest & 0xf];
    }
    return result;
  }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 1099511628211U; }

  std::uint64_t value_ = 14695981039346656037U;
};

}  // namespace xila::observe
