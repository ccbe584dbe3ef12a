#include "xila/base/duration.hpp"

#include <gtest/gtest.h>

namespace xila::base {
namespace {

using namespace std::chrono_literals;

TEST(Duration, ReadsWhatGoReads) {
  const std::pair<const char*, std::chrono::nanoseconds> cases[] = {
      {"0", 0ns},
      {"10s", 10s},
      {"300ms", 300ms},
      {"1.5h", 90min},
      {"1m30s", 90s},
      {"2h45m", 165min},
      {".5s", 500ms},
      {"3.s", 3s},
      {"1us", 1us},
      {"1\u00b5s", 1us},
      {"7ns", 7ns},
      {"0s", 0ns},
      {"1h0m0.001s", 1h + 1ms},
  };
  for (const auto& [text, expected] : cases) {
    SCOPED_TRACE(text);
    const auto duration = parse_duration(text);
    ASSERT_TRUE(duration) << duration.error().message;
    EXPECT_EQ(*duration, expected);
  }
}

TEST(Duration, RefusesEverythingElse) {
  for (const char* text : {"", "10", "s", "-5s", "+5s", " 5s", "5s ", "5 s", "5sec", "1d", "..5s",
                           ".s", "1e3s", "9999999999h", "5s3", "NaNs", "infs"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(parse_duration(text));
  }
}

TEST(Duration, SaysWhatIsWrong) {
  EXPECT_EQ(
      parse_duration("10").error().message,
      "\"10\" is not a duration: a unit is missing or unknown, expected for example 30s or 1m30s");
}

TEST(Duration, WritesWhatItReads) {
  const std::pair<std::chrono::milliseconds, const char*> cases[] = {
      {0ms, "0s"}, {10s, "10s"}, {90s, "1m30s"}, {250ms, "250ms"}, {1h + 1s + 5ms, "1h1s5ms"}};
  for (const auto& [duration, expected] : cases) EXPECT_EQ(to_text(duration), expected);
}

}  // namespace
}  // namespace xila::base
