#include "watches.hpp"

#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "xila/telemetry/log.hpp"

namespace xila::observe {

namespace asio = boost::asio;

namespace {

// What a watch missed while it was broken comes within so long after it is back.
constexpr std::chrono::seconds kCatchUp{2};
// Longer without a living watch, and what is known is old.
constexpr std::chrono::seconds kStale{60};

bool is_live(const kube::WatchHealth& health) {
  return health.is_synced() && !health.broken_since();
}

bool is_in_step(const kube::WatchHealth& health, Steady now) {
  const auto resumed = health.resumed_at();
  return is_live(health) && (!resumed || now - *resumed >= kCatchUp);
}

}  // namespace

Watches::Watches(asio::any_io_executor executor, kube::Transport& transport,
                 telemetry::Metrics& metrics, Engine& engine, const FeedHooks& hooks)
    : executor_(std::move(executor)),
      transport_(transport),
      metrics_(metrics),
      engine_(engine),
      hooks_(hooks),
      pods_(add(kPods, pod_watch(), "nothing", true)),
      nodes_(add(kNodes, node_watch(), "placement rules", false)),
      spaces_(add(kSpaces, space_watch(), "nothing", true)),
      claims_(add(kClaims, claim_watch(), "host-path-claim", false)),
      volumes_(add(kVolumes, volume_watch(), "host-path-claim", false)) {}

template <class T>
Watches::Watch& Watches::add(const Kind<T>& kind, kube::WatchOptions options, const char* purpose,
                             bool is_needed) {
  auto watch = std::make_unique<Watch>();
  watch->resource = options.resource;
  watch->purpose = purpose;
  watch->is_needed = is_needed;
  watch->sink = std::make_unique<Feed<T>>(engine_, kind, hooks_);
  watch->list_watch = std::make_unique<kube::ListWatch>(
      executor_, transport_, *watch->sink, watch->health, metrics_, std::move(options));
  metrics_.forbidden.set(0, watch->resource);
  all_.push_back(std::move(watch));
  return *all_.back();
}

void Watches::start() {
  for (const auto& watch : all_) {
    asio::co_spawn(executor_, watch->list_watch->run(), asio::detached);
  }
}

void Watches::stop() {
  for (const auto& watch : all_) watch->list_watch->stop();
}

Trust Watches::trust(Steady now) const {
  return {.cluster = is_in_step(pods_.health, now) && is_in_step(spaces_.health, now),
          .nodes = is_in_step(nodes_.health, now),
          .storage = is_in_step(claims_.health, now) && is_in_step(volumes_.health, now)};
}

bool Watches::is_complete() const {
  for (const auto& watch : all_) {
    const bool is_refused = !watch->is_needed && watch->health.is_forbidden();
    if (!is_live(watch->health) && !is_refused) return false;
  }
  return true;
}

void Watches::note_refusals() {
  for (const auto& watch : all_) {
    const bool is_refused = watch->health.is_forbidden();
    if (std::exchange(watch->was_refused, is_refused) == is_refused) continue;
    metrics_.forbidden.set(is_refused ? 1 : 0, watch->resource);
    if (is_refused) {
      const char* effect = watch->is_needed ? "nothing is judged" : watch->purpose;
      telemetry::error("permission_missing", {{"resource", watch->resource},
                                              {"verbs", "list, watch"},
                                              {"not_judged", effect},
                                              {"reason", watch->health.last_failure()}});
    } else {
      telemetry::info("permission_granted", {{"resource", watch->resource}});
    }
  }
}

std::optional<std::string> Watches::stale_because() const {
  for (const auto& watch : all_) {
    const kube::WatchHealth& health = watch->health;
    if (!watch->is_needed && health.is_forbidden()) continue;
    const std::string failure = health.last_failure();
    const std::string why = failure.empty() ? "" : ": " + failure;
    if (!health.is_synced()) return watch->resource + " are not listed yet" + why;
    if (!health.is_fresh(kStale)) {
      return "the watch of " + watch->resource + " has been broken for more than " +
             std::to_string(kStale.count()) + " s" + why;
    }
  }
  return std::nullopt;
}

}  // namespace xila::observe
