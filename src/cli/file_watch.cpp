#include "file_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "xila/telemetry/log.hpp"

namespace xila::cli {

namespace log = telemetry;

namespace {

// A swap is several events; the last of them counts, and a half-done one should not be read.
constexpr std::chrono::milliseconds kSettle{100};
constexpr std::uint32_t kEvents = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                  IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

}  // namespace

FileWatch::FileWatch(boost::asio::io_context& io, const std::vector<std::filesystem::path>& files,
                     std::chrono::milliseconds period, std::function<void()> on_change)
    : events_(io), timer_(io), period_(period), on_change_(std::move(on_change)) {
  for (const auto& file : files) folders_.insert(file.has_parent_path() ? file.parent_path() : ".");

  const int descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor < 0) {
    log::warn("file_events_unavailable",
              {{"reason", std::strerror(errno)}, {"poll_ms", period_.count()}});
  } else {
    events_.assign(descriptor);
    watch_folders();
    wait_for_event();
  }
  wait_for_timer(period_);
}

void FileWatch::stop() {
  stopped_ = true;
  timer_.cancel();
  boost::system::error_code ignored;
  events_.close(ignored);
}

// Again at each turn of the timer: a folder that was replaced is another one under the old name.
// Watching twice is harmless.
void FileWatch::watch_folders() {
  for (const auto& folder : folders_) {
    if (inotify_add_watch(events_.native_handle(), folder.c_str(), kEvents) >= 0) {
      unwatched_.erase(folder);
    } else if (unwatched_.insert(folder).second) {
      log::warn("file_events_unavailable", {{"folder", folder.string()},
                                            {"reason", std::strerror(errno)},
                                            {"poll_ms", period_.count()}});
    }
  }
}

void FileWatch::wait_for_event() {
  events_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [this](boost::system::error_code error) {
                       if (error || stopped_) return;
                       // Which event it was does not matter: the caller compares contents.
                       char buffer[4096];
                       while (read(events_.native_handle(), buffer, sizeof buffer) > 0) {
                       }
                       // Not put off by further events, or a busy folder would put it off for ever.
                       if (!std::exchange(settling_, true)) wait_for_timer(kSettle);
                       wait_for_event();
                     });
}

void FileWatch::wait_for_timer(std::chrono::milliseconds delay) {
  timer_.expires_after(delay);
  timer_.async_wait([this](boost::system::error_code error) {
    if (error || stopped_) return;  // replaced by a newer wait, or the end
    settling_ = false;
    if (events_.is_open()) watch_folders();
    on_change_();
    if (!settling_) wait_for_timer(period_);
  });
}

}  // namespace xila::cli
