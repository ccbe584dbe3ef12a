#include "xila/base/duration.hpp"

#include <cctype>
#include <cmath>
#include <limits>
#include <utility>

#include "xila/base/text.hpp"

namespace xila::base {

namespace {

struct Unit {
  std::string_view name;
  double nanoseconds;
};

// The longer names first: "m" is the beginning of "ms".
constexpr Unit kUnits[] = {{"ns", 1},   {"us", 1e3}, {"\u00b5s", 1e3}, {"\u03bcs", 1e3},
                           {"ms", 1e6}, {"s", 1e9},  {"m", 60e9},      {"h", 3600e9}};

// Takes "12", "1.5", ".5" or "3." off the front. False: there is no number.
bool take_number(std::string_view& text, double& value) {
  value = 0;
  double scale = 0;  // 0 before the point
  bool has_digit = false;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '.' && scale == 0) {
      scale = 1;
    } else if (c >= '0' && c <= '9') {
      has_digit = true;
      const double digit = c - '0';
      if (scale == 0) {
        value = value * 10 + digit;
      } else {
        scale /= 10;
        value += digit * scale;
      }
    } else {
      break;
    }
    text.remove_prefix(1);
  }
  return has_digit;
}

const Unit* take_unit(std::string_view& text) {
  for (const Unit& unit : kUnits) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return &unit;
  }
  return nullptr;
}

}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto refuse = [text](std::string_view why) {
    return fail(quote(text) + " is not a duration: " + std::string(why) +
                ", expected for example 30s or 1m30s");
  };
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return refuse("it is empty");

  double total = 0;
  for (std::string_view rest = text; !rest.empty();) {
    double value = 0;
    if (!take_number(rest, value)) return refuse("a number is missing");
    const Unit* unit = take_unit(rest);
    if (unit == nullptr) return refuse("a unit is missing or unknown");
    total += value * unit->nanoseconds;
  }
  if (total >= static_cast<double>(std::numeric_limits<std::int64_t>::max()))
    return refuse("it is too long");
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::llround(total)));
}

std::string to_text(std::chrono::milliseconds duration) {
  std::int64_t rest = duration.count();
  if (rest == 0) return "0s";
  std::string text;
  const std::pair<std::int64_t, std::string_view> units[] = {
      {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}, {1, "ms"}};
  for (const auto& [size, name] : units) {
    if (rest < size) continue;
    text += std::to_string(rest / size).append(name);
    rest %= size;
  }
  return text;
}

}  // namespace xila::base
