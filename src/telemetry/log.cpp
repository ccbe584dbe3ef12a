#include "xila/telemetry/log.hpp"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "background_thread.hpp"
#include "descriptor.hpp"
#include "json_text.hpp"

namespace xila::telemetry {
namespace {

constexpr std::size_t kQueueLines = 1024;  // spdlog keeps about 350 bytes for each, used or not
constexpr std::size_t kMaxValueBytes =
    8192;  // before escaping; a denial's message is at most 4 KiB
constexpr std::chrono::seconds kStopBound{
    2};  // how long a reader that stands still may hold up the end

// Counts and forgets what stderr does not take: there is nobody left to tell.
class StderrSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

  // True when everything queued before the call to flush() is written.
  bool wait_until_flushed(std::chrono::milliseconds bound) {
    std::unique_lock lock(mutex_);
    return flushed_changed_.wait_for(lock, bound, [this] { return flushed_; });
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const Written written =
        write_all(STDERR_FILENO, {line.data(), line.size()}, [] { return false; });
    if (written.error != 0) lost_.fetch_add(1, std::memory_order_relaxed);
  }
  void flush_() override {
    const std::lock_guard lock(mutex_);
    flushed_ = true;
    flushed_changed_.notify_all();
  }

 private:
  std::atomic<std::uint64_t> lost_{0};
  std::mutex mutex_;
  std::condition_variable flushed_changed_;
  bool flushed_ = false;
};

struct Logging {
  LogFormat format = LogFormat::text;
  std::shared_ptr<StderrSink> sink;
  // Destroyed after the threads: each queued message holds the logger as well, and the last of them
  // would destroy it on the logging thread, out of the thread sanitizer's sight (libspdlog.so).
  std::shared_ptr<spdlog::async_logger> logger;
  std::shared_ptr<spdlog::details::thread_pool> threads;

  std::uint64_t dropped() const { return threads->overrun_counter() + sink->lost(); }
};

constexpr int kOff = 100;

struct Shared {
  std::atomic<int> least_level{kOff};  // read without the mutex: most calls end there
  std::mutex mutex;
  std::shared_ptr<Logging> logging;
  std::uint64_t dropped_before = 0;             // of loggings that were stopped
  std::vector<std::shared_ptr<Logging>> ended;  // kept for good, see stop_logging
};

// Never destroyed: its thread may stand in write(2) for ever, and the process must end all the
// same.
Shared& shared() {
  static auto& instance = *new Shared;
  return instance;
}

std::string_view name_of(LogLevel level) {
  constexpr std::string_view kNames[] = {"debug", "info", "warn", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

// A text that needs no quotes to be one word of a line.
bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= kMaxValueBytes && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._/:@+*,%").find(c) != std::string_view::npos;
  });
}

void append_value(std::string& line, const Field::Value& value, LogFormat format) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    if (format == LogFormat::text && is_word(*text)) {
      line += *text;
    } else {
      append_json_text(line, *text, kMaxValueBytes);
    }
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    line += std::to_string(*number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    append_json_number(line, *real);
  } else {
    line += std::get<bool>(value) ? "true" : "false";
  }
}

// `info  reload_done what=profiles`; the pattern puts the time before it.
std::string text_line(LogLevel level, std::string_view event, Fields fields) {
  std::string line(name_of(level));
  line.resize(6, ' ');
  line += event;
  for (const Field& field : fields) {
    line.append(" ").append(field.key).append("=");
    append_value(line, field.value, LogFormat::text);
  }
  return line;
}

// `"level":"info","event":"reload_done","what":"profiles"`; the pattern puts the time and the
// braces around it.
std::string json_members(LogLevel level, std::string_view event, Fields fields) {
  std::string line;
  line.append("\"level\":\"").append(name_of(level)).append("\",\"event\":");
  append_json_text(line, event, kMaxValueBytes);
  for (const Field& field : fields) {
    line += ',';
    append_json_text(line, field.key, kMaxValueBytes);
    line += ':';
    append_value(line, field.value, LogFormat::json);
  }
  return line;
}

void write(LogLevel level, std::string_view event, Fields fields) {
  Shared& state = shared();
  if (static_cast<int>(level) < state.least_level.load(std::memory_order_relaxed)) return;
  std::shared_ptr<Logging> logging;
  {
    const std::lock_guard lock(state.mutex);
    logging = state.logging;
  }
  if (!logging) return;
  const std::string line = logging->format == LogFormat::json ? json_members(level, event, fields)
                                                              : text_line(level, event, fields);
  logging->logger->log(spdlog::level::info, spdlog::string_view_t(line));
}

std::unique_ptr<spdlog::formatter> formatter_for(LogFormat format) {
  const char* pattern = format == LogFormat::json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})"
                                                  : "%Y-%m-%dT%H:%M:%S.%eZ %v";
  return std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc, "\n");
}

}  // namespace

base::Result<LogFormat> log_format(std::string_view text) {
  if (text == "text") return LogFormat::text;
  if (text == "json") return LogFormat::json;
  return base::fail("log format must be text or json");
}

base::Result<LogLevel> log_level(std::string_view text) {
  for (const LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::warn, LogLevel::error}) {
    if (text == name_of(level)) return level;
  }
  return base::fail("log level must be debug, info, warn or error");
}

void start_logging(LogFormat format, LogLevel level) {
  auto logging = std::make_shared<Logging>();
  logging->format = format;
  logging->sink = std::make_shared<StderrSink>();
  logging->sink->set_formatter(formatter_for(format));
  logging->threads = std::make_shared<spdlog::details::thread_pool>(
      kQueueLines, 1, [] { begin_background_thread("xila-log"); });
  logging->logger = std::make_shared<spdlog::async_logger>(
      "xila", logging->sink, logging->threads, spdlog::async_overflow_policy::overrun_oldest);
  Shared& state = shared();
  const std::lock_guard lock(state.mutex);
  state.logging = std::move(logging);
  state.least_level = static_cast<int>(level);
}

void stop_logging() {
  Shared& state = shared();
  std::shared_ptr<Logging> logging;
  {
    const std::lock_guard lock(state.mutex);
    state.least_level = kOff;
    logging = std::move(state.logging);
    state.logging = nullptr;
  }
  if (!logging) return;
  logging->logger->flush();
  logging->sink->wait_until_flushed(kStopBound);
  const std::lock_guard lock(state.mutex);
  state.dropped_before += logging->dropped();
  // The pool's destructor waits without a bound for a thread that may stand in write(2). And
  // whichever thread let go of the logger last would destroy it, in counts that ThreadSanitizer
  // does not see, since they are in spdlog's library.
  state.ended.push_back(std::move(logging));
}

std::uint64_t dropped_log_lines() {
  Shared& state = shared();
  const std::lock_guard lock(state.mutex);
  return state.dropped_before + (state.logging ? state.logging->dropped() : 0);
}

void debug(std::string_view event, Fields fields) {
  write(LogLevel::debug, event, fields);
}
void info(std::string_view event, Fields fields) {
  write(LogLevel::info, event, fields);
}
void warn(std::string_view event, Fields fields) {
  write(LogLevel::warn, event, fields);
}
void error(std::string_view event, Fields fields) {
  write(LogLevel::error, event, fields);
}

}  // namespace xila::telemetry
