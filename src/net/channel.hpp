#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "connection.hpp"
#include "stream.hpp"
#include "xila/net/http.hpp"
#include "xila/net/server.hpp"

namespace xila::net {

// Reserved at once and never grown: Beast's buffer otherwise starts at 512 bytes and reads a 16 KB
// body in many small steps, which doubles the CPU of a request. A body that fits is answered from
// where it was read to.
inline constexpr std::size_t kReadBuffer = std::size_t{64} << 10;
// One record of TLS, of which a read takes no more than one.
inline constexpr std::size_t kMostPerRead = std::size_t{16} << 10;
// Reads in a row without a turn through the scheduler. A peer that sends without end would keep
// every other connection of the thread, and the sweep of deadlines, waiting for ever.
inline constexpr unsigned kMostReads = 16;

// The bytes of one connection, in and out, and the phase that says how long each may take.
template <class Stream>
class Channel {
  template <class T>
  using awaitable = boost::asio::awaitable<T>;

 public:
  Channel(Stream& stream, Connection& connection, const Limits& limits)
      : stream_(stream),
        connection_(connection),
        limits_(limits),
        input_(kReadBuffer + kBodyPadding) {
    input_.reserve(kReadBuffer + kBodyPadding);
  }

  // What was read and not consumed yet: at most kReadBuffer bytes.
  boost::beast::flat_buffer& input() { return input_; }
  // The last reading or writing failed: the peer is gone, or a limit closed the connection.
  bool has_failed() const { return error_.failed(); }

  Phase phase() const { return connection_.phase; }
  void enter(Phase phase) {
    connection_.phase = phase;
    connection_.since = std::chrono::steady_clock::now();
    connection_.deadline = connection_.since + limit_of(phase);
  }

  // One read into the input, which is not full. False: it failed.
  awaitable<bool> read_some() {
    const auto room = input_.prepare(std::min(kMostPerRead, kReadBuffer - input_.size()));
    // Between requests there is nothing to be had, and asking costs a system call.
    if (phase() == Phase::idle && !stream_.holds_input()) {
      auto into_error = boost::asio::redirect_error(boost::asio::use_awaitable, error_);
      co_await stream_.socket().async_wait(boost::asio::ip::tcp::socket::wait_read, into_error);
      if (error_) co_return false;
      reads_ = 0;
    }
    if (++reads_ > kMostReads) {
      co_await boost::asio::post(boost::asio::use_awaitable);
      reads_ = 0;
    }
    for (;;) {
      input_.commit(stream_.try_read(room, error_));
      if (error_ != boost::asio::error::would_block) co_return !error_;
      // A part of a record is the beginning of a request.
      if (phase() == Phase::idle && stream_.holds_input()) enter(Phase::header);
      error_ = co_await wait_for(stream_);
      if (error_) co_return false;
      reads_ = 0;
    }
  }

  awaitable<void> write(std::string_view text) {
    error_ = {};
    while (!text.empty() && !error_) {
      text.remove_prefix(stream_.try_write(boost::asio::buffer(text), error_));
      if (error_ != boost::asio::error::would_block) continue;
      if (phase() == Phase::answer) enter(Phase::send);
      error_ = co_await wait_for(stream_);
      connection_.since = std::chrono::steady_clock::now();
    }
  }

  // Closing with unread input makes the kernel reset the connection, and the peer may lose the
  // answer. So end what is sent, and read on for a moment, into nothing.
  awaitable<void> linger() {
    if (error_) co_return;
    enter(Phase::closing);
    stream_.end_output();
    for (bool has_read = true; has_read;) {
      input_.clear();
      has_read = co_await read_some();
    }
  }

 private:
  std::chrono::seconds limit_of(Phase phase) const {
    switch (phase) {
      case Phase::handshake:
        return limits_.handshake;
      case Phase::idle:
        return limits_.idle;
      case Phase::header:
        return limits_.header;
      case Phase::body:
      case Phase::skip:
        return limits_.body;
      case Phase::answer:
      case Phase::send:
        return limits_.answer;
      case Phase::closing:
        return limits_.closing;
    }
    return limits_.closing;
  }

  Stream& stream_;
  Connection& connection_;
  const Limits& limits_;
  boost::beast::flat_buffer input_;
  boost::system::error_code error_;
  unsigned reads_ = 0;  // since the last that gave others their turn
};

}  // namespace xila::net
