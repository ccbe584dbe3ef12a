#include "xila/kube/backoff.hpp"

#include <gtest/gtest.h>

namespace xila::kube {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesUpToItsCapJitterIncluded) {
  struct Case {
    int attempt;
    double random;
    std::chrono::milliseconds cap;
    std::chrono::milliseconds delay;
  };
  const Case cases[] = {
      {0, 0.0, 30s, 800ms},      {0, 0.5, 30s, 1200ms},    {1, 0.0, 30s, 1600ms},
      {4, 0.0, 30s, 12800ms},    {5, 0.0, 30s, 15s},       {5, 1.0, 30s, 30s},
      {1000, 0.5, 30s, 22500ms}, {0, 0.0, 8s, 800ms},      {3, 0.0, 8s, 4s},
      {3, 1.0, 8s, 8s},          {1'000'000, 1.0, 8s, 8s},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(delay_before(c.attempt, {.cap = c.cap}, c.random), c.delay)
        << c.attempt << " " << c.random;
  }
}

TEST(Backoff, IsNeverZero) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    EXPECT_GE(delay_before(attempt, {.cap = 8s}, 0.0), 800ms);
  }
}

}  // namespace
}  // namespace xila::kube
