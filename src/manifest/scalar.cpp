#include "scalar.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "xila/base/text.hpp"

namespace xila::manifest {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

Value value_of(Type type, std::string_view text) {
  return {.type = type, .text = std::string(text)};
}

// Only these spellings; "tRUE" is a string.
std::optional<Value> read_word(std::string_view text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return value_of(Type::null, "");
  if (is_one_of(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    return value_of(Type::boolean, "true");
  }
  if (is_one_of(text,
                {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    return value_of(Type::boolean, "false");
  }
  return std::nullopt;
}

bool is_infinite_or_nan(std::string_view text) {
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return true;
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return is_one_of(text, {".inf", ".Inf", ".INF"});
}

// The base that a prefix names, and the digits behind it. 0 before another digit is octal.
std::pair<int, std::string_view> split_base(std::string_view digits) {
  if (digits.size() < 2 || digits[0] != '0') return {10, digits};
  switch (digits[1]) {
    case 'x':
    case 'X':
      return {16, digits.substr(2)};
    case 'o':
    case 'O':
      return {8, digits.substr(2)};
    case 'b':
    case 'B':
      return {2, digits.substr(2)};
    default:
      return {8, digits.substr(1)};
  }
}

// An integer of 64 bits, with a sign or without; larger ones are floats.
std::optional<Value> read_integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const auto [base, digits] = split_base(text);
  std::uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  constexpr std::uint64_t kLowest = std::uint64_t{1} << 63U;
  if (is_negative && magnitude > kLowest) return std::nullopt;
  const bool show_sign = is_negative && magnitude != 0;
  return value_of(Type::number, (show_sign ? "-" : "") + std::to_string(magnitude));
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool has_form_of_float(std::string_view text) {
  const auto take_digits = [&text] {
    const auto end = std::ranges::find_if_not(text, is_digit);
    const auto count = static_cast<std::size_t>(end - text.begin());
    text.remove_prefix(count);
    return count;
  };
  const auto take_any = [&text](std::string_view any_of) {
    if (text.empty() || !any_of.contains(text.front())) return false;
    text.remove_prefix(1);
    return true;
  };
  take_any("-+");
  const bool has_integer = take_digits() > 0;
  const bool has_fraction = take_any(".") && take_digits() > 0;
  if (!has_integer && !has_fraction) return false;
  if (take_any("eE")) {
    take_any("-+");
    if (take_digits() == 0) return false;
  }
  return text.empty();
}

// As Go's encoding/json writes a float: plain digits, or an exponent for the very small and very
// large.
std::string format(double number) {
  char buffer[400];
  const double magnitude = std::fabs(number);
  const bool plain = magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e21);
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, number,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {buffer, end};
}

// Too large for a double is no number to Go, but a string.
std::optional<Value> read_float(std::string_view text) {
  if (!has_form_of_float(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) {
    number = std::strtod(std::string(text).c_str(), nullptr);  // 0 for the very small
    if (!std::isfinite(number)) return std::nullopt;
  }
  return value_of(Type::number, format(number));
}

std::string without_underscores(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c != '_'; });
  return digits;
}

bool has_underscores_between_digits_only(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') continue;
    if (i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1])) {
      return false;
    }
  }
  return true;
}

// Underscores count for nothing in a number; where it begins with a point they must stand between
// digits.
std::optional<Value> read_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const char first = text.front();
  if (first == '.') {
    if (!has_underscores_between_digits_only(text)) return std::nullopt;
    return read_float(without_underscores(text));
  }
  if (!is_digit(first) && first != '-' && first != '+') return std::nullopt;
  const std::string digits = without_underscores(text);
  auto integer = read_integer(digits);
  return integer ? integer : read_float(digits);
}

std::expected<Value, std::string> resolve_plain(std::string_view text) {
  if (auto word = read_word(text)) return *word;
  if (is_infinite_or_nan(text)) {
    return std::unexpected(std::string(text) + " is a number that JSON does not have");
  }
  if (auto number = read_number(text)) return *number;
  return value_of(Type::string, text);
}

}  // namespace

std::expected<Value, std::string> resolve(std::string_view text, bool is_plain,
                                          std::string_view tag) {
  if (tag.empty()) {
    return is_plain ? resolve_plain(text) : value_of(Type::string, text);
  }
  if (!tag.starts_with(kTagPrefix) || tag == "tag:yaml.org,2002:str") {
    return value_of(Type::string, text);
  }
  const std::string_view name = tag.substr(kTagPrefix.size());
  const auto wanted = name == "int" || name == "float" ? std::optional(Type::number)
                      : name == "bool"                 ? std::optional(Type::boolean)
                      : name == "null"                 ? std::optional(Type::null)
                                                       : std::nullopt;
  if (!wanted)
    return std::unexpected("the tag !!" + base::escape_control(name) + " is not supported");
  auto value = resolve_plain(text);
  const bool fits = value && value->type == *wanted &&
                    !(name == "int" && value->text.find_first_of(".e") != std::string::npos);
  if (fits) return value;
  return std::unexpected(base::quote(text, 64) + " is no !!" + std::string(name));
}

}  // namespace xila::manifest
