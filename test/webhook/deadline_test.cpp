#include "deadline.hpp"

#include <gtest/gtest.h>

namespace xila::webhook {
namespace {

using namespace std::chrono_literals;

TEST(TimeForAnswer, IsTheApiServersAtMostOurs) {
  struct Case {
    const char* query;
    std::chrono::milliseconds time;
  };
  const Case cases[] = {
      {"timeout=5s", 5000ms},
      {"timeout=10s", 10'000ms},
      {"timeout=30s", 10'000ms},
      {"timeout=1m30s", 10'000ms},
      {"timeout=1.5s", 1500ms},
      {"timeout=250ms", 250ms},
      {"timeout=1s500ms", 1500ms},
      {"timeout=1500us", 1ms},
      {"timeout=1ns", 0ms},
      {"dryRun=All&timeout=2s", 2000ms},
      {"timeout=2s&timeout=3s", 2000ms},
      {"&&timeout=2s&", 2000ms},
      {"", 10'000ms},
      {"timeout", 10'000ms},
      {"timeout=", 10'000ms},
      {"timeout=0", 10'000ms},
      {"timeout=0s", 10'000ms},
      {"timeout=-5s", 10'000ms},
      {"timeout=5", 10'000ms},
      {"timeout=5 s", 10'000ms},
      {"timeout=soon", 10'000ms},
      {"timeout=99999999999999999999h", 10'000ms},
      {"xtimeout=2s", 10'000ms},
      {"timeoutx=2s", 10'000ms},
      {"a=timeout=2s", 10'000ms},
      {"TIMEOUT=2s", 10'000ms},
  };
  for (const Case& c : cases) EXPECT_EQ(time_for_answer(c.query, 10s), c.time) << c.query;
}

TEST(Deadlines, LeaveTimeForTheDenial) {
  struct Case {
    std::chrono::milliseconds time;
    std::chrono::milliseconds look_up;
    std::chrono::milliseconds give_up;
  };
  const Case cases[] = {
      {10s, 8s, 8500ms},   {5s, 4s, 4250ms}, {1s, 800ms, 850ms}, {400ms, 200ms, 250ms},
      {100ms, 50ms, 62ms}, {1ms, 1ms, 1ms},  {0ms, 0ms, 0ms},
  };
  const kube::Deadline begin{};
  for (const Case& c : cases) {
    const Deadlines until = deadlines(begin, c.time);
    EXPECT_EQ(until.look_up - begin, c.look_up) << c.time.count();
    EXPECT_EQ(until.give_up - begin, c.give_up) << c.time.count();
  }
}

}  // namespace
}  // namespace xila::webhook
