#include "plain_scalar.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "xila/base/text.hpp"

namespace xila::config {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [text](std::string_view word) { return base::equals_ignoring_case(text, word); });
}

// Takes the digits off the front of `text` and says how many there were.
std::size_t take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(count);
  return count;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || !any_of.contains(text.front())) return false;
  text.remove_prefix(1);
  return true;
}

// 0b, 0o and 0x, in either case.
bool is_prefixed_integer(std::string_view text) {
  if (text.size() < 3 || text[0] != '0') return false;
  const auto all = [digits = text.substr(2)](std::string_view alphabet) {
    return digits.find_first_not_of(alphabet) == std::string_view::npos;
  };
  switch (text[1]) {
    case 'b':
    case 'B':
      return all("01");
    case 'o':
    case 'O':
      return all("01234567");
    case 'x':
    case 'X':
      return all("0123456789abcdefABCDEF");
    default:
      return false;
  }
}

// 1, 007, 1.5, .5, 5., 1e6, 1.5E-3.
bool is_decimal(std::string_view text) {
  std::size_t digits = take_digits(text);
  if (take(text, ".")) digits += take_digits(text);
  if (digits == 0) return false;
  if (take(text, "eE")) {
    take(text, "+-");
    if (take_digits(text) == 0) return false;
  }
  return text.empty();
}

// 190:20:30 and 190:20:30.15, base 60 to YAML 1.1.
bool is_sexagesimal(std::string_view text) {
  if (take_digits(text) == 0) return false;
  std::size_t groups = 0;
  while (take(text, ":")) {
    const std::size_t digits = take_digits(text);
    if (digits == 0 || digits > 2) return false;
    ++groups;
  }
  if (take(text, ".")) take_digits(text);
  return groups > 0 && text.empty();
}

bool is_number(std::string_view plain) {
  if (plain.starts_with('_')) return false;
  std::string digits;
  std::ranges::copy_if(plain, std::back_inserter(digits), [](char c) { return c != '_'; });
  std::string_view text = digits;
  take(text, "+-");
  return is_prefixed_integer(text) || is_decimal(text) || is_sexagesimal(text) ||
         is_one_of(text, {".inf", ".nan"});
}

// 2001-12-14, alone or before a time of day.
bool is_timestamp(std::string_view text) {
  if (take_digits(text) != 4 || !take(text, "-")) return false;
  const std::size_t month = take_digits(text);
  if (month < 1 || month > 2 || !take(text, "-")) return false;
  const std::size_t day = take_digits(text);
  return day >= 1 && day <= 2 && (text.empty() || take(text, "Tt \t"));
}

}  // namespace

std::string_view other_type(std::string_view plain) {
  if (plain.empty() || is_one_of(plain, {"~", "null"})) return "null";
  if (is_one_of(plain, {"y", "n", "yes", "no", "on", "off", "true", "false"})) return "a boolean";
  if (is_number(plain)) return "a number";
  if (is_timestamp(plain)) return "a timestamp";
  return "";
}

}  // namespace xila::config
