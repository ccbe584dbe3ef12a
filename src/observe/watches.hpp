#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "engine.hpp"
#include "feed.hpp"
#include "xila/kube/list_watch.hpp"
#include "xila/kube/transport.hpp"
#include "xila/kube/watch_health.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::observe {

// The watches of all kinds, and how far what they brought can be trusted.
class Watches {
 public:
  // All references outlive it; one thread, except not_ready_because().
  Watches(boost::asio::any_io_executor executor, kube::Transport& transport,
          telemetry::Metrics& metrics, Engine& engine, const FeedHooks& hooks);

  void start();
  void stop();

  Trust trust(Steady now) const;
  // Everything that can be listed is listed and watched. A kind that RBAC refuses does not hold the
  // others up; without Pods or namespaces there is nothing to judge.
  bool is_complete() const;
  // Says once what RBAC refuses and what is not judged for it, and once that it no longer does.
  void note_refusals();
  // Why what is known may be old; nothing = it is not. Thread-safe.
  std::optional<std::string> stale_because() const;

 private:
  struct Watch {
    std::string resource;
    const char* purpose;  // what is not judged without it
    bool is_needed;       // without it nothing is judged
    kube::WatchHealth health;
    std::unique_ptr<kube::WatchSink> sink;
    std::unique_ptr<kube::ListWatch> list_watch;
    bool was_refused = false;
  };

  template <class T>
  Watch& add(const Kind<T>& kind, kube::WatchOptions options, const char* purpose, bool is_needed);

  boost::asio::any_io_executor executor_;
  kube::Transport& transport_;
  telemetry::Metrics& metrics_;
  Engine& engine_;
  const FeedHooks& hooks_;
  std::vector<std::unique_ptr<Watch>> all_;
  Watch& pods_;
  Watch& nodes_;
  Watch& spaces_;
  Watch& claims_;
  Watch& volumes_;
};

}  // namespace xila::observe
