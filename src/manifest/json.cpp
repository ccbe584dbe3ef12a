#include "json.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace xila::manifest {
namespace {

using yaml::Mark;
using yaml::Problem;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

// Ends the recursion from wherever it is; never leaves this file.
struct Refusal {
  Problem problem;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::vector<Value> read_all() {
    std::vector<Value> values;
    for (skip_space(); !rest_.empty(); skip_space()) values.push_back(read_value(0));
    return values;
  }

 private:
  [[noreturn]] void refuse(std::string message) const {
    throw Refusal{{mark_, "not valid JSON: " + std::move(message)}};
  }

  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }

  void advance(std::size_t bytes) {
    for (const char c : rest_.substr(0, bytes)) {
      if (c == '\n') {
        mark_ = {mark_.line + 1, 1};
      } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
        ++mark_.column;
      }
    }
    rest_.remove_prefix(bytes);
  }

  void skip_space() { advance(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  bool take(char wanted) {
    if (peek() != wanted || rest_.empty()) return false;
    advance(1);
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) refuse(std::string("expected ") + wanted);
  }

  Value read_value(std::size_t depth) {
    if (depth > kMaxDepth) refuse("nested more than " + std::to_string(kMaxDepth) + " levels deep");
    if (++count_ > kMaxValues) refuse("more than " + std::to_string(kMaxValues) + " values");
    Value value{.mark = mark_};
    switch (peek()) {
      case '{':
        read_object(value, depth);
        break;
      case '[':
        read_array(value, depth);
        break;
      case '"':
        value.type = Type::string;
        value.text = read_string();
        break;
      case 't':
        read_word(value, Type::boolean, "true");
        break;
      case 'f':
        read_word(value, Type::boolean, "false");
        break;
      case 'n':
        read_word(value, Type::null, "null");
        break;
      default:
        read_number(value);
    }
    return value;
  }

  void read_object(Value& value, std::size_t depth) {
    value.type = Type::object;
    expect('{');
    skip_space();
    if (take('}')) return;
    do {
      skip_space();
      Member member{.mark = mark_};
      if (peek() != '"') refuse("expected a key in double quotes");
      member.key = read_string();
      skip_space();
      expect(':');
      skip_space();
      member.value = read_value(depth + 1);
      value.members.push_back(std::move(member));
      skip_space();
    } while (take(','));
    if (!take('}')) refuse("expected , or }");
  }

  void read_array(Value& value, std::size_t depth) {
    value.type = Type::array;
    expect('[');
    skip_space();
    if (take(']')) return;
    do {
      skip_space();
      value.items.push_back(read_value(depth + 1));
      skip_space();
    } while (take(','));
    if (!take(']')) refuse("expected , or ]");
  }

  void read_word(Value& value, Type type, std::string_view word) {
    if (!rest_.starts_with(word)) refuse("expected a value");
    advance(word.size());
    value.type = type;
    if (type == Type::boolean) value.text = word;
  }

  void read_number(Value& value) {
    const std::string_view start = rest_;
    take('-');
    if (!is_digit(peek())) refuse("expected a value");
    const bool leading_zero = peek() == '0';
    const std::size_t digits = take_digits();
    if (leading_zero && digits > 1) refuse("a number with a leading zero");
    if (take('.') && take_digits() == 0) refuse("expected a digit");
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (take_digits() == 0) refuse("expected a digit");
    }
    value.type = Type::number;
    value.text = start.substr(0, start.size() - rest_.size());
  }

  std::size_t take_digits() {
    const auto end = std::ranges::find_if_not(rest_, is_digit);
    const auto count = static_cast<std::size_t>(end - rest_.begin());
    advance(count);
    return count;
  }

  std::string read_string() {
    std::string text;
    expect('"');
    while (!take('"')) {
      const std::size_t plain = std::min(rest_.find_first_of("\"\\\n\r\t"), rest_.size());
      text += rest_.substr(0, plain);
      advance(plain);
      if (peek() == '\\') {
        read_escape(text);
      } else if (peek() != '"') {
        refuse(rest_.empty() ? "a string without end" : "a control character in a string");
      }
    }
    return text;
  }

  void read_escape(std::string& text) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    expect('\\');
    if (take('u')) {
      append_utf8(text, read_code_point());
      return;
    }
    const std::size_t letter = kLetters.find(peek());
    if (rest_.empty() || letter == std::string_view::npos) refuse("an unknown escape");
    text += kMeanings[letter];
    advance(1);
  }

  // Behind \u: one unit of UTF-16, or two that make a pair.
  std::uint32_t read_code_point() {
    const std::uint32_t high = read_unit();
    if (high < 0xD800 || high > 0xDFFF) return high;
    if (high > 0xDBFF || !rest_.starts_with("\\u")) refuse("half of a surrogate pair");
    advance(2);
    const std::uint32_t low = read_unit();
    if (low < 0xDC00 || low > 0xDFFF) refuse("half of a surrogate pair");
    return 0x10000U + ((high - 0xD800U) << 10U) + (low - 0xDC00U);
  }

  std::uint32_t read_unit() {
    constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
    std::uint32_t unit = 0;
    for (int i = 0; i < 4; ++i) {
      const std::size_t digit = kDigits.find(peek());
      if (rest_.empty() || digit == std::string_view::npos) refuse("expected four hex digits");
      unit = unit * 16 + static_cast<std::uint32_t>(digit < 16 ? digit : digit - 6);
      advance(1);
    }
    return unit;
  }

  std::string_view rest_;
  Mark mark_{1, 1};
  std::size_t count_ = 0;
};

}  // namespace

std::expected<std::vector<Value>, Problem> parse_json(std::string_view text) {
  try {
    return Parser(text).read_all();
  } catch (const Refusal& refusal) {
    return std::unexpected(refusal.problem);
  }
}

}  // namespace xila::manifest
