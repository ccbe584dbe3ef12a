#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "background_thread.hpp"
#include "descriptor.hpp"
#include "xila/base/result.hpp"
#include "xila/telemetry/log.hpp"
#include "xila/telemetry/metrics.hpp"

// A file of lines that a thread of its own writes. For an Entry there are
//
//   std::size_t bytes_of(const Entry&);               about the memory that it holds
//   void append_line(std::string&, const Entry&);     its line, with the newline
namespace xila::telemetry {

inline constexpr std::size_t kMaxQueuedBytes = std::size_t{32} << 20;
inline constexpr std::size_t kChunkBytes = std::size_t{64} << 10;  // about what one write(2) gets
inline constexpr std::chrono::seconds kReportEvery{60};
inline constexpr std::chrono::seconds kDrainBound{2};  // for what is queued when the file ends
// For a write that waits to notice the end.
inline constexpr std::chrono::milliseconds kLetGoBound{500};

// How a file is called where it shows. Literals: they outlive every thread.
struct LineFileNames {
  const char* thread;         // at most 15 bytes
  const char* text;           // in errors: "audit log"
  const char* label;          // in xila_guard_reloads_total: "audit_log"
  const char* dropped_event;  // log events
  const char* reopened_event;
  const char* reopen_failed_event;
};

// "-" is stdout. Error: `names.text`, the path and why.
base::Result<int> open_line_file(const std::filesystem::path& path, const LineFileNames& names);

// Shared by the log and its thread, and by the thread alone once a write that never returns had to
// be left behind.
template <class Entry>
class LineWriter {
 public:
  LineWriter(int descriptor, const LineFileNames& names, Counter<0> dropped,
             std::size_t queue_length)
      : descriptor_(descriptor), names_(names), queue_length_(queue_length), dropped_(dropped) {}

  void push(Entry entry) {
    const std::size_t bytes = bytes_of(entry);
    {
      const std::lock_guard lock(mutex_);
      if (queue_.size() >= queue_length_ || queued_bytes_ + bytes > kMaxQueuedBytes) {
        return lose(1, "queue full");
      }
      queued_bytes_ += bytes;
      queue_.push_back(std::move(entry));
    }
    wake_.notify_one();
  }

  void use(int descriptor) {
    {
      const std::lock_guard lock(mutex_);
      if (next_descriptor_) ::close(*next_descriptor_);
      next_descriptor_ = descriptor;
    }
    wake_.notify_one();
  }

  // The thread's whole life.
  void run() {
    begin_background_thread(names_.thread);
    std::deque<Entry> batch;
    while (take(batch)) {
      write(batch);
      batch.clear();
    }
    ::close(descriptor_);
    const std::lock_guard lock(mutex_);
    is_finished_ = true;
    finished_.notify_all();
  }

  // True when everything queued is written or lost and the thread is at its end; false when a write
  // does not return. Nothing but run() is called afterwards.
  bool end() {
    std::unique_lock lock(mutex_);
    is_ending_ = true;
    wake_.notify_one();
    const auto is_finished = [this] { return is_finished_; };
    if (finished_.wait_for(lock, kDrainBound, is_finished)) return true;
    must_end_ = true;
    if (finished_.wait_for(lock, kLetGoBound, is_finished)) return true;
    lose(queue_.size() + lines_in_hand_, "the reader does not read");
    is_abandoned_ = true;
    return false;
  }

  // Lines that are neither written nor lost yet.
  std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return queue_.size() + lines_in_hand_;
  }

