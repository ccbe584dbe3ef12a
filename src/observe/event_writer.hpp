#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "event_queue.hpp"
#include "xila/kube/backoff.hpp"
#include "xila/kube/transport.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::observe {

// Writes Events, one after the other, at the queue's pace. What cannot be written is counted and
// let go: nothing waits for Events.
class EventWriter {
 public:
  // All references outlive it; one thread.
  EventWriter(boost::asio::any_io_executor executor, kube::Transport& transport,
              telemetry::Metrics& metrics, EventLimits limits);

  void put(codec::Event event, bool may_be_known);
  // Runs until stop().
  boost::asio::awaitable<void> run();
  void stop();
  // Drops what waits: another replica reports now.
  void drop_all();

 private:
  boost::asio::awaitable<void> write(EventQueue::Entry entry);
  // Each returns what became of it. `entry` outlives them.
  boost::asio::awaitable<std::string_view> post(const EventQueue::Entry& entry);
  boost::asio::awaitable<std::string_view> count_again(const EventQueue::Entry& entry, int count);
  std::string_view failed(const kube::ApiError& error);
  void keep(const std::string& key, int count);

  kube::Transport& transport_;
  telemetry::Metrics& metrics_;
  EventQueue queue_;
  boost::asio::steady_timer timer_;    // until something may be written
  boost::asio::steady_timer backoff_;  // until it is tried again
  // Events that this process wrote, by "namespace/name", with their counts; the oldest are
  // forgotten, as the API server forgets them after an hour.
  std::unordered_map<std::string, int> counts_;
  std::deque<std::string> kept_;
  std::optional<Steady> logged_at_;
  bool is_stopped_ = false;
};

}  // namespace xila::observe
