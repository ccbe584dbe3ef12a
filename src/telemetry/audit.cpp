#include "xila/telemetry/audit.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "audit_line.hpp"
#include "background_thread.hpp"
#include "descriptor.hpp"
#include "xila/base/text.hpp"
#include "xila/telemetry/log.hpp"

namespace xila::telemetry {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMaxQueuedBytes = std::size_t{32} << 20;
constexpr std::size_t kChunkBytes = std::size_t{64} << 10;  // about what one write(2) gets
constexpr std::chrono::seconds kReportEvery{60};
constexpr std::chrono::seconds kDrainBound{2};         // for what is queued when the log ends
constexpr std::chrono::milliseconds kLetGoBound{500};  // for a write that waits to notice the end

// Shared by the log and its thread, and by the thread alone once a write that never returns had to
// be left behind.
class Writer {
 public:
  Writer(int descriptor, Metrics& metrics, std::size_t queue_length)
      : descriptor_(descriptor), queue_length_(queue_length), metrics_(metrics) {}

  void push(AuditEntry entry) {
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
    begin_background_thread("xila-audit");
    std::deque<AuditEntry> batch;
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

 private:
  bool take(std::deque<AuditEntry>& batch) {
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

  void write(const std::deque<AuditEntry>& batch) {
    std::string chunk;
    for (const AuditEntry& entry : batch) {
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
    metrics_.audit_dropped.add_amount(static_cast<double>(lines));
    unreported_ += lines;
    const auto now = steady_clock::now();
    if (last_report_ && now - *last_report_ < kReportEvery) return;
    last_report_ = now;
    warn("audit_lines_dropped", {{"lines", std::exchange(unreported_, 0)}, {"reason", reason}});
  }

  int descriptor_;  // the thread's own
  bool is_at_line_start_ = true;
  std::atomic<bool> must_end_{false};

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::condition_variable finished_;
  std::deque<AuditEntry> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t lines_in_hand_ = 0;  // taken from the queue and not yet written or lost
  const std::size_t queue_length_;
  std::optional<int> next_descriptor_;
  bool is_ending_ = false;
  bool is_finished_ = false;
  bool is_abandoned_ = false;  // metrics_ may be gone
  Metrics& metrics_;
  std::uint64_t unreported_ = 0;
  std::optional<steady_clock::time_point> last_report_;
};

base::Result<int> open_descriptor(const std::filesystem::path& path) {
  // O_NONBLOCK: a FIFO that nobody reads is an error to report at once, not a place to wait in.
  const int descriptor =
      path == "-"
          ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
          : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
  if (descriptor < 0) {
    return base::fail("cannot open audit log " + base::quote(path.native(), 4096) + ": " +
                      std::generic_category().message(errno));
  }
  return descriptor;
}

}  // namespace

struct AuditLog::State {
  std::filesystem::path path;
  Metrics& metrics;
  std::shared_ptr<Writer> writer;
  std::thread thread;
};

base::Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::filesystem::path& path,
                                                       Metrics& metrics, std::size_t queue_length) {
  const base::Result<int> descriptor = open_descriptor(path);
  if (!descriptor) return std::unexpected(descriptor.error());
  auto writer = std::make_shared<Writer>(*descriptor, metrics, queue_length);
  std::thread thread([writer] { writer->run(); });
  return std::unique_ptr<AuditLog>(new AuditLog(
      std::unique_ptr<State>(new State{path, metrics, std::move(writer), std::move(thread)})));
}

AuditLog::AuditLog(std::unique_ptr<State> state) : state_(std::move(state)) {}

AuditLog::~AuditLog() {
  if (state_->writer->end()) {
    state_->thread.join();
  } else {
    state_->thread.detach();
  }
}

void AuditLog::record(AuditRecord record) {
  state_->writer->push(to_entry(std::move(record), std::chrono::system_clock::now()));
}

void AuditLog::reopen() {
  if (state_->path == "-") return;
  const base::Result<int> descriptor = open_descriptor(state_->path);
  state_->metrics.reloads.add("audit_log", descriptor ? "taken_over" : "refused");
  if (!descriptor) {
    error("audit_log_reopen_failed", {{"error", descriptor.error().message}});
    return;
  }
  state_->writer->use(*descriptor);
  info("audit_log_reopened", {{"path", state_->path.native()}});
}

}  // namespace xila::telemetry
