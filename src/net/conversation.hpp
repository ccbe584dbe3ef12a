#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/verb.hpp>

#include "connection.hpp"
#include "response_text.hpp"
#include "stream.hpp"
#include "xila/net/http.hpp"
#include "xila/net/server.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::net {

// What all connections of a server share. Outlives them.
struct Shared {
  const std::string listener;
  const Limits limits;
  const Service& service;
  telemetry::Metrics& metrics;
  BodyBudget budget;
  std::atomic<bool> draining{false};
};

// Reserved at once and never grown: Beast's buffer otherwise starts at 512 bytes and reads a 16 KB
// body in many small steps, which doubles the CPU of a request. A body that fits is answered from
// where it was read to.
inline constexpr std::size_t kReadBuffer = std::size_t{64} << 10;
// One record of TLS, of which a read takes no more than one.
inline constexpr std::size_t kMostPerRead = std::size_t{16} << 10;
// The text of an answer keeps its memory for the next one up to this size.
inline constexpr std::size_t kKeptAnswer = std::size_t{64} << 10;
// Reads in a row without a turn through the scheduler. A peer that sends without end would keep
// every other connection of the thread, and the sweep of deadlines, waiting for ever.
inline constexpr unsigned kMostReads = 16;
// So much of an unwanted body is read and thrown away to keep the connection; with more it is
// closed.
inline constexpr std::uint64_t kSkippedBody = 64 << 10;

// HTTP/1.1 on one connection: requests in, answers out, until either side has had enough.
template <class Stream>
class Conversation {
  template <class T>
  using awaitable = boost::asio::awaitable<T>;
  using Socket = boost::asio::ip::tcp::socket;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

 public:
  Conversation(Stream& stream, Connection& connection, Shared& shared, Peer peer)
      : stream_(stream),
        connection_(connection),
        shared_(shared),
        buffer_(kReadBuffer + kBodyPadding) {
    buffer_.reserve(kReadBuffer + kBodyPadding);
    request_.peer = std::move(peer);
  }
  ~Conversation() { shared_.budget.give_back(charged_); }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Returns when the connection should be closed.
  awaitable<void> run() {
    const SteadyTime born = std::chrono::steady_clock::now();
    for (bool go_on = true; go_on;) {
      Parser parser;
      const bool has_head = co_await read_head(parser);
      if (!has_head) co_return;
      connection_.has_asked = true;

      const auto now = std::chrono::steady_clock::now();
      keep_alive_ =
          parser.keep_alive() && now - born < shared_.limits.age && !shared_.draining.load();
      std::optional<Response> refusal = judge_head(parser);
      if (!refusal) {
        refusal = co_await read_body(parser);
        if (error_) co_return;
      }
      if (refusal) {
        go_on = co_await send_refusal(parser, *refusal);
      } else {
        enter(Phase::answer, shared_.limits.answer);
        Answer answer = shared_.service.answer(request_);
        if (auto* const later = std::get_if<awaitable<Response>>(&answer)) {
          answer = co_await std::move(*later);
        }
        // Answers to what came together leave together, after the last of them is made: each
        // sending wakes the peer, which is dear on a virtual machine, and one that is awake costs
        // nothing.
        co_await boost::asio::post(boost::asio::use_awaitable);
        keep_alive_ = keep_alive_ && !shared_.draining.load();
        go_on = co_await send(std::get<Response>(answer));
      }
      end_request();
    }
  }

 private:
  void enter(Phase phase, std::chrono::seconds limit) {
    connection_.phase = phase;
    connection_.since = std::chrono::steady_clock::now();
    connection_.deadline = connection_.since + limit;
  }

  // One read into the buffer. False: the peer is gone or a limit closed the connection.
  awaitable<bool> read_some() {
    auto into_error = boost::asio::redirect_error(boost::asio::use_awaitable, error_);
    const auto room = buffer_.prepare(std::min(kMostPerRead, kReadBuffer - buffer_.size()));
    // Between requests there is nothing to be had, and asking costs a system call.
    if (connection_.phase == Phase::idle && !stream_.holds_input()) {
      co_await stream_.socket().async_wait(Socket::wait_read, into_error);
      if (error_) co_return false;
      reads_ = 0;
    }
    if (++reads_ > kMostReads) {
      co_await boost::asio::post(boost::asio::use_awaitable);
      reads_ = 0;
    }
    for (;;) {
      buffer_.commit(stream_.try_read(room, error_));
      if (error_ != boost::asio::error::would_block) co_return !error_;
      error_ = co_await wait_for(stream_);
      if (error_) co_return false;
      reads_ = 0;
    }
  }

