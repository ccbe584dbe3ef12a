#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace xila::cli {

// Says when files may have changed. Watches their folders, since a mounted ConfigMap or Secret
// changes by a rename of its ..data link and the opened file never does; and asks again on a timer,
// since events can be lost (a folder that was replaced, no inotify instance left). Whether anything
// did change is for the caller to compare.
class FileWatch {
 public:
  // Calls `on_change` on `io`'s thread. `io` outlives the watch.
  FileWatch(boost::asio::io_context& io, const std::vector<std::filesystem::path>& files,
            std::chrono::milliseconds period, std::function<void()> on_change);

  void stop();

 private:
  void watch_folders();
  void wait_for_event();
  void wait_for_timer(std::chrono::milliseconds delay);

  boost::asio::posix::stream_descriptor events_;
  boost::asio::steady_timer timer_;
  std::chrono::milliseconds period_;
  std::function<void()> on_change_;
  std::set<std::filesystem::path> folders_;
  std::set<std::filesystem::path> unwatched_;  // each is logged once
  bool settling_ = false;                      // an event came, the call is near
  bool stopped_ = false;
};

}  // namespace xila::cli
