#include "plain_scalar.hpp"

#include <gtest/gtest.h>

namespace xila::config {
namespace {

TEST(OtherType, NamesWhatSomeReaderOfYamlWouldMakeOfIt) {
  struct Case {
    std::string_view type;
    std::vector<std::string_view> texts;
  };
  const Case cases[] = {
      {"null", {"", "~", "null", "Null", "NULL"}},
      {"a boolean",
       {"y",  "Y",   "n",   "N",   "yes", "Yes",  "YES",  "no",   "No",    "NO",    "on",   "On",
        "ON", "off", "Off", "OFF", "oFF", "true", "True", "TRUE", "false", "False", "FALSE"}},
      {"a number",
       {"0",      "1",    "-1",    "+1",   "007",       "0777",         "08",
        "1_000",  "0x1F", "-0x1f", "0X1F", "0b101",     "0o17",         "1.5",
        ".5",     "5.",   "-.5",   "1e6",  "1E+6",      "1.e-3",        ".inf",
        "-.INF",  ".nan", ".NaN",  "1:30", "190:20:30", "190:20:30.15", "12345678901234567890",
        "1_2.3_4"}},
      {"a timestamp",
       {"2001-12-14", "2001-1-1", "2001-12-14T21:59:43.10-05:00", "2001-12-14 21:59:43"}},
      {"", {"volcano",     "v1",    "1.2.3", "1-2",      "-",        ".",       "..",
            "_1",          "e6",    "1e",    "0x",       "0xg",      "0b2",     "1:",
            ":1",          "1:300", "yess",  "nope",     "true-ish", "2001-12", "2001-12-14x",
            "20011-12-14", "+",     "1 2",   "infinity", "nan",      "=",       "a b"}},
  };
  for (const Case& c : cases) {
    for (const std::string_view text : c.texts)
      EXPECT_EQ(other_type(text), c.type) << '"' << text << '"';
  }
}

}  // namespace
}  // namespace xila::config
