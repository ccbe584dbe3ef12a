#include "live_lookups.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "percent_encode.hpp"
#include "xila/codec/object_meta.hpp"
#include "xila/kube/list_watch.hpp"
#include "xila/telemetry/log.hpp"

namespace xila::kube {

namespace asio = boost::asio;
using asio::awaitable;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

// Nobody joins a request that has been under way for longer: what it reads may be as old, and a
// tenant's label that was taken away must not count for 2 s more.
constexpr milliseconds kJoinable{1'000};
// Kept back from the asker's deadline, for the way back to it.
constexpr milliseconds kMargin{20};

// For the Pod's author: the log has the API server's own words, which name our account.
std::string in_words(const ApiError& error) {
  if (error.what == ApiFailure::status) {
    const std::string reason = error.reason.empty() ? "" : " " + error.reason;
    return "the API server answered " + std::to_string(error.status) + reason;
  }
  return error.message;
}

LiveAnswer to_answer(const ApiResult<std::string>& body, const std::string& space) {
  if (!body) {
    const bool is_missing = body.error().what == ApiFailure::status && body.error().status == 404;
    if (is_missing) return {.kind = LiveAnswer::Kind::missing};
    return {.why = in_words(body.error())};
  }
  const base::Result<codec::Item<codec::ObjectMeta>> item = codec::decode_metadata(*body);
  if (!item) return {.why = "the API server's answer cannot be read: " + item.error().message};
  if (item->id.name != space) return {.why = "the API server answered for another namespace"};
  return {.kind = LiveAnswer::Kind::found,
          .labels = PackedLabels(item->object.labels),
          .resource_version = item->id.resource_version};
}

}  // namespace

struct LiveLookups::Lookup {
  std::string space;
  Clock::time_point started;
  bool is_done = false;
  LiveAnswer answer;
  std::vector<asio::steady_timer*> waiters;
};

LiveLookups::LiveLookups(asio::any_io_executor executor, Transport& transport,
                         telemetry::Metrics& metrics, std::size_t limit)
    : executor_(std::move(executor)), transport_(transport), metrics_(metrics), limit_(limit) {}

LiveLookups::Shared LiveLookups::join(const std::string& space) {
  const auto found = under_way_.find(space);
  if (found == under_way_.end()) return nullptr;
  return Clock::now() - found->second->started <= kJoinable ? found->second : nullptr;
}

LiveLookups::Shared LiveLookups::start(const std::string& space, Deadline deadline) {
  auto lookup = std::make_shared<Lookup>();
  lookup->space = space;
  lookup->started = Clock::now();
  under_way_[space] = lookup;
  metrics_.tenant_lookups_in_flight.set(static_cast<double>(++in_flight_));
  asio::co_spawn(executor_, run(lookup, deadline), asio::detached);
  return lookup;
}

awaitable<void> LiveLookups::run(Shared lookup, Deadline deadline) {
  ApiRequest request;
  request.target = "/api/v1/namespaces/" + percent_encode(lookup->space);
  request.accept = kGetMetadata;
  const ApiResult<std::string> body = co_await transport_.send(std::move(request), deadline);
  lookup->answer = to_answer(body, lookup->space);
  lookup->is_done = true;
  if (lookup->answer.kind == LiveAnswer::Kind::failed) {
    telemetry::warn("tenant_lookup_failed",
                    {{"namespace", lookup->space},
                     {"error", body ? lookup->answer.why : body.error().message}});
  }
  const auto found = under_way_.find(lookup->space);
  if (found != under_way_.end() && found->second == lookup) under_way_.erase(found);
  metrics_.tenant_lookups_in_flight.set(static_cast<double>(--in_flight_));
  for (asio::steady_timer* waiter : lookup->waiters) waiter->cancel();
}

awaitable<void> LiveLookups::wait(Shared lookup, Deadline deadline) {
  asio::steady_timer timer(executor_, deadline);
  lookup->waiters.push_back(&timer);
  boost::system::error_code ignored;
  auto into_error = asio::redirect_error(asio::use_awaitable, ignored);
  co_await timer.async_wait(into_error);
  std::erase(lookup->waiters, &timer);
}

awaitable<LiveAnswer> LiveLookups::ask(std::string space, std::string label, Deadline deadline) {
  const auto asked = Clock::now();
  const Deadline answer_by = deadline - kMargin;
  for (;;) {
    if (is_stopped_) co_return fail("the server is shutting down");
    if (Clock::now() >= answer_by) co_return fail("there is no time left");
    Shared lookup = join(space);
    const bool is_shared = lookup != nullptr;
    if (!is_shared && in_flight_ >= limit_) {
      metrics_.tenant_lookups.add("overloaded");
      co_return LiveAnswer{.why = std::to_string(limit_) + " live look-ups are under way already"};
    }
    if (!is_shared) lookup = start(space, answer_by);
    if (!lookup->is_done) co_await wait(lookup, answer_by);
    if (!lookup->is_done) co_return fail("the API server did not answer in time");

    // A request that was under way before this question may have read the time before it, when the
    // namespace was not there or had no label; and it may have had less time.
    const bool is_older = lookup->started < asked;
    if (is_older && !lookup->answer.labels.find(label)) continue;
    if (lookup->answer.kind == LiveAnswer::Kind::failed) co_return fail(lookup->answer.why);
    metrics_.tenant_lookups.add(is_shared ? "shared" : "live");
    co_return lookup->answer;
  }
}

LiveAnswer LiveLookups::fail(std::string why) {
  metrics_.tenant_lookups.add("failed");
  return {.why = std::move(why)};
}

void LiveLookups::stop() {
  is_stopped_ = true;
}

}  // namespace xila::kube
