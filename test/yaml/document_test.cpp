#include "xila/yaml/document.hpp"

#include <string>

#include <gtest/gtest.h>

namespace xila::yaml {
namespace {

// A tree on one line, with marks: {key@1:1: value@1:6}. Quotes, tags and anchors are shown as
// written.
std::string show(const Node& node) {
  std::string text;
  if (node.anchor != 0)
    text += (node.kind == Kind::alias ? "*" : "&") + std::to_string(node.anchor);
  if (!node.tag.empty()) text += "<" + node.tag + ">";
  switch (node.kind) {
    case Kind::null:
      text += "null(" + node.text + ")";
      break;
    case Kind::alias:
      break;
    case Kind::scalar:
      text += node.plain ? node.text : "'" + node.text + "'";
      break;
    case Kind::sequence:
      text += "[";
      for (const Node& item : node.items) text += show(item) + " ";
      text += "]";
      break;
    case Kind::mapping:
      text += "{";
      for (const Entry& entry : node.entries)
        text += show(entry.key) + ": " + show(entry.value) + " ";
      text += "}";
      break;
  }
  return text + "@" + std::to_string(node.mark.line) + ":" + std::to_string(node.mark.column);
}

std::string parsed(std::string_view text, const Limits& limits = {}) {
  const auto documents = parse(text, limits);
  if (!documents) {
    const Problem& problem = documents.error();
    return std::to_string(problem.mark.line) + ":" + std::to_string(problem.mark.column) + ": " +
           problem.message;
  }
  std::string shown;
  for (const Node& document : *documents) shown += show(document) + "\n";
  return shown;
}

TEST(Parse, ShowsWhatStandsThere) {
  struct Case {
    const char* name;
    std::string text;
    std::string tree;
  };
  const Case cases[] = {
      {"nothing", "", ""},
      {"only a comment", "# nothing\n", ""},
      {"mapping", "a: b\n", "{a@1:1: b@1:4 }@1:1\n"},
      {"sequence", "- a\n- 'b'\n", "[a@1:3 'b'@2:3 ]@1:1\n"},
      {"flow", "{a: [1, \"2\"]}", "{a@1:2: [1@1:6 '2'@1:9 ]@1:5 }@1:1\n"},
      {"repeated key", "a: 1\na: 2\n", "{a@1:1: 1@1:4 a@2:1: 2@2:4 }@1:1\n"},
      {"written null", "a: ~\nb: null\n", "{a@1:1: null(~)@1:4 b@2:1: null(null)@2:4 }@1:1\n"},
      {"empty value stands at its key", "a:\nb: 1\n", "{a@1:1: null()@1:1 b@2:1: 1@2:4 }@1:1\n"},
      {"empty item stands at its list", "- \n- a\n", "[null()@1:1 a@2:3 ]@1:1\n"},
      {"quoted null is text", "a: '~'\n", "{a@1:1: '~'@1:4 }@1:1\n"},
      {"block scalar", "a: |\n  ~\n", "{a@1:1: '~\n'@1:4 }@1:1\n"},
      {"tags", "a: !!str x\nb: !mine [y]\nc: ! z\n",
       "{a@1:1: <tag:yaml.org,2002:str>'x'@1:4 b@2:1: <!mine>[y@2:11 ]@2:4 c@3:1: <!>'z'@3:4 "
       "}@1:1\n"},
      {"anchor and alias", "a: &x {b: c}\nd: *x\n",
       "{a@1:1: &1{b@1:8: c@1:11 }@1:4 d@2:1: *1@2:4 }@1:1\n"},
      {"mapping as key", "? {a: b}\n: c\n", "{{a@1:4: b@1:7 }@1:3: c@2:3 }@1:1\n"},
      {"empty documents", "---\n---\n--- a\n", "null()@2:1\nnull()@3:1\na@3:5\n"},
      {"two documents", "a: b\n---\nc\n", "{a@1:1: b@1:4 }@1:1\nc@3:1\n"},
      {"columns count characters", "{\xC3\xA9\xE2\x82\xAC: b, c: d}",
       "{\xC3\xA9\xE2\x82\xAC@1:2: b@1:6 c@1:9: d@1:12 }@1:1\n"},
      {"quotes inside quotes", "{a: 'it''s', b: \"\\\"\", c: ''}",
       "{a@1:2: 'it's'@1:5 b@1:14: '\"'@1:17 c@1:23: ''@1:26 }@1:1\n"},
      {"lines may end as on Windows", "a: b\r\nc: d\r\n", "{a@1:1: b@1:4 c@2:1: d@2:4 }@1:1\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(parsed(c.text), c.tree);
  }
}

TEST(Parse, RefusesWithThePlace) {
  struct Case {
    const char* name;
    std::string text;
    std::string problem;
  };
  const Case cases[] = {
      {"no YAML", "a: b: c\n", "1:5: illegal map value"},
      {"end missing", "a: [1\n", "2:1: end of sequence flow not found"},
      {"a bracket too many", "{a: b}}", "1:7: illegal flow end"},
      {"a comma too many, at which the parser would never end", "{a: b},", "1:7: unexpected text"},
      {"unknown alias", "a: *b\n", "1:4: the referenced anchor is not defined"},
      {"NUL, which the parser would skip", std::string("a: b\nc\0: d\n", 11),
       "2:2: control character 0x00"},
      {"0x04, the parser's own end of file",
       "a: b\n\x04"
       "c: d\n",
       "2:1: control character 0x04"},
      {"DEL", "a: \x7F", "1:4: control character 0x7f"},
      {"lone continuation byte", "a: \xC3\xA9\x80", "1:5: not UTF-8: byte 0x80"},
      {"cut character", "a: \xE2\x82", "1:4: not UTF-8: byte 0xe2"},
      {"overlong slash", "a: \xC0\xAF", "1:4: not UTF-8: byte 0xc0"},
      {"surrogate", "a: \xED\xA0\x80", "1:4: not UTF-8: byte 0xed"},
      {"beyond Unicode", "a: \xF4\x90\x80\x80", "1:4: not UTF-8: byte 0xf4"},
      {"a carriage return, which ends a line for some", "# a\rb: c\n",
       "1:4: a carriage return without a line feed"},
      {"a line separator, which ends a line for some",
       "# a\xE2\x80\xA8"
       "b: c\n",
       "1:4: U+2028, which ends a line for some readers of YAML; escape or remove it"},
      {"string without end", "a: \"b\n", "1:4: a string without its closing quote"},
      {"string without end after an escaped quote", "a: \"b\\\"\n",
       "1:4: a string without its closing quote"},
      {"single quotes without end", "a: 'b''\n", "1:4: a string without its closing quote"},
      {"string without end behind a tag", "a: !!str  \"b\n",
       "1:4: a string without its closing quote"},
      {"an escape that the parser gets wrong", "a: \"\\N\"\n",
       "1:4: an escape sequence that is not supported"},
      {"UTF-16",
       std::string("\xFF\xFE"
                   "a\0",
                   4),
       "1:1: not UTF-8: byte 0xff"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(parsed(c.text), c.problem);
  }
}

TEST(Parse, StopsAtItsLimits) {
  EXPECT_EQ(parsed("[[[1]]]", {.depth = 3}), "[[[1@1:4 ]@1:3 ]@1:2 ]@1:1\n");
  EXPECT_EQ(parsed("[[[1]]]", {.depth = 2}), "1:3: nested more than 2 levels deep");
  EXPECT_EQ(parsed("[1, 2]", {.nodes = 3}), "[1@1:2 2@1:5 ]@1:1\n");
  EXPECT_EQ(parsed("[1, 2, 3]", {.nodes = 3}), "1:8: more than 3 values");
  EXPECT_EQ(parsed(std::string(100'000, '[')), "1:51: nested more than 100 levels deep");
  std::string sequences;
  for (int i = 0; i < 50'000; ++i) sequences += "- ";
  EXPECT_EQ(parsed(sequences), "1:201: nested more than 100 levels deep");
}

TEST(Parse, CountsColumnsOfOneLongLineInOnePass) {
  std::string text = "[";
  for (int i = 0; i < 100'000; ++i) text += "\xC3\xA9, ";
  text += "x]";
  const auto documents = parse(text);
  ASSERT_TRUE(documents) << documents.error().message;
  EXPECT_EQ(documents->front().items.back().mark, (Mark{1, 300'002}));
}

}  // namespace
}  // namespace xila::yaml
