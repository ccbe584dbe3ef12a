#include "xila/telemetry/log.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "telemetry/captured_stderr.hpp"

namespace xila::telemetry {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;
using testing::SizeIs;

constexpr std::size_t kTimeBytes = std::string_view("2026-12-01T10:00:00.123Z ").size();

// What a tenant would write to break or forge a line.
const std::string kHostile[] = {
    "\n2026-12-01T10:00:00.000Z info  denied uid=forged",
    "a\" allowed=\"true",
    "\\\" trailing \\",
    "\",\"event\":\"forged\",\"x\":\"",
    std::string("nul\0nul", 7),
    "\x1b[2K\rerased",
    "C1 \xc2\x9b"
    "31m",
    "line \xe2\x80\xa8 separator",
    "not utf-8 \xff\xfe \xc3",
    "override \xe2\x80\xae",
    "a b=c",
    "",
    std::string(20'000, '\n'),
};

TEST(Log, TextLineIsTimeLevelEventAndFields) {
  const auto lines = logged(LogFormat::text, LogLevel::debug, [] {
    info("config_loaded", {{"generation", 3}, {"file", "/etc/profiles.yaml"}});
    warn("watch_restarted", {{"reason", "410 Gone"}, {"relist", true}});
    error("x", {{"ratio", 0.5}, {"uid", "705ab4f5-6393"}, {"none", ""}});
    debug("y");
  });
  ASSERT_THAT(lines, SizeIs(4));
  const std::regex time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z .*)");
  for (const std::string& line : lines) EXPECT_TRUE(std::regex_match(line, time)) << line;
  EXPECT_EQ(lines[0].substr(kTimeBytes),
            "info  config_loaded generation=3 file=/etc/profiles.yaml");
  EXPECT_EQ(lines[1].substr(kTimeBytes), "warn  watch_restarted reason=\"410 Gone\" relist=true");
  EXPECT_EQ(lines[2].substr(kTimeBytes), "error x ratio=0.5 uid=705ab4f5-6393 none=\"\"");
  EXPECT_EQ(lines[3].substr(kTimeBytes), "debug y");
}

TEST(Log, JsonLineIsOneObject) {
  const auto lines = logged(LogFormat::json, LogLevel::debug, [] {
    warn("watch_restarted", {{"resource", "pods"},
                             {"reason", "410 \"Gone\""},
                             {"backoff_ms", 800},
                             {"share", 0.25},
                             {"nan", std::nan("")},
                             {"relist", true}});
  });
  ASSERT_THAT(lines, SizeIs(1));
  auto line = nlohmann::ordered_json::parse(lines[0]);
  EXPECT_THAT(line["time"].get<std::string>(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z"));
  line.erase("time");
  EXPECT_EQ(
      line.dump(),
      R"({"level":"warn","event":"watch_restarted","resource":"pods","reason":"410 \"Gone\"",)"
      R"("backoff_ms":800,"share":0.25,"nan":null,"relist":true})");
}

TEST(Log, NoTextBreaksOrForgesALine) {
  for (const LogFormat format : {LogFormat::text, LogFormat::json}) {
    for (const std::string& hostile : kHostile) {
      SCOPED_TRACE(hostile.substr(0, 60));
      const auto lines = logged(format, LogLevel::info, [&hostile] {
        info("denied", {{"name", hostile}, {"after", "end"}});
      });
      ASSERT_THAT(lines, SizeIs(1));
      for (const char c : lines[0]) EXPECT_GE(static_cast<unsigned char>(c), ' ');
      if (format == LogFormat::json) {
        const auto line = nlohmann::json::parse(lines[0]);  // throws on invalid UTF-8 too
        EXPECT_EQ(line.at("event"), "denied");
        EXPECT_EQ(line.at("after"), "end");
        EXPECT_EQ(line.size(), 5);
      } else {
        const std::regex whole(R"( *info  denied name=("([^"\\]|\\.)*"|[^ "]+) after=end)");
        // The value that is cut is too long for std::regex, which recurses.
        if (hostile.size() < 1000) {
          EXPECT_TRUE(std::regex_match(lines[0].substr(kTimeBytes), whole)) << lines[0];
        }
      }
    }
  }
}

TEST(Log, LongTextIsCut) {
  const auto lines = logged(LogFormat::text, LogLevel::info,
                            [] { info("e", {{"name", std::string(1 << 20, 'x')}}); });
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_LT(lines[0].size(), 8300U);
  EXPECT_TRUE(lines[0].ends_with("xxx...\""));
}

TEST(Log, WritesNothingBelowItsLevel) {
  const auto lines = logged(LogFormat::text, LogLevel::warn, [] {
    debug("d");
    info("i");
    warn("w");
    error("e");
  });
  EXPECT_THAT(lines, ElementsAre(MatchesRegex(".* warn  w"), MatchesRegex(".* error e")));
}

TEST(Log, DropsLinesBeforeItsStartAndAfterItsEnd) {
  testing::internal::CaptureStderr();
  error("before");
  start_logging(LogFormat::text, LogLevel::debug);
  stop_logging();
  error("after");
  stop_logging();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Log, WritesOutWhatIsQueuedAtTheEnd) {
  const auto lines = logged(LogFormat::text, LogLevel::info, [] {
    for (int i = 0; i < 1000; ++i) info("line", {{"i", i}});
  });
  ASSERT_THAT(lines, SizeIs(1000));
  EXPECT_TRUE(lines.back().ends_with("i=999"));
}

TEST(Log, KeepsLinesOfManyThreadsWhole) {
  const auto lines = logged(LogFormat::json, LogLevel::info, [] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 200; ++i) info("line", {{"text", "a\nb"}});
      });
    }
  });
  EXPECT_THAT(lines, SizeIs(800));
  for (const std::string& line : lines) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
}

// A child process, since the stuck writer is left behind for good.
[[noreturn]] void log_to_a_pipe_that_nobody_reads() {
  int ends[2];
  if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) ::_exit(1);
  start_logging(LogFormat::json, LogLevel::info);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20'000; ++i) info("denied", {{"message", std::string(200, 'x')}});
  const bool is_dropping = dropped_log_lines() > 10'000;
  stop_logging();
  const bool is_bounded = std::chrono::steady_clock::now() - begin < std::chrono::seconds(20);
  ::_exit(is_dropping && is_bounded ? 0 : 2);
}

TEST(LogDeathTest, APipeThatNobodyReadsHoldsNobodyUp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(log_to_a_pipe_that_nobody_reads(), testing::ExitedWithCode(0), "");
}

[[noreturn]] void log_to_a_reader_that_left() {
  int ends[2];
  if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) ::_exit(1);
  ::signal(SIGPIPE, SIG_DFL);
  ::close(ends[0]);
  start_logging(LogFormat::text, LogLevel::info);
  info("denied");
  stop_logging();
  ::_exit(dropped_log_lines() == 1 ? 0 : 2);
}

TEST(LogDeathTest, AReaderThatLeftDoesNotEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(log_to_a_reader_that_left(), testing::ExitedWithCode(0), "");
}

TEST(LogOptions, AreReadStrictly) {
  EXPECT_EQ(log_format("text").value(), LogFormat::text);
  EXPECT_EQ(log_format("json").value(), LogFormat::json);
  EXPECT_EQ(log_format("JSON").error().message, "log format must be text or json");
  EXPECT_EQ(log_level("debug").value(), LogLevel::debug);
  EXPECT_EQ(log_level("error").value(), LogLevel::error);
  EXPECT_EQ(log_level("").error().message, "log level must be debug, info, warn or error");
}

}  // namespace
}  // namespace xila::telemetry
