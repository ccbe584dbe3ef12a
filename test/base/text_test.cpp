#include "xila/base/text.hpp"

#include <gtest/gtest.h>

namespace xila::base {
namespace {

TEST(Quote, EscapesWhatBreaksALineOrMisleadsAReader) {
  struct Case {
    const char* name;
    std::string_view text;
    std::string_view quoted;
  };
  using namespace std::string_view_literals;
  const Case cases[] = {
      {"empty", "", R"("")"},
      {"plain", "gpu-7", R"("gpu-7")"},
      {"quote and backslash", R"(a"b\c)", R"("a\"b\\c")"},
      {"line breaks", "a\nb\tc\rd", R"("a\nb\tc\u000dd")"},
      {"NUL does not end it", "a\0b"sv, R"("a\u0000b")"},
      {"escape sequence", "\x1b[31m", R"("\u001b[31m")"},
      {"DEL", "\x7f", R"("\u007f")"},
      {"C1", "\xC2\x9B", R"("\u009b")"},
      {"first after C1", "\xC2\xA0", "\"\xC2\xA0\""},
      {"line and paragraph separator", "\xE2\x80\xA8\xE2\x80\xA9", R"("\u2028\u2029")"},
      {"right-to-left override", "\xE2\x80\xAEkcart", R"("\u202ekcart")"},
      {"isolates", "\xE2\x81\xA6\xE2\x81\xA9", R"("\u2066\u2069")"},
      {"Arabic letter mark", "\xD8\x9C", R"("\u061c")"},
      {"letters of all lengths stay", "\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80",
       "\"\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80\""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(quote(c.text), c.quoted);
  }
}

TEST(Quote, InvalidUtf8BecomesTheReplacementCharacter) {
  struct Case {
    const char* name;
    std::string_view text;
    int replacements;
  };
  const Case cases[] = {
      {"lone continuation", "\x80", 1},
      {"overlong slash", "\xC0\xAF", 2},
      {"overlong of three bytes", "\xE0\x80\xAF", 3},
      {"surrogate", "\xED\xA0\x80", 3},
      {"beyond U+10FFFF", "\xF4\x90\x80\x80", 4},
      {"never a lead byte", "\xFF\xFE", 2},
      {"cut after one of two", "\xC3", 1},
      {"cut after two of three", "\xE4\xB8", 1},
      {"cut after three of four", "\xF0\x9F\x98", 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::string expected = "\"";
    for (int i = 0; i < c.replacements; ++i) expected += "\xEF\xBF\xBD";
    EXPECT_EQ(quote(c.text), expected + "\"");
    EXPECT_EQ(quote(std::string(c.text) + "z"), expected + "z\"");
  }
}

TEST(Quote, CutsAtACharacterAndSaysSo) {
  EXPECT_EQ(quote("abcdef", 6), R"("abcdef")");
  EXPECT_EQ(quote("abcdefg", 6), R"("abcdef...")");
  EXPECT_EQ(quote("abcde\xC3\xA9", 6), R"("abcde...")");
  EXPECT_EQ(quote("a", 0), R"("...")");
  EXPECT_EQ(quote(std::string(257, 'a')), '"' + std::string(256, 'a') + "...\"");
}

TEST(EscapeControl, LeavesQuotesAsTheyAre) {
  EXPECT_EQ(escape_control("say \"hi\"\r\n\\ \xE2\x80\xAE \xFF"),
            "say \"hi\"\\u000d\\n\\\\ \\u202e \xEF\xBF\xBD");
}

TEST(PrefixAtCharacter, NeverSplitsOne) {
  const std::string text = "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80z";  // 1, 2, 3, 4 and 1 bytes
  const std::size_t lengths[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  for (std::size_t limit = 0; limit < std::size(lengths); ++limit) {
    SCOPED_TRACE(limit);
    EXPECT_EQ(prefix_at_character(text, limit), text.substr(0, lengths[limit]));
  }
}

TEST(PrefixAtCharacter, CutsWhatIsNoUtf8AtTheLimit) {
  EXPECT_EQ(prefix_at_character("\x80\x80\x80\x80\x80\x80", 4), "\x80\x80\x80\x80");
  EXPECT_EQ(prefix_at_character("ab\x80\x80\x80\x80", 4), "ab\x80\x80");
  EXPECT_EQ(prefix_at_character("a\xC3zz", 2), "a\xC3");
}

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join({"a"}, ", "), "a");
  EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join({"", ""}, ","), ",");
}

TEST(EqualsIgnoringCase, KnowsAsciiOnly) {
  EXPECT_TRUE(equals_ignoring_case("Content-Type", "content-TYPE"));
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
  EXPECT_FALSE(equals_ignoring_case("[", "{"));  // differ by 0x20 as letters do
  EXPECT_FALSE(equals_ignoring_case("\xC3\x84", "\xC3\xA4"));
}

TEST(Trim, TakesWhiteSpaceOffBothEnds) {
  EXPECT_EQ(trim("  a b\t\r\n"), "a b");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("a"), "a");
}

}  // namespace
}  // namespace xila::base