 private:
  bool take(std::deque<Entry>& batch) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return !queue_.empty() || is_ending_ || next_descriptor_; });
    if (next_descriptor_) {
      ::close(descriptor_);
      descriptor_ = *std::exchange(next_descriptor_, std::nullopt);
      is_at_line_start_ = true;
    }
    batch.swap(queue_);
    queued_bytes_ = 0;
    lines_in_hand_ = batch.size();
    return !batch.empty() || !is_ending_;
  }

  void write(const std::deque<Entry>& batch) {
    std::string chunk;
    for (const Entry& entry : batch) {
      // What a failed write left of a line would swallow the next one.
      if (chunk.empty() && !is_at_line_start_) chunk = "\n";
      append_line(chunk, entry);
      if (chunk.size() >= kChunkBytes) write_chunk(chunk);
    }
    if (!chunk.empty()) write_chunk(chunk);
  }

  void write_chunk(std::string& chunk) {
    const Written written =
        write_all(descriptor_, chunk, [this] { return must_end_.load(std::memory_order_relaxed); });
    const std::string_view all = chunk;
    // Newlines after the first byte: that one may be the newline that mends a broken line.
    const auto lines_from = [all](std::size_t begin) {
      return static_cast<std::size_t>(
          std::ranges::count(all.substr(std::max<std::size_t>(begin, 1)), '\n'));
    };
    if (written.bytes > 0) is_at_line_start_ = all[written.bytes - 1] == '\n';

    const std::lock_guard lock(mutex_);
    lines_in_hand_ -= lines_from(0);
    if (written.error != 0) {
      lose(lines_from(written.bytes), std::generic_category().message(written.error));
    }
    chunk.clear();
  }

  // With the mutex held.
  void lose(std::size_t lines, std::string_view reason) {
    if (is_abandoned_ || lines == 0) return;
    dropped_.add_amount(static_cast<double>(lines));
    unreported_ += lines;
    const auto now = std::chrono::steady_clock::now();
    if (last_report_ && now - *last_report_ < kReportEvery) return;
    last_report_ = now;
    warn(names_.dropped_event, {{"lines", std::exchange(unreported_, 0)}, {"reason", reason}});
  }

  int descriptor_;  // the thread's own
  const LineFileNames names_;
  bool is_at_line_start_ = true;
  std::atomic<bool> must_end_{false};

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::condition_variable finished_;
  std::deque<Entry> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t lines_in_hand_ = 0;  // taken from the queue and not yet written or lost
  const std::size_t queue_length_;
  std::optional<int> next_descriptor_;
  bool is_ending_ = false;
  bool is_finished_ = false;
  bool is_abandoned_ = false;  // the metrics may be gone
  Counter<0> dropped_;
  std::uint64_t unreported_ = 0;
  std::optional<std::chrono::steady_clock::time_point> last_report_;
};

// The file, its writer and its thread. `metrics` outlives it.
template <class Entry>
class LineFile {
 public:
  static base::Result<std::unique_ptr<LineFile>> open(const std::filesystem::path& path,
                                                      const LineFileNames& names, Metrics& metrics,
                                                      Counter<0> dropped,
                                                      std::size_t queue_length) {
    const base::Result<int> descriptor = open_line_file(path, names);
    if (!descriptor) return std::unexpected(descriptor.error());
    auto writer = std::make_shared<LineWriter<Entry>>(*descriptor, names, dropped, queue_length);
    return std::unique_ptr<LineFile>(new LineFile(path, names, metrics, std::move(writer)));
  }
  ~LineFile() {
    if (writer_->end()) {
      thread_.join();
    } else {
      thread_.detach();
    }
  }
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  void push(Entry entry) { writer_->push(std::move(entry)); }
  std::size_t waiting() const { return writer_->waiting(); }

  void reopen() {
    if (path_ == "-") return;
    const base::Result<int> descriptor = open_line_file(path_, names_);
    metrics_.reloads.add(names_.label, descriptor ? "taken_over" : "refused");
    if (!descriptor) {
      error(names_.reopen_failed_event, {{"error", descriptor.error().message}});
      return;
    }
    writer_->use(*descriptor);
    info(names_.reopened_event, {{"path", path_.native()}});
  }

 private:
  using Writer = LineWriter<Entry>;

  LineFile(const std::filesystem::path& path, const LineFileNames& names, Metrics& metrics,
           std::shared_ptr<Writer> writer)
      : path_(path),
        names_(names),
        metrics_(metrics),
        writer_(std::move(writer)),
        thread_([shared = writer_] { shared->run(); }) {}

  const std::filesystem::path path_;
  const LineFileNames names_;
  Metrics& metrics_;
  std::shared_ptr<Writer> writer_;
  std::thread thread_;
};

}  // namespace xila::telemetry
