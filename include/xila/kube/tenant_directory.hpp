#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "xila/base/result.hpp"
#include "xila/kube/list_watch.hpp"
#include "xila/kube/tenant_source.hpp"
#include "xila/kube/transport.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::kube {

// Namespaces by their metadata, watched for about a minute at a time, so that a hung watch is
// noticed soon; after a failure back within 8 s.
WatchOptions namespace_watch();

struct TenantDirectoryOptions {
  // Without a living watch for longer, the cache is not asked: every look-up goes live.
  std::chrono::milliseconds staleness_limit{60'000};
  std::size_t live_lookups = 32;  // under way at most
  WatchOptions watch = namespace_watch();
};

// Whose namespace is this, by the policy's static map and the cluster's namespaces.
//
// The static map wins. Else the label in the cache of namespaces; where the cache does not know the
// namespace, or cannot be trusted, one live GET within the review's deadline. Whatever goes wrong
// is a failed look-up: never a tenant, and never "no tenant needed". Runs on a thread of its own.
class TenantDirectory final : public TenantSource {
 public:
  // Error: credentials that cannot be read. `metrics` outlives it.
  static base::Result<std::unique_ptr<TenantDirectory>> make(const MakeTransport& make_transport,
                                                             TenantDirectoryOptions options,
                                                             telemetry::Metrics& metrics);
  ~TenantDirectory() override;

  // Begins to watch. Call once.
  void start();
  // Ends the watch and answers whoever waits. Call it when the servers that ask have stopped, and
  // before they are destroyed.
  void stop();

  // Nothing = ready: the namespaces are known and a watch lives, or broke only just. Thread-safe.
  std::optional<std::string> not_ready_because() const;

  std::optional<policy::TenantResolution> known(const std::string& space,
                                                const policy::Rulebook& rulebook) override;
  boost::asio::awaitable<policy::TenantResolution> resolve(const std::string& space,
                                                           const policy::Rulebook& rulebook,
                                                           Deadline deadline) override;

 private:
  struct State;
  explicit TenantDirectory(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace xila::kube
