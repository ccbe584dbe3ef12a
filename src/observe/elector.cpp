#include "elector.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "xila/telemetry/log.hpp"

namespace xila::observe {

namespace asio = boost::asio;
using asio::awaitable;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

constexpr milliseconds kLookPatience{5'000};
constexpr milliseconds kReleasePatience{2'000};
constexpr int kReleaseTries = 2;
constexpr milliseconds kNotYet{500};
// How soon after a report the lease says so; reports in between share the writing.
constexpr milliseconds kNudge{200};

std::string path_of(const LeaseOptions& options) {
  return "/apis/coordination.k8s.io/v1/namespaces/" + options.space + "/leases";
}

std::string_view reason_of(const kube::ApiError& error) {
  if (error.what != kube::ApiFailure::status) return "unreachable";
  if (error.status == 409) return "conflict";
  return error.status == 403 || error.status == 401 ? "forbidden" : "refused";
}

bool is_status(const kube::ApiError& error, int status) {
  return error.what == kube::ApiFailure::status && error.status == status;
}

}  // namespace

Elector::Elector(asio::any_io_executor executor, kube::Transport& transport,
                 telemetry::Metrics& metrics, LeaseOptions options, std::string identity,
                 Listener listener)
    : transport_(transport),
      metrics_(metrics),
      options_(std::move(options)),
      identity_(std::move(identity)),
      listener_(std::move(listener)),
      timer_(std::move(executor)) {
  metrics_.leader.set(0);
}

awaitable<void> Elector::run() {
  while (!is_stopped_) {
    Pause pause{};
    if (is_leading_) {
      pause = co_await renew();
    } else {
      pause = co_await follow();
    }
    if (!is_stopped_) co_await wait(pause);
  }
}

void Elector::stop() {
  is_stopped_ = true;
  timer_.cancel();
}

void Elector::nudge() {
  if (!is_leading_ || std::exchange(is_nudged_, true)) return;
  timer_.cancel();
}

awaitable<void> Elector::wait(Pause pause) {
  boost::system::error_code error;
  auto into_error = asio::redirect_error(asio::use_awaitable, error);
  if (!is_nudged_) {
    timer_.expires_after(pause);
    co_await timer_.async_wait(into_error);
  }
  if (is_nudged_ && is_leading_ && !is_stopped_) {
    timer_.expires_after(std::min<Pause>(pause, kNudge));
    co_await timer_.async_wait(into_error);
  }
}

// Reads the lease. False where nobody knows what it is.
awaitable<bool> Elector::look(net::Deadline deadline) {
  kube::ApiRequest request{.target = path_of(options_) + "/" + options_.name};
  const kube::ApiResult<std::string> answer =
      co_await transport_.send(std::move(request), deadline);
  if (!answer && is_status(answer.error(), 404)) {
    seen_.reset();
    co_return true;
  }
  if (!answer) {
    failed(answer.error());
    co_return false;
  }
  base::Result<codec::Lease> lease = codec::decode_lease(*answer);
  if (!lease) {
    failed({.message = "the lease cannot be read: " + lease.error().message});
    co_return false;
  }
  const bool has_changed = !seen_ || seen_->resource_version != lease->resource_version;
  // The first sight proves nothing: its holder may have died long ago.
  const bool is_alive = seen_ && has_changed && !lease->holder.empty();
  if (has_changed) seen_at_ = Clock::now();
  seen_ = std::move(*lease);
  if (is_alive && seen_->holder != identity_) listener_.saw_leader();
  co_return true;
}

awaitable<bool> Elector::put(codec::Lease lease, bool is_new, net::Deadline deadline) {
  const auto now = Clock::now();
  kube::ApiRequest request{.method = is_new ? "POST" : "PUT",
                           .target = path_of(options_) + (is_new ? "" : "/" + options_.name),
                           .content_type = "application/json",
                           .body = codec::encode_lease(lease)};
  const kube::ApiResult<std::string> answer =
      co_await transport_.send(std::move(request), deadline);
  if (!answer) {
    failed(answer.error());
    co_return false;
  }
  base::Result<codec::Lease> written = codec::decode_lease(*answer);
  if (!written) {
    failed({.message = "the lease cannot be read: " + written.error().message});
    co_return false;
  }
  seen_ = std::move(*written);
  seen_at_ = Clock::now();
  renewed_at_ = now;
  last_failure_.clear();
  co_return true;
}

awaitable<Elector::Pause> Elector::follow() {
  const bool is_known = co_await look(Clock::now() + kLookPatience);
  if (!is_known || is_stopped_) co_return options_.retry;

  const std::optional<codec::Lease> before = seen_;
  if (before && !before->holder.empty() && before->holder != identity_) {
    const Pause lasts =
        before->duration.count() > 0 ? Pause(before->duration) : Pause(options_.duration);
    const Pause rest = seen_at_ + lasts - Clock::now();
    if (rest > Pause(0)) co_return std::min<Pause>(rest, options_.retry);
  }
  if (!listener_.may_lead()) co_return kNotYet;
  codec::Lease lease = before.value_or(codec::Lease{});
  const auto now = std::chrono::system_clock::now();
  if (before && before->holder != identity_) ++lease.transitions;
  lease.name = options_.name;
  lease.space = options_.space;
  lease.holder = identity_;
  lease.duration = std::chrono::ceil<std::chrono::seconds>(options_.duration);
  lease.acquired = now;
  lease.renewed = now;
  const bool is_mine =
      co_await put(std::move(lease), !before, Clock::now() + options_.renew_deadline);
  if (!is_mine || is_stopped_) co_return options_.retry;

  is_leading_ = true;
  metrics_.leader.set(1);
  telemetry::info("leading", {{"lease", options_.space + "/" + options_.name},
                              {"identity", identity_},
                              {"before", before ? before->holder : ""}});
  listener_.lead(before);
  co_return options_.retry;
}

awaitable<Elector::Pause> Elector::renew() {
  is_nudged_ = false;
  codec::Lease lease = *seen_;
  lease.renewed = std::chrono::system_clock::now();
  lease.reported = listener_.reported();
  const net::Deadline deadline = renewed_at_ + options_.renew_deadline;
  // A connection that hangs may cost half of the time, so that another one can be tried.
  const net::Deadline first_try = Clock::now() + options_.renew_deadline / 2;
  const bool is_renewed = co_await put(std::move(lease), false, std::min(first_try, deadline));
  if (is_renewed || is_stopped_) co_return options_.retry;

  // Somebody else may have written it: then this replica's version is too old.
  const bool is_known = co_await look(deadline);
  if (is_known && (!seen_ || seen_->holder != identity_)) {
    step_down("another replica holds the lease");
    co_return options_.retry;
  }
  const Pause rest = deadline - Clock::now();
  if (rest <= Pause(0)) {
    step_down("it was not renewed in time");
    co_return options_.retry;
  }
  co_return std::min<Pause>(rest, is_known ? Pause(kNudge) : Pause(options_.retry));
}

awaitable<void> Elector::release() {
  // Once the server has it back another may lead, however late the answer comes.
  if (!std::exchange(is_leading_, false)) co_return;
  metrics_.leader.set(0);
  const net::Deadline deadline = Clock::now() + kReleasePatience;
  for (int attempt = 0; attempt < kReleaseTries && seen_ && seen_->holder == identity_; ++attempt) {
    codec::Lease lease = *seen_;
    lease.holder.clear();
    lease.renewed = std::chrono::system_clock::now();
    lease.duration = std::chrono::seconds(1);
    lease.reported = listener_.reported();
    const bool is_released = co_await put(std::move(lease), false, deadline);
    if (is_released) {
      telemetry::info("lease_released");
      co_return;
    }
    // A renewal that was under way may have made this version the older one.
    const bool is_known = co_await look(deadline);
    if (!is_known) co_return;
  }
}

void Elector::step_down(const char* why) {
  is_leading_ = false;
  is_nudged_ = false;  // a follower has nothing to write, and must wait
  metrics_.leader.set(0);
  telemetry::warn("lease_lost", {{"lease", options_.space + "/" + options_.name}, {"reason", why}});
  listener_.lost();
}

// One line per new reason, not one per try.
void Elector::failed(const kube::ApiError& error) {
  metrics_.lease_failures.add(reason_of(error));
  if (is_status(error, 409) || error.message == last_failure_) return;
  last_failure_ = error.message;
  telemetry::warn("lease_failed",
                  {{"lease", options_.space + "/" + options_.name}, {"reason", error.message}});
}

}  // namespace xila::observe
