#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace xila::yaml {

// A place in a text, counted from 1; columns count characters, not bytes. 0 = the text as a whole.
struct Mark {
  int line = 0;
  int column = 0;

  bool operator==(const Mark&) const = default;
};

struct Problem {
  Mark mark;
  std::string message;

  bool operator==(const Problem&) const = default;
};

enum class Kind : std::uint8_t { null, scalar, sequence, mapping, alias };

struct Entry;

// What stands in a document, before anybody decides what it means: a repeated key stands there
// twice, an alias is an alias, and a plain scalar has no type yet. Plain values; nothing of the
// parser survives.
struct Node {
  Kind kind = Kind::null;
  Mark mark;               // of an empty null: its key's, or its sequence's
  std::string text;        // scalar, or the "~" and "null" of a null that was written
  bool plain = false;      // a scalar without quotes: its type is read off its text
  std::string tag;         // an explicit one, as tag:yaml.org,2002:str or !mine; "" = none
  std::size_t anchor = 0;  // the number of the anchor that it has, or, as an alias, names; 0 = none
  std::vector<Node> items;     // of a sequence
  std::vector<Entry> entries;  // of a mapping, in the order in which they were written
};

struct Entry {
  Node key;  // may be of any kind
  Node value;
};

struct Limits {
  std::size_t depth = 100;
  std::size_t nodes = 500'000;
};

// Every document of a text; none where it holds only comments. Bytes that are no UTF-8, control
// characters, deeper nesting and more nodes than `limits` are problems. An alias inside its own
// anchor is possible.
std::expected<std::vector<Node>, Problem> parse(std::string_view text, const Limits& limits = {});

enum class Syntax : std::uint8_t { json, yaml };

// The first character that no text of that syntax may hold here: what is not UTF-8, a control
// character but tab and line ends (the parser underneath takes some for its own end-of-file mark),
// and, in YAML, what only some readers take for the end of a line. `parse` has checked it.
std::expected<void, Problem> check_characters(std::string_view text, Syntax syntax);

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace xila::yaml
