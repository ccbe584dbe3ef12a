#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "xila/base/result.hpp"

namespace xila::telemetry {

enum class LogFormat : std::uint8_t { text, json };
enum class LogLevel : std::uint8_t { debug, info, warn, error };

base::Result<LogFormat> log_format(std::string_view text);
base::Result<LogLevel> log_level(std::string_view text);

// Starts logging to stderr, off the caller's thread: a full pipe drops the oldest lines and counts
// them, it never holds a review up. Call once, before any thread; without it lines are dropped.
void start_logging(LogFormat format, LogLevel level);
// Writes out what is queued. Call before the process ends.
void stop_logging();
// Lines dropped since the start because the reader of stderr was too slow.
std::uint64_t dropped_log_lines();

// One field of a line. Texts are escaped: nothing that a tenant wrote can break or forge a line.
struct Field {
  using Value = std::variant<std::string_view, std::int64_t, double, bool>;

  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const std::string& v) : key(k), value(std::string_view(v)) {}
  Field(std::string_view k, const char* v) : key(k), value(std::string_view(v)) {}
  Field(std::string_view k, bool v) : key(k), value(v) {}
  Field(std::string_view k, double v) : key(k), value(v) {}
  Field(std::string_view k, std::integral auto v) : key(k), value(static_cast<std::int64_t>(v)) {}

  std::string_view key;
  Value value;
};

using Fields = std::initializer_list<Field>;

// A line: `event` is fixed and snake_case, so that it can be searched for; what varies is a field,
// with its unit in the key. The level says whose move it is:
//   error  we failed to do our job, a person should look
//   warn   outside the normal course, we go on
//   info   a state that lasts changed; a denial
//   debug  one line per request
void debug(std::string_view event, Fields fields = {});
void info(std::string_view event, Fields fields = {});
void warn(std::string_view event, Fields fields = {});
void error(std::string_view event, Fields fields = {});

}  // namespace xila::telemetry
