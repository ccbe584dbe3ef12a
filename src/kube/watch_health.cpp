#include "xila/kube/watch_health.hpp"

#include <utility>

namespace xila::kube {

std::optional<WatchHealth::Clock::time_point> WatchHealth::broken_since() const {
  const std::int64_t until = alive_until_.load(std::memory_order_acquire);
  if (until == kLiving) return std::nullopt;
  return Clock::time_point(Clock::duration(until));
}

bool WatchHealth::is_fresh(Clock::duration limit) const {
  if (!is_synced()) return false;
  const std::optional<Clock::time_point> since = broken_since();
  return !since || Clock::now() - *since <= limit;
}

std::string WatchHealth::last_failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::optional<WatchHealth::Clock::time_point> WatchHealth::resumed_at() const {
  const std::int64_t at = resumed_at_.load(std::memory_order_acquire);
  if (at == 0) return std::nullopt;
  return Clock::time_point(Clock::duration(at));
}

void WatchHealth::set_living() {
  constexpr std::chrono::seconds kUnnoticed{1};
  set_forbidden(false);
  const std::int64_t until = alive_until_.exchange(kLiving, std::memory_order_acq_rel);
  if (until == 0 || until == kLiving) return;  // the first one takes over from nobody
  const Clock::time_point now = Clock::now();
  if (now - Clock::time_point(Clock::duration(until)) > kUnnoticed) {
    resumed_at_.store(now.time_since_epoch().count(), std::memory_order_release);
  }
}

void WatchHealth::set_broken(Clock::time_point since) {
  alive_until_.store(since.time_since_epoch().count(), std::memory_order_release);
}

void WatchHealth::set_failure(std::string why) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(why);
}

}  // namespace xila::kube
