#include "xila/base/timestamp.hpp"

#include <gtest/gtest.h>

namespace xila::base {
namespace {

using std::chrono::microseconds;
using std::chrono::system_clock;

TEST(Timestamp, IsReadAndWritten) {
  struct Case {
    const char* text;
    std::int64_t microseconds;
    const char* written;
  };
  const Case cases[] = {
      {"1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00.000000Z"},
      {"2026-12-01T10:00:00Z", 1796119200000000, "2026-12-01T10:00:00.000000Z"},
      {"2026-12-01T10:00:00.5Z", 1796119200500000, "2026-12-01T10:00:00.500000Z"},
      {"2026-12-01T10:00:00.123456789Z", 1796119200123456, "2026-12-01T10:00:00.123456Z"},
      {"2024-02-29T23:59:60Z", 1709251200000000, "2024-03-01T00:00:00.000000Z"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto time = parse_timestamp(c.text);
    ASSERT_TRUE(time);
    EXPECT_EQ(time->time_since_epoch(), microseconds(c.microseconds));
    EXPECT_EQ(to_timestamp(*time), c.written);
  }
}

TEST(Timestamp, RefusesWhatIsNone) {
  for (const char* text : {"", "2026-12-01", "2026-12-01T10:00:00", "2026-12-01T10:00:00+01:00",
                           "2026-02-30T10:00:00Z", "2026-13-01T10:00:00Z", "2026-12-01T24:00:00Z",
                           "2026-12-01T10:60:00Z", "2026-12-01T10:00:00.Z", "2026-12-01T10:00:00.5",
                           "2026-12-01T10:00:00Zx", "2026-12-01t10:00:00Z", "-026-12-01T10:00:00Z",
                           "2026-1x-01T10:00:00Z", "+026-12-01T10:00:00Z"}) {
    EXPECT_FALSE(parse_timestamp(text)) << text;
  }
}

TEST(Timestamp, BeforeTheEpoch) {
  EXPECT_EQ(to_timestamp(system_clock::time_point(microseconds(-1))),
            "1969-12-31T23:59:59.999999Z");
}

}  // namespace
}  // namespace xila::base
