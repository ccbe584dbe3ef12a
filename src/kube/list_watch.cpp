#include "xila/kube/list_watch.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "interruption.hpp"
#include "percent_encode.hpp"
#include "xila/telemetry/log.hpp"

namespace xila::kube {

namespace asio = boost::asio;
using asio::awaitable;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
// Nothing = it ended as it should.
using Ending = std::optional<Interruption>;

namespace {

// A server may ask for more patience than this; then it is asked again anyway.
constexpr std::chrono::seconds kLongestRetryAfter{30};
// A page that is too large is asked for again with this part of the limit.
constexpr unsigned kSmallerPage = 8;

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

struct ListWatch::State {
  State(asio::any_io_executor executor, Transport& t, WatchSink& s, WatchHealth& h,
        telemetry::Metrics& m, WatchOptions o)
      : timer(std::move(executor)),
        transport(t),
        sink(s),
        health(h),
        metrics(m),
        options(std::move(o)),
        random(std::random_device()()) {}

  asio::steady_timer timer;
  Transport& transport;
  WatchSink& sink;
  WatchHealth& health;
  telemetry::Metrics& metrics;
  const WatchOptions options;
  std::mt19937_64 random;

  std::string version;  // where the next watch begins; "" = after a list
  std::unique_ptr<LineStream> stream;
  int failures = 0;  // in a row
  bool is_stopped = false;

  double draw() { return std::uniform_real_distribution<double>(0, 1)(random); }

  awaitable<Ending> list();
  awaitable<Ending> watch();
  awaitable<Ending> follow(Clock::time_point opened, std::chrono::seconds time);
  Ending take(std::string_view line);
  awaitable<void> pause(const Interruption& why);

