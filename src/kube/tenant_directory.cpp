#include "xila/kube/tenant_directory.hpp"

#include <atomic>
#include <thread>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "interruption.hpp"
#include "live_lookups.hpp"
#include "namespaces.hpp"
#include "xila/policy/label_selector.hpp"

namespace xila::kube {

namespace asio = boost::asio;
using asio::awaitable;
using policy::TenantResolution;
using Clock = std::chrono::steady_clock;

WatchOptions namespace_watch() {
  return {.resource = "namespaces",
          .path = "/api/v1/namespaces",
          .list_accept = std::string(kListMetadata),
          .watch_accept = std::string(kGetMetadata),
          .watch_least = std::chrono::seconds(50),
          .watch_most = std::chrono::seconds(60),
          .backoff = {.cap = std::chrono::seconds(8)}};
}

struct TenantDirectory::State {
  State(TenantDirectoryOptions o, telemetry::Metrics& m) : options(std::move(o)), metrics(m) {}

  const TenantDirectoryOptions options;
  telemetry::Metrics& metrics;
  Namespaces namespaces;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Reflector<PackedLabels>> reflector;
  std::unique_ptr<LiveLookups> live;
  std::thread thread;
  std::atomic<bool> is_stopped{false};

  bool is_fresh() const { return reflector->health().is_fresh(options.staleness_limit); }

  awaitable<TenantResolution> look_up(std::string space, std::string label, Deadline deadline);
  std::optional<TenantResolution> newer_in_cache(const std::string& space, const std::string& label,
                                                 const LiveAnswer& answer) const;
};

// Runs on the directory's thread.
awaitable<TenantResolution> TenantDirectory::State::look_up(std::string space, std::string label,
                                                            Deadline deadline) {
  const LiveAnswer answer = co_await live->ask(space, label, deadline);
  if (answer.kind == LiveAnswer::Kind::failed) {
    co_return TenantResolution::lookup_failed(answer.why);
  }
  if (auto newer = newer_in_cache(space, label, answer)) co_return std::move(*newer);
  if (answer.kind == LiveAnswer::Kind::missing) {
    co_return TenantResolution::unresolved("it does not exist");
  }
  co_return tenant_of(answer.labels, label);
}

// The answer was under way for a while, and the watch may have brought a change since. A live
// answer is never put into the cache: only the watch knows the order of things.
std::optional<TenantResolution> TenantDirectory::State::newer_in_cache(
    const std::string& space, const std::string& label, const LiveAnswer& answer) const {
  if (answer.kind != LiveAnswer::Kind::found || !is_fresh()) return std::nullopt;
  return namespaces.read(space, [&](const Namespaces::Entry* entry) {
    const bool is_newer =
        entry != nullptr && is_rewound(entry->resource_version, answer.resource_version);
    return is_newer ? std::optional(tenant_of(entry->object, label)) : std::nullopt;
  });
}

base::Result<std::unique_ptr<TenantDirectory>> TenantDirectory::make(
    const MakeTransport& make_transport, TenantDirectoryOptions options,
    telemetry::Metrics& metrics) {
  auto state = std::make_unique<State>(std::move(options), metrics);
  const asio::any_io_executor executor = state->io.get_executor();
  base::Result<std::unique_ptr<Transport>> transport = make_transport(executor);
  if (!transport) return std::unexpected(transport.error());
  state->transport = std::move(*transport);
  state->reflector =
      std::make_unique<Reflector<PackedLabels>>(executor, *state->transport, namespace_decoder(),
                                                state->namespaces, metrics, state->options.watch);
  state->live = std::make_unique<LiveLookups>(executor, *state->transport, metrics,
                                              state->options.live_lookups);
  return std::unique_ptr<TenantDirectory>(new TenantDirectory(std::move(state)));
}

TenantDirectory::TenantDirectory(std::unique_ptr<State> state) : state_(std::move(state)) {}

TenantDirectory::~TenantDirectory() {
  stop();
}

void TenantDirectory::start() {
  asio::co_spawn(state_->io, state_->reflector->run(), asio::detached);
  state_->thread = std::thread([this] { state_->io.run(); });
}

void TenantDirectory::stop() {
  state_->is_stopped = true;
  if (!state_->thread.joinable()) return;
  asio::post(state_->io, [this] {
    state_->reflector->stop();
    state_->live->stop();
    state_->transport->close();
    state_->work.reset();
  });
  state_->thread.join();
}

std::optional<std::string> TenantDirectory::not_ready_because() const {
  const WatchHealth& health = state_->reflector->health();
  const std::string failure = health.last_failure();
  const std::string why = failure.empty() ? "" : ": " + failure;
  if (!health.is_synced()) return "the namespaces are not synced yet" + why;
  const auto since = health.broken_since();
  if (!since) return std::nullopt;
  const auto broken = Clock::now() - *since;
  if (broken <= state_->options.staleness_limit) return std::nullopt;
  const auto seconds = [](auto time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
  };
  return "the watch of namespaces has been broken for " + seconds(broken) + " (limit " +
         seconds(state_->options.staleness_limit) + ")" + why;
}

std::optional<TenantResolution> TenantDirectory::known(const std::string& space,
                                                       const policy::Rulebook& rulebook) {
  const auto entry = rulebook.static_tenants.find(space);
  if (entry != rulebook.static_tenants.end()) {
    state_->metrics.tenant_lookups.add("static");
    return TenantResolution::resolved(entry->second);
  }
  if (!state_->is_fresh()) return std::nullopt;
  auto answer = state_->namespaces.read(space, [&](const Namespaces::Entry* found) {
    return found ? std::optional(tenant_of(found->object, rulebook.tenant_label)) : std::nullopt;
  });
  if (answer) state_->metrics.tenant_lookups.add("cache");
  return answer;
}

awaitable<TenantResolution> TenantDirectory::resolve(const std::string& space,
                                                     const policy::Rulebook& rulebook,
                                                     Deadline deadline) {
  std::optional<TenantResolution> answer = known(space, rulebook);
  if (answer) co_return std::move(*answer);
  if (!policy::validate_dns_label(space)) {
    co_return TenantResolution::unresolved("that is no name of a namespace");
  }
  if (state_->is_stopped) co_return TenantResolution::lookup_failed("the server is shutting down");
  // There and back: the answer comes on the caller's own executor.
  awaitable<TenantResolution> work = state_->look_up(space, rulebook.tenant_label, deadline);
  co_return co_await asio::co_spawn(state_->io, std::move(work), asio::use_awaitable);
}

}  // namespace xila::kube
