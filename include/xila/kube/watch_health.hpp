#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace xila::kube {

// How far a reflector's store can be trusted. Written by the reflector, read by any thread.
//
// A watch lives from the head of its answer until it ends. How long it may be silent is bounded by
// its timeoutSeconds, so a hung one is noticed then, and counts as dead since it last said
// anything.
class WatchHealth {
 public:
  using Clock = std::chrono::steady_clock;

  // A list was taken over whole at least once.
  bool is_synced() const { return is_synced_.load(std::memory_order_acquire); }
  // Nothing while a watch lives; else since when none does.
  std::optional<Clock::time_point> broken_since() const;
  // Synced, and no longer without a living watch than `limit`.
  bool is_fresh(Clock::duration limit) const;
  // When a watch last took over after more than a second without one: what it missed is still on
  // its way then. Nothing = never.
  std::optional<Clock::time_point> resumed_at() const;
  // The last try was refused with 403: no patience helps.
  bool is_forbidden() const { return is_forbidden_.load(std::memory_order_acquire); }
  // Why the last list or watch ended, for people; "" = none did badly.
  std::string last_failure() const;

  void set_synced() { is_synced_.store(true, std::memory_order_release); }
  void set_living();
  void set_broken(Clock::time_point since);
  void set_failure(std::string why);
  void set_forbidden(bool is_forbidden) {
    is_forbidden_.store(is_forbidden, std::memory_order_release);
  }

 private:
  static constexpr std::int64_t kLiving = INT64_MAX;

  std::atomic<bool> is_synced_{false};
  std::atomic<bool> is_forbidden_{false};
  std::atomic<std::int64_t> alive_until_{0};  // ticks of Clock
  std::atomic<std::int64_t> resumed_at_{0};   // likewise; 0 = never
  mutable std::mutex mutex_;
  std::string failure_;
};

}  // namespace xila::kube