  std::string target(const std::string& query) const {
    const std::string all = options.selector.empty() ? query : options.selector + "&" + query;
    return options.path + "?" + all;
  }
  void saw_event() { metrics.watch_last_event.set(unix_now(), options.resource); }
  void show_objects() {
    metrics.watch_objects.set(static_cast<double>(sink.size()), options.resource);
  }
};

// One whole list. The store changes only at its end.
awaitable<Ending> ListWatch::State::list() {
  sink.begin_list();
  std::string first_version;
  std::string next;
  for (unsigned limit = options.page_size;;) {
    ApiRequest request;
    request.target = target("limit=" + std::to_string(limit) +
                            (next.empty() ? "" : "&continue=" + percent_encode(next)));
    request.accept = options.list_accept;
    const auto deadline = Clock::now() + options.page_timeout;
    const ApiResult<std::string> answer = co_await transport.send(std::move(request), deadline);
    if (is_stopped) co_return std::nullopt;
    if (!answer && answer.error().what == ApiFailure::too_large && limit > 1) {
      limit = std::max(1u, limit / kSmallerPage);
      continue;
    }
    if (!answer) co_return interruption(answer.error());

    base::Result<WatchSink::PageHead> page = sink.take_page(*answer);
    if (page && !page->next.empty() && page->next == next) {
      page = base::fail("a page names itself as the next one");
    }
    if (!page) {
      co_return Interruption{
          .cause = Cause::unreadable,
          .detail = "a page of the list cannot be read: " + page.error().message};
    }
    if (first_version.empty()) first_version = page->resource_version;
    next = page->next;
    if (next.empty()) break;
  }
  sink.commit_list();
  version = first_version;
  health.set_synced();
  metrics.watch_last_sync.set(unix_now(), options.resource);
  show_objects();
  telemetry::info("listed", {{"resource", options.resource}, {"objects", sink.size()}});
  co_return std::nullopt;
}

awaitable<Ending> ListWatch::State::watch() {
  const auto most = std::max(options.watch_least, options.watch_most);
  const std::chrono::seconds time(std::uniform_int_distribution<std::chrono::seconds::rep>(
      options.watch_least.count(), most.count())(random));
  ApiRequest request;
  request.target =
      target("watch=1&allowWatchBookmarks=true&resourceVersion=" + percent_encode(version) +
             "&timeoutSeconds=" + std::to_string(time.count()));
  request.accept = options.watch_accept;
  const auto opened = Clock::now();
  const auto deadline = opened + options.open_timeout;
  ApiResult<std::unique_ptr<LineStream>> opening =
      co_await transport.open(std::move(request), deadline);
  if (is_stopped) co_return std::nullopt;
  if (!opening) co_return interruption(opening.error());

  stream = std::move(*opening);
  health.set_living();
  if (failures > 0) telemetry::info("watch_restored", {{"resource", options.resource}});
  saw_event();
  Ending ending = co_await follow(opened, time);
  if (health.broken_since() == std::nullopt) health.set_broken(Clock::now());
  stream.reset();

  const auto lasted = Clock::now() - opened;
  if (!ending || lasted >= options.healthy_after) failures = 0;
  if (!ending && lasted < options.least_watch && !is_stopped) {
    ending = Interruption{.cause = Cause::short_watch, .detail = "the watch ended at once"};
  }
  co_return ending;
}

// Reads an open watch to its end.
awaitable<Ending> ListWatch::State::follow(Clock::time_point opened, std::chrono::seconds time) {
  auto last = Clock::now();
  for (;;) {
    const auto deadline = std::max(opened + time, last) + options.silence_grace;
    const ApiResult<std::optional<std::string_view>> line = co_await stream->read_line(deadline);
    if (is_stopped) co_return std::nullopt;
    if (!line) {
      Interruption why = interruption(line.error());
      if (why.cause == Cause::timeout) {
        why.cause = Cause::silence;
        health.set_broken(last);  // nobody knows what was missed since
      }
      co_return why;
    }
    if (!*line) co_return std::nullopt;
    last = Clock::now();
    if (Ending ending = take(**line)) co_return ending;
  }
}

Ending ListWatch::State::take(std::string_view line) {
  if (line.find_first_not_of(" \r\t") == std::string_view::npos) return std::nullopt;
  saw_event();
  const base::Result<WatchSink::EventHead> event = sink.take_event(line);
  if (!event) {
    return Interruption{.cause = Cause::unreadable,
                        .detail = "a line of the watch cannot be read: " + event.error().message,
                        .next = Next::list};
  }
  if (event->kind == codec::EventKind::error) return interruption(event->status);
  if (is_rewound(version, event->resource_version)) {
    return Interruption{.cause = Cause::rewound,
                        .detail = "version " + event->resource_version + " came after " + version,
                        .next = Next::list};
  }
  if (!event->resource_version.empty()) version = event->resource_version;
  show_objects();
  metrics.watch_last_sync.set(unix_now(), options.resource);
  return std::nullopt;
}

awaitable<void> ListWatch::State::pause(const Interruption& why) {
  milliseconds wait = delay_before(failures++, options.backoff, draw());
  if (why.retry_after) {
    const milliseconds asked = std::min(*why.retry_after, kLongestRetryAfter);
    wait = std::max(wait, asked + milliseconds(static_cast<milliseconds::rep>(500 * draw())));
  }
  const std::string_view cause = to_text(why.cause);
  metrics.watch_restarts.add(options.resource, cause);
  health.set_failure(why.detail);
  health.set_forbidden(why.cause == Cause::forbidden);
  telemetry::warn("watch_interrupted", {{"resource", options.resource},
                                        {"cause", cause},
                                        {"detail", why.detail},
                                        {"pause_ms", wait.count()},
                                        {"list", version.empty()}});
  boost::system::error_code ignored;
  auto into_error = asio::redirect_error(asio::use_awaitable, ignored);
  timer.expires_after(wait);
  co_await timer.async_wait(into_error);
}

ListWatch::ListWatch(asio::any_io_executor executor, Transport& transport, WatchSink& sink,
                     WatchHealth& health, telemetry::Metrics& metrics, WatchOptions options)
    : state_(std::make_unique<State>(std::move(executor), transport, sink, health, metrics,
                                     std::move(options))) {}

ListWatch::~ListWatch() = default;

awaitable<void> ListWatch::run() {
  State& state = *state_;
  while (!state.is_stopped) {
    Ending ending;
    if (state.version.empty()) {
      ending = co_await state.list();
    } else {
      ending = co_await state.watch();
    }
    if (!ending || state.is_stopped) continue;
    if (ending->next == Next::list) state.version.clear();
    co_await state.pause(*ending);
  }
}

void ListWatch::stop() {
  state_->is_stopped = true;
  if (state_->stream) state_->stream->close();
  state_->timer.cancel();
}

}  // namespace xila::kube
