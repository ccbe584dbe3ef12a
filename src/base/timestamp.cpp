#include "xila/base/timestamp.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace xila::base {
namespace {

using std::chrono::microseconds;
using std::chrono::system_clock;

constexpr std::size_t kMicrosecondDigits = 6;

// Takes `digits` digits from the front of `text`.
bool take_number(std::string_view& text, std::size_t digits, int& value) {
  if (text.size() < digits ||
      !std::ranges::all_of(text.substr(0, digits), [](char c) { return c >= '0' && c <= '9'; })) {
    return false;
  }
  std::from_chars(text.data(), text.data() + digits, value);
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

// What follows a ".", as microseconds; finer digits are dropped.
bool take_fraction(std::string_view& text, microseconds& fraction) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  std::string padded(text.substr(0, std::min(digits, kMicrosecondDigits)));
  padded.resize(kMicrosecondDigits, '0');
  int value = 0;
  std::from_chars(padded.data(), padded.data() + padded.size(), value);
  fraction = microseconds(value);
  text.remove_prefix(digits);
  return true;
}

}  // namespace

std::optional<system_clock::time_point> parse_timestamp(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const bool is_read = take_number(text, 4, year) && take(text, '-') &&
                       take_number(text, 2, month) && take(text, '-') &&
                       take_number(text, 2, day) && take(text, 'T') && take_number(text, 2, hour) &&
                       take(text, ':') && take_number(text, 2, minute) && take(text, ':') &&
                       take_number(text, 2, second);
  if (!is_read || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  microseconds fraction{0};
  if (take(text, '.') && !take_fraction(text, fraction)) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (text != "Z" || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + fraction;
}

std::string to_timestamp(system_clock::time_point time) {
  const auto whole = std::chrono::floor<microseconds>(time);
  const auto days = std::chrono::floor<std::chrono::days>(whole);
  const std::chrono::year_month_day date{days};
  const std::chrono::hh_mm_ss clock{whole - days};
  std::array<char, 64> text{};
  const int size = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
      static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
      static_cast<int>(clock.subseconds().count()));
  return {text.data(), static_cast<std::size_t>(std::max(size, 0))};
}

}  // namespace xila::base
