// What is refused of a document before anything in it is read.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <set>
#include <string>

#include "codec/review_text.hpp"

namespace xila::codec {
namespace {

std::string error_of(std::string text) {
  const base::Result<policy::Review> review = decode(std::move(text));
  return review ? "" : review.error().message;
}

// The field `x` stands in a part of the Pod that no check reads.
std::string with_unread(std::string_view value) {
  return create_of(R"({"spec":{"containers":[{}]},"x":)" + std::string(value) + "}");
}

TEST(Document, RefusesAKeyThatStandsTwice) {
  struct Case {
    std::string text;
    std::string key;
  };
  const std::string good = create_of(kGoodPod);
  const Case cases[] = {
      {R"({"kind":"x",)" + good.substr(1), "kind"},
      {review_with(R"("uid":"u-2")"), "request.uid"},
      {review_with(R"("request":1,"object":{},"object":{})"), "request.object"},
      {with_unread(R"({"a":1,"b":2,"a":1})"), "request.object.x.a"},
      {with_unread(R"([0,[{"":1,"":2}]])"), "request.object.x[1][0][]"},
      {with_unread(R"({"a/b":{},"a/b":[]})"), "request.object.x[a/b]"},
      {with_unread(R"({"a":{"b":{}},"c":{"d":{"e":[],"f":0,"e":null}}})"),
       "request.object.x.c.d.e"},
      {with_unread(R"({"\u0061\u0062":1,"ab":2})"), "request.object.x.ab"},
      {with_unread(R"({"a\u0000b":1,"a\u0000b":2})"), "request.object.x[a\\u0000b]"},
      {create_of(container_with(
           R"("securityContext":{"privileged":false},"securityContext":{"privileged":true})")),
       "request.object.spec.containers[0].securityContext"},
      {create_of(R"({"spec":{"containers":[{}]},"\u0073pec":{}})"), "request.object.spec"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(error_of(c.text), "the document has a key twice: " + c.key);
  }
}

TEST(Document, TakesKeysThatDiffer) {
  const std::string_view cases[] = {
      R"({"a":{"a":{"a":1}},"b":{"a":1}})",
      R"([{"a":1},{"a":1}])",
      R"({"a":1,"A":1," a":1,"a ":1,"a\u0000":1,"":1})",
      R"({"abcd_1_efgh":1,"abcd_2_efgh":2})",
      R"({"a":1,"b":{},"c":[],"d":{"a":[]}})",
  };
  for (const std::string_view value : cases) {
    SCOPED_TRACE(value);
    EXPECT_EQ(error_of(with_unread(value)), "");
  }
}

// `count` keys that differ in their middle, where a cheap comparison does not look, then `last`.
std::string many_keys(std::size_t count, const std::string& last) {
  std::string object = "{";
  for (std::size_t i = 0; i < count; ++i) {
    std::string number = std::to_string(i);
    number.insert(0, 7 - number.size(), '0');
    object += "\"some-long-prefix-" + number + "-and-then-quite-a-long-suffix\":0,";
  }
  return object + "\"" + last + "\":0}";
}

TEST(Document, FindsAKeyTwiceAmongAnyNumber) {
  for (const std::size_t count : {1U, 2U, 15U, 16U, 17U, 63U, 64U, 65U, 1'000U}) {
    SCOPED_TRACE(count);
    EXPECT_EQ(error_of(with_unread(many_keys(count, "other"))), "");
    EXPECT_EQ(error_of(with_unread(
                  many_keys(count, "some-long-prefix-0000000-and-then-quite-a-long-suffix"))),
              "the document has a key twice: "
              "request.object.x.some-long-prefix-0000000-and-then-quite-a-long-suffix");
  }
}

// Writes objects and arrays at random, of few different keys, and knows whether one got a key
// twice.
class RandomDocument {
 public:
  explicit RandomDocument(std::uint32_t seed) : random_(seed) { text_ = object(0); }

  const std::string& text() const { return text_; }
  bool has_twins() const { return has_twins_; }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  // Of any length up to 20, and alike: some differ in one character only, anywhere.
  std::string key() {
    std::string text(below(21), 'k');
    if (!text.empty()) text[below(text.size())] = static_cast<char>('a' + below(26));
    return text;
  }

  std::string value(std::size_t depth) {
    static constexpr std::string_view kScalars[] = {
        "0", "-1", "18446744073709551615", "2.5", "true", "null", R"("")", R"("kkkk")", "{}", "[]"};
    if (depth == 6 || below(3) > 0) return std::string(kScalars[below(std::size(kScalars))]);
    return below(2) == 0 ? object(depth + 1) : array(depth + 1);
  }

  std::string object(std::size_t depth) {
    std::set<std::string> keys;
    std::string parts;
    for (std::size_t left = below(below(8) == 0 ? 90 : 6); left > 0; --left) {
      const std::string name = key();
      has_twins_ |= !keys.insert(name).second;
      parts += (parts.empty() ? "\"" : ",\"") + name + "\":" + value(depth);
    }
    return "{" + parts + "}";
  }

  std::string array(std::size_t depth) {
    std::string parts;
    for (std::size_t left = below(5); left > 0; --left) {
      parts += (parts.empty() ? "" : ",") + value(depth);
    }
    return "[" + parts + "]";
  }

  std::mt19937 random_;
  std::string text_;
  bool has_twins_ = false;
};

TEST(Document, TellsRandomDocumentsWithAKeyTwiceFromThoseWithout) {
  std::size_t with = 0;
  for (std::uint32_t seed = 0; seed < 4'000; ++seed) {
    SCOPED_TRACE(seed);
    const RandomDocument document(seed);
    const std::string error = error_of(with_unread(document.text()));
    ASSERT_EQ(error.starts_with("the document has a key twice: "), document.has_twins()) << error;
    with += document.has_twins() ? 1 : 0;
  }
  EXPECT_GT(with, 400U);
  EXPECT_LT(with, 3'600U);
}

TEST(Document, SearchesAHundredThousandKeysInNoTime) {
  const std::string text = with_unread(many_keys(100'000, "other"));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of(text), "");
  // 40 ms in a release build; comparing each pair would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// An object or array in `levels` levels, of which the review itself makes the first three.
std::string nested(std::size_t levels, std::string_view open, std::string_view close,
                   std::string_view core) {
  std::string text;
  for (std::size_t i = 3; i < levels; ++i) text += open;
  text += core;
  for (std::size_t i = 3; i < levels; ++i) text += close;
  return with_unread(text);
}

TEST(Document, BoundsTheDepth) {
  const std::string deep = "the document is nested deeper than 200 levels";
  EXPECT_EQ(error_of(nested(199, "[", "]", "0")), "");
  EXPECT_EQ(error_of(nested(200, "[", "]", "0")), "");
  EXPECT_EQ(error_of(nested(201, "[", "]", "0")), deep);
  EXPECT_EQ(error_of(nested(200, R"({"a":)", "}", "0")), "");
  EXPECT_EQ(error_of(nested(201, R"({"a":)", "}", "0")), deep);
  EXPECT_EQ(error_of(nested(100'000, "[", "]", "0")), deep);
  EXPECT_NE(error_of(std::string(1'000'000, '[')), "");
  EXPECT_EQ(error_of(create_of(kGoodPod)), "");
}

TEST(Document, RefusesBadJson) {
  const std::string good = create_of(kGoodPod);
  ASSERT_EQ(error_of(good + " \r\n\t"), "");
  const std::string cases[] = {
      good + "x",
      good + good,
      good + ",",
      good + std::string(1, '\0'),
      "\xef\xbb\xbf" + good,  // a byte order mark
      good.substr(0, good.size() - 1),
      "{'a':1}",
      "{a:1}",
      R"({"a":1,})",
      R"({"a":01})",
      R"({"a":+1})",
      R"({"a":.5})",
      R"({"a":NaN})",
      R"({"a":tru})",
      R"({"a":nullx})",
      R"({"a":"\x"})",
      R"({"a":"\u12"})",
      R"({"a":1 "b":2})",
      R"({"a"})",
      R"({1:2})",
      "{\"a\":\"line\nbreak\"}",
      "{\"a\":1}/* comment */",
  };
  for (const std::string& text : cases) {
    SCOPED_TRACE(text);
    EXPECT_EQ(error_of(text).substr(0, 30), "the document is not valid JSON");
    EXPECT_EQ(error_of(text).find('\n'), std::string::npos);
  }
}

TEST(Document, RefusesWhatIsNoUtf8) {
  const std::string_view cases[] = {
      "\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80",
  };
  for (const std::string_view bytes : cases) {
    EXPECT_EQ(error_of(with_unread("\"" + std::string(bytes) + "\"")),
              "the document is not valid UTF-8");
    EXPECT_EQ(error_of(with_unread("{\"" + std::string(bytes) + "\":1}")),
              "the document is not valid UTF-8");
  }
  // Half of a pair, written as an escape, would become bytes that are no UTF-8.
  EXPECT_NE(error_of(with_unread(R"("\ud800")")), "");
  EXPECT_NE(error_of(with_unread(R"("\udc00")")), "");
}

TEST(Document, TakesSizesFromNothingToMegabytes) {
  for (const std::size_t size :
       {0U, 1U, 63U, 64U, 65'000U, 70'000U, 1'100'000U, 6'000'000U, 100U}) {
    SCOPED_TRACE(size);
    EXPECT_EQ(error_of(with_unread("\"" + std::string(size, 'x') + "\"")), "");
  }
}

}  // namespace
}  // namespace xila::codec
