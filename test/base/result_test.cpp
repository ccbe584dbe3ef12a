#include "xila/base/result.hpp"

#include <gtest/gtest.h>

namespace xila::base {
namespace {

Result<int> parse_digit(char c) {
  if (c < '0' || c > '9') return fail("not a digit");
  return c - '0';
}

TEST(Result, CarriesAValueOrASentence) {
  EXPECT_EQ(parse_digit('7'), 7);
  ASSERT_FALSE(parse_digit('x').has_value());
  EXPECT_EQ(parse_digit('x').error(), Error{"not a digit"});
}

}  // namespace
}  // namespace xila::base
