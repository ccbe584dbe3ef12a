#include "event_writer.hpp"

#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "xila/telemetry/log.hpp"

namespace xila::observe {

namespace asio = boost::asio;
using asio::awaitable;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr int kTries = 5;
constexpr std::size_t kMostKept = 20'000;
constexpr double kHalf = 0.5;  // the middle of the back-off's range: one writer needs no jitter
constexpr std::chrono::hours kLongTime{24};
constexpr std::chrono::seconds kLogEvery{60};

// What became of an Event: the metric's label.
constexpr std::string_view kWritten = "written";
constexpr std::string_view kRepeated = "repeated";
constexpr std::string_view kKnown = "known";
constexpr std::string_view kDropped = "dropped";
constexpr std::string_view kFailed = "failed";
constexpr std::string_view kRetry = "";  // nothing yet

std::string key_of(const codec::Event& event) {
  return event.space + "/" + event.name;
}

std::string path_of(const codec::Event& event) {
  return "/apis/events.k8s.io/v1/namespaces/" + event.space + "/events";
}

bool is_status(const kube::ApiError& error, int status) {
  return error.what == kube::ApiFailure::status && error.status == status;
}

}  // namespace

EventWriter::EventWriter(asio::any_io_executor executor, kube::Transport& transport,
                         telemetry::Metrics& metrics, EventLimits limits)
    : transport_(transport),
      metrics_(metrics),
      queue_(limits, Clock::now()),
      timer_(executor),
      backoff_(std::move(executor)) {}

void EventWriter::put(codec::Event event, bool may_be_known) {
  const EventQueue::Put result = queue_.put(std::move(event), may_be_known);
  if (result == EventQueue::Put::dropped) metrics_.events.add(kDropped);
  metrics_.events_waiting.set(static_cast<double>(queue_.size()));
  timer_.cancel();
}

void EventWriter::drop_all() {
  metrics_.events.add_amount(static_cast<double>(queue_.clear()), kDropped);
  metrics_.events_waiting.set(0);
}

void EventWriter::stop() {
  is_stopped_ = true;
  timer_.cancel();
  backoff_.cancel();
}

awaitable<void> EventWriter::run() {
  boost::system::error_code ignored;
  auto into_error = asio::redirect_error(asio::use_awaitable, ignored);
  while (!is_stopped_) {
    std::optional<EventQueue::Entry> entry = queue_.take(Clock::now());
    metrics_.events_waiting.set(static_cast<double>(queue_.size()));
    if (entry) {
      EventQueue::Entry next = std::move(*entry);
      co_await write(std::move(next));
      continue;
    }
    const std::optional<Steady> ready = queue_.ready_at(Clock::now());
    timer_.expires_after(ready ? *ready - Clock::now() : kLongTime);
    co_await timer_.async_wait(into_error);
  }
}

awaitable<void> EventWriter::write(EventQueue::Entry entry) {
  const kube::BackoffLimits limits;
  boost::system::error_code ignored;
  auto into_error = asio::redirect_error(asio::use_awaitable, ignored);
  std::string_view result = kRetry;
  for (int attempt = 0; result == kRetry && attempt < kTries && !is_stopped_; ++attempt) {
    if (attempt > 0) {
      backoff_.expires_after(kube::delay_before(attempt - 1, limits, kHalf));
      co_await backoff_.async_wait(into_error);
    }
    const auto known = counts_.find(key_of(entry.event));
    if (known == counts_.end()) {
      result = co_await post(entry);
    } else {
      result = co_await count_again(entry, known->second + entry.count);
    }
  }
  metrics_.events.add(result == kRetry ? kFailed : result);
}

awaitable<std::string_view> EventWriter::post(const EventQueue::Entry& entry) {
  kube::ApiRequest request{.method = "POST",
                           .target = path_of(entry.event),
                           .content_type = "application/json",
                           .body = codec::encode_event(entry.event)};
  const net::Deadline deadline = Clock::now() + kPatience;
  const kube::ApiResult<std::string> answer =
      co_await transport_.send(std::move(request), deadline);
  if (answer) {
    keep(key_of(entry.event), 1);
    if (entry.count == 1) co_return kWritten;
    co_return co_await count_again(entry, entry.count);
  }
  if (!is_status(answer.error(), 409)) co_return failed(answer.error());
  // It is there: written before a restart, or by another replica. How often it was counted is not
  // known, so that a repetition counts as the second.
  if (entry.may_be_known) {
    keep(key_of(entry.event), 1);
    co_return kKnown;
  }
  co_return co_await count_again(entry, 1 + entry.count);
}

awaitable<std::string_view> EventWriter::count_again(const EventQueue::Entry& entry, int count) {
  kube::ApiRequest request{.method = "PATCH",
                           .target = path_of(entry.event) + "/" + entry.event.name,
                           .content_type = "application/merge-patch+json",
                           .body = codec::encode_event_series(count, entry.event.time)};
  const net::Deadline deadline = Clock::now() + kPatience;
  const kube::ApiResult<std::string> answer =
      co_await transport_.send(std::move(request), deadline);
  if (answer) {
    keep(key_of(entry.event), count);
    co_return kRepeated;
  }
  if (is_status(answer.error(), 404)) {  // its hour is over: it is written anew
    counts_.erase(key_of(entry.event));
    co_return kRetry;
  }
  co_return failed(answer.error());
}

// One line a minute: a refusal names the namespace, and there are many.
std::string_view EventWriter::failed(const kube::ApiError& error) {
  const auto now = Clock::now();
  if (!logged_at_ || now - *logged_at_ >= kLogEvery) {
    logged_at_ = now;
    telemetry::warn("event_failed", {{"reason", error.message}});
  }
  const bool may_pass =
      error.what != kube::ApiFailure::status || error.status == 429 || error.status >= 500;
  return may_pass ? kRetry : kFailed;
}

void EventWriter::keep(const std::string& key, int count) {
  const auto [entry, is_new] = counts_.insert_or_assign(key, count);
  if (!is_new) return;
  kept_.push_back(key);
  if (kept_.size() <= kMostKept) return;
  counts_.erase(kept_.front());
  kept_.pop_front();
}

}  // namespace xila::observe
