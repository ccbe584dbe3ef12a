#pragma once

#include <chrono>
#include <set>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace xila::observe {

// Waits that end together. Outlives the coroutines that wait; one thread.
class Pauses {
 public:
  explicit Pauses(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  // Waits for so long; false = the end.
  boost::asio::awaitable<bool> pause(std::chrono::milliseconds time) {
    boost::system::error_code ignored;
    auto into_error = boost::asio::redirect_error(boost::asio::use_awaitable, ignored);
    boost::asio::steady_timer timer(executor_);
    timer.expires_after(time);
    waiting_.insert(&timer);
    co_await timer.async_wait(into_error);
    waiting_.erase(&timer);
    co_return !is_ended_;
  }

  // Ends every wait, those under way too.
  void end() {
    is_ended_ = true;
    for (boost::asio::steady_timer* timer : waiting_) timer->cancel();
  }
  bool is_ended() const { return is_ended_; }

 private:
  boost::asio::any_io_executor executor_;
  std::set<boost::asio::steady_timer*> waiting_;
  bool is_ended_ = false;
};

}  // namespace xila::observe