  // Feeds the buffer to the parser. False: it needs more, or error_ says what is wrong.
  bool parse(Parser& parser) {
    boost::beast::error_code error;
    const std::size_t used = parser.put(buffer_.data(), error);
    buffer_.consume(used);
    if (error == boost::beast::http::error::need_more) return false;
    error_ = error;
    return !error;
  }

  awaitable<bool> read_head(Parser& parser) {
    parser.header_limit(static_cast<std::uint32_t>(shared_.limits.header_bytes));
    parser.body_limit(boost::none);  // judged from the head, with an answer
    enter(Phase::idle, shared_.limits.idle);
    error_ = {};
    while (!parser.is_header_done()) {
      if (buffer_.size() != 0) {
        if (connection_.phase == Phase::idle) enter(Phase::header, shared_.limits.header);
        if (parse(parser)) continue;
        if (error_) {
          co_await send_bad_request();
          co_return false;
        }
      }
      const bool has_read = co_await read_some();
      if (!has_read) co_return false;
    }
    co_return true;
  }

  // Not HTTP, or a head over the limit: say so once, as far as the peer listens.
  awaitable<void> send_bad_request() {
    const bool too_large = error_ == boost::beast::http::error::header_limit;
    const Response response{
        .status = too_large ? 431 : 400,
        .body = too_large ? "request head too large\n" : "not an HTTP/1.1 request\n"};
    error_ = {};
    keep_alive_ = false;
    co_await send(response);
  }

  // What the head alone says: an answer that spares reading the body, or nothing.
  std::optional<Response> judge_head(const Parser& parser) {
    const auto& message = parser.get();
    const std::string_view target = message.target();
    const std::size_t mark = std::min(target.find('?'), target.size());
    request_.method = message.method_string();
    request_.path = target.substr(0, mark);
    request_.query = mark < target.size() ? target.substr(mark + 1) : std::string_view();
    request_.content_type = message[boost::beast::http::field::content_type];
    is_head_request_ = message.method() == boost::beast::http::verb::head;
    version_ = message.version();

    const std::uint64_t length = parser.content_length().value_or(0);
    if (length > shared_.limits.body_bytes) return too_large();
    const RequestHead head{request_.method, request_.path, request_.query, request_.content_type};
    if (std::optional<Response> refusal = shared_.service.refuse(head)) return refusal;
    if (!shared_.budget.has_room_for(counted(length))) return overloaded();
    return std::nullopt;
  }

  Response too_large() const {
    return {.status = 413,
            .body = "request body over the limit of " + std::to_string(shared_.limits.body_bytes) +
                    " bytes\n"};
  }
  Response overloaded() {
    shared_.metrics.dropped_connections.add(shared_.listener, "body_memory");
    keep_alive_ = false;
    return {.status = 503, .body = "too many request bodies in memory\n"};
  }

  std::size_t counted(std::uint64_t body_bytes) const {
    const std::size_t bytes = static_cast<std::size_t>(body_bytes);
    return bytes - std::min(bytes, shared_.limits.uncounted_body_bytes);
  }

  // By what has come: what is only announced takes no memory, and would keep others out for
  // nothing.
  bool charge(std::size_t body_bytes) {
    const std::size_t bytes = counted(body_bytes);
    if (bytes <= charged_) return true;
    const std::size_t more = bytes - charged_;
    if (!shared_.budget.take(more)) return false;
    charged_ += more;
    return true;
  }

