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

void WatchHealth::set_living() {
  alive_until_.store(kLiving, std::memory_order_release);
}

void WatchHealth::set_broken(Clock::time_point since) {
  alive_until_.store(since.time_since_epoch().count(), std::memory_order_release);
}

void WatchHealth::set_failure(std::string why) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(why);
}

}  // namespace xila::kube
