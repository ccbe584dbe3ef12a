#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/verb.hpp>

#include "channel.hpp"
#include "connection.hpp"
#include "response_text.hpp"
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

// The text of an answer keeps its memory for the next one up to this size.
inline constexpr std::size_t kKeptAnswer = std::size_t{64} << 10;
// So much of an unwanted body is read and thrown away to keep the connection; with more it is
// closed.
inline constexpr std::uint64_t kSkippedBody = 64 << 10;

// HTTP/1.1 on one connection: requests in, answers out, until either side has had enough.
template <class Stream>
class Conversation {
  template <class T>
  using awaitable = boost::asio::awaitable<T>;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

 public:
  Conversation(Stream& stream, Connection& connection, Shared& shared, Peer peer)
      : channel_(stream, connection, shared.limits), connection_(connection), shared_(shared) {
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
        if (channel_.has_failed()) co_return;
      }
      if (refusal) {
        go_on = co_await send_refusal(parser, *refusal);
      } else {
        channel_.enter(Phase::answer);
        Answer answer = shared_.service.answer(request_);
        if (auto* const later = std::get_if<awaitable<Response>>(&answer)) {
          answer = co_await std::move(*later);
        }
        go_on = co_await send(std::get<Response>(answer));
      }
      end_request();
    }
  }

 private:
  // Feeds the input to the parser. False: it needs more, or parse_error_ says what is wrong.
  bool parse(Parser& parser) {
    boost::beast::error_code error;
    const std::size_t used = parser.put(channel_.input().data(), error);
    channel_.input().consume(used);
    framing_bytes_ += used;
    if (error == boost::beast::http::error::need_more) return false;
    parse_error_ = error;
    return !error;
  }

  // Heads, and what is between the pieces of a body, are limited however they come: Beast compares
  // its limit with what it is given at a time, and takes whole fields out of that.
  void judge_framing(bool is_over) {
    const std::size_t unparsed = is_over ? 0 : channel_.input().size();
    if (framing_bytes_ + unparsed <= shared_.limits.header_bytes) return;
    parse_error_ = boost::beast::http::error::header_limit;
  }

  awaitable<bool> read_head(Parser& parser) {
    parser.header_limit(static_cast<std::uint32_t>(shared_.limits.header_bytes));
    parser.body_limit(boost::none);  // judged from the head, with an answer
    channel_.enter(Phase::idle);
    framing_bytes_ = 0;
    while (!parser.is_header_done()) {
      if (channel_.input().size() != 0) {
        if (channel_.phase() == Phase::idle) channel_.enter(Phase::header);
        const bool is_going_on = parse(parser);
        judge_framing(parser.is_header_done());
        if (parse_error_) {
          co_await send_bad_request();
          co_return false;
        }
        if (is_going_on) continue;
      }
      const bool has_read = co_await channel_.read_some();
      if (!has_read) co_return false;
    }
    co_return true;
  }

  // Not HTTP, or a head over the limit: say so once, as far as the peer listens.
  awaitable<void> send_bad_request() {
    const bool too_large = parse_error_ == boost::beast::http::error::header_limit;
    const Response response{
        .status = too_large ? 431 : 400,
        .body = too_large ? "request head too large\n" : "not an HTTP/1.1 request\n"};
    keep_alive_ = false;
    is_head_request_ = false;  // not known, and not the last request's
    version_ = 11;
    co_await send(response);
    co_await channel_.linger();
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

    // RFC 9112, section 6.3: where such a body ends nobody can say.
    if (message.count(boost::beast::http::field::transfer_encoding) != 0 && !parser.chunked()) {
      keep_alive_ = false;
      return Response{.status = 400, .body = "a Transfer-Encoding that is not chunked\n"};
    }
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

  void parse_body(Parser& parser) {
    const std::size_t before = parser.get().body().size();
    parse(parser);
    if (parser.get().body().size() != before) framing_bytes_ = 0;
    judge_framing(parser.is_done());
  }

  // Reads the body into request_.body. An answer: why it was not read. Or the channel has failed.
  awaitable<std::optional<Response>> read_body(Parser& parser) {
    channel_.enter(Phase::body);
    const auto length = static_cast<std::size_t>(parser.content_length().value_or(0));
    const bool in_place = !parser.chunked() && length <= kReadBuffer;
    parser.eager(true);
    if (!in_place) parser.get().body().reserve(length + kBodyPadding);

    framing_bytes_ = 0;
    for (bool has_continued = false;;) {
      if (!in_place && channel_.input().size() != 0) parse_body(parser);
      if (parse_error_) {
        keep_alive_ = false;
        co_return Response{.status = 400, .body = "broken request body\n"};
      }
      const std::size_t size =
          in_place ? std::min(length, channel_.input().size()) : parser.get().body().size();
      // Only a chunked body can outgrow what its head was judged by.
      if (size > shared_.limits.body_bytes) co_return too_large();
      if (!charge(size)) co_return overloaded();
      if (in_place ? size == length : parser.is_done()) break;
      if (!has_continued) {
        has_continued = true;
        co_await continue_if_expected(parser);
      }
      const bool has_read = co_await channel_.read_some();
      if (!has_read) co_return std::nullopt;
    }
    if (in_place) {
      channel_.input().prepare(kBodyPadding);  // may move it
      request_.body = {static_cast<const char*>(channel_.input().cdata().data()), length};
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
    if (version_ < 11 || !boost::beast::iequals(expectation, "100-continue")) co_return;
    co_await channel_.write(kContinue);
  }

  // After a refusal a small rest of the body is skipped; with a large one the connection cannot go
  // on.
  awaitable<bool> send_refusal(Parser& parser, const Response& refusal) {
    const bool is_chunked = parser.chunked();
    const std::uint64_t rest = parser.content_length_remaining().value_or(0);
    keep_alive_ = keep_alive_ && !is_chunked && rest <= kSkippedBody;
    const bool sent = co_await send(refusal);
    if (!sent) {
      co_await channel_.linger();
      co_return false;
    }
    if (rest > channel_.input().size()) channel_.enter(Phase::skip);
    std::uint64_t left = rest;
    while (left > 0) {
      const std::uint64_t here = std::min<std::uint64_t>(left, channel_.input().size());
      channel_.input().consume(static_cast<std::size_t>(here));
      left -= here;
      if (left == 0) break;
      const bool has_read = co_await channel_.read_some();
      if (!has_read) co_return false;
    }
    co_return true;
  }

  // Sends an answer. True: the connection may go on.
  awaitable<bool> send(const Response& response) {
    if (channel_.phase() != Phase::answer) channel_.enter(Phase::answer);
    // Answers to what came together leave together, after the last of them is made: each sending
    // wakes the peer, which is dear on a virtual machine, and one that is awake costs nothing. And
    // who asks without end does not keep the others waiting.
    co_await boost::asio::post(boost::asio::use_awaitable);
    keep_alive_ = keep_alive_ && !shared_.draining.load();
    const ResponseForm form{
        .keep_alive = keep_alive_, .without_body = is_head_request_, .http_1_0 = version_ < 11};
    write_response(response, form, out_);
    co_await channel_.write(out_);
    shared_.metrics.http_responses.add(shared_.listener,
                                       std::string_view(std::to_string(response.status)));
    shared_.metrics.sent_bytes.add_amount(static_cast<double>(response.body.size()),
                                          shared_.listener);
    co_return !channel_.has_failed() && keep_alive_;
  }

  void end_request() {
    request_.body = {};
    channel_.input().consume(std::exchange(in_place_, 0));
    if (out_.capacity() > kKeptAnswer) std::string().swap(out_);
    shared_.budget.give_back(std::exchange(charged_, 0));
  }

  Channel<Stream> channel_;
  Connection& connection_;
  Shared& shared_;
  Request request_;
  std::string out_;
  boost::beast::error_code parse_error_;
  std::size_t charged_ = 0;
  std::size_t framing_bytes_ = 0;  // parsed of the head, or since the body last grew
  std::size_t in_place_ = 0;       // bytes of the input that are the request's body
  unsigned version_ = 11;
  bool keep_alive_ = true;
  bool is_head_request_ = false;
};

}  // namespace xila::net