  // Reads the body into request_.body. An answer: why it was not read; error_: the peer is gone.
  awaitable<std::optional<Response>> read_body(Parser& parser) {
    enter(Phase::body, shared_.limits.body);
    const auto length = static_cast<std::size_t>(parser.content_length().value_or(0));
    const bool in_place = !parser.chunked() && length <= kReadBuffer;
    parser.eager(true);
    if (!in_place) parser.get().body().reserve(length + kBodyPadding);

    for (bool has_continued = false;;) {
      if (!in_place && buffer_.size() != 0) parse(parser);
      // A full buffer of which the parser takes nothing: a chunk's head or a trailer without end.
      if (error_ || (!in_place && buffer_.size() == kReadBuffer)) {
        error_ = {};
        keep_alive_ = false;
        co_return Response{.status = 400, .body = "broken request body\n"};
      }
      const std::size_t size =
          in_place ? std::min(length, buffer_.size()) : parser.get().body().size();
      // Only a chunked body can outgrow what its head was judged by.
      if (size > shared_.limits.body_bytes) co_return too_large();
      if (!charge(size)) co_return overloaded();
      if (in_place ? size == length : parser.is_done()) break;
      if (!has_continued) {
        has_continued = true;
        co_await continue_if_expected(parser);
      }
      const bool has_read = co_await read_some();
      if (!has_read) co_return std::nullopt;
    }
    if (in_place) {
      buffer_.prepare(kBodyPadding);  // may move it
      request_.body = {static_cast<const char*>(buffer_.cdata().data()), length};
      in_place_ = length;
    } else {
      std::string& body = parser.get().body();
      body.reserve(body.size() + kBodyPadding);
      request_.body = body;
    }
    shared_.metrics.received_bytes.add_amount(static_cast<double>(request_.body.size()),
                                              shared_.listener);
    co_return std::nullopt;
  }

  // curl and others wait for this before they send a large body (RFC 9110, section 10.1.1).
  awaitable<void> continue_if_expected(const Parser& parser) {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    const auto expectation = parser.get()[boost::beast::http::field::expect];
    if (!boost::beast::iequals(expectation, "100-continue")) co_return;
    co_await write(kContinue);
  }

  // After a refusal a small rest of the body is skipped; with a large one the connection cannot go
  // on.
  awaitable<bool> send_refusal(Parser& parser, const Response& refusal) {
    const bool is_chunked = parser.chunked();
    const std::uint64_t rest = parser.content_length_remaining().value_or(0);
    keep_alive_ = keep_alive_ && !is_chunked && rest <= kSkippedBody;
    const bool sent = co_await send(refusal);
    if (!sent) {
      co_await linger();
      co_return false;
    }
    std::uint64_t left = rest;
    while (left > 0) {
      const std::uint64_t here = std::min<std::uint64_t>(left, buffer_.size());
      buffer_.consume(static_cast<std::size_t>(here));
      left -= here;
      if (left == 0) break;
      const bool has_read = co_await read_some();
      if (!has_read) co_return false;
    }
    co_return true;
  }

  // Closing with unread input makes the kernel reset the connection, and the peer may lose the
  // answer. So read on for a moment, into nothing.
  awaitable<void> linger() {
    if (error_) co_return;
    enter(Phase::closing, std::chrono::seconds(2));
    for (bool has_read = true; has_read;) {
      buffer_.clear();
      has_read = co_await read_some();
    }
  }

  // Sends an answer. True: the connection may go on.
  awaitable<bool> send(const Response& response) {
    if (connection_.phase != Phase::answer) enter(Phase::answer, shared_.limits.answer);
    const ResponseForm form{
        .keep_alive = keep_alive_, .without_body = is_head_request_, .http_1_0 = version_ < 11};
    write_response(response, form, out_);
    co_await write(out_);
    shared_.metrics.http_responses.add(shared_.listener,
                                       std::string_view(std::to_string(response.status)));
    shared_.metrics.sent_bytes.add_amount(static_cast<double>(response.body.size()),
                                          shared_.listener);
    co_return !error_ && keep_alive_;
  }

  awaitable<void> write(std::string_view text) {
    while (!text.empty() && !error_) {
      text.remove_prefix(stream_.try_write(boost::asio::buffer(text), error_));
      if (error_ == boost::asio::error::would_block) error_ = co_await wait_for(stream_);
    }
  }

  void end_request() {
    request_.body = {};
    buffer_.consume(std::exchange(in_place_, 0));
    if (out_.capacity() > kKeptAnswer) std::string().swap(out_);
    shared_.budget.give_back(std::exchange(charged_, 0));
  }

  Stream& stream_;
  Connection& connection_;
  Shared& shared_;
  boost::beast::flat_buffer buffer_;
  Request request_;
  std::string out_;
  boost::system::error_code error_;
  std::size_t charged_ = 0;
  std::size_t in_place_ = 0;  // bytes of buffer_ that are the request's body
  unsigned reads_ = 0;        // since the last that gave others their turn
  unsigned version_ = 11;
  bool keep_alive_ = true;
  bool is_head_request_ = false;
};

}  // namespace xila::net
