#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "xila/base/result.hpp"
#include "xila/codec/watch_event.hpp"
#include "xila/kube/backoff.hpp"
#include "xila/kube/transport.hpp"
#include "xila/kube/watch_health.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::kube {

inline constexpr std::string_view kListMetadata =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
inline constexpr std::string_view kGetMetadata =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

// What is listed and watched, and with how much patience.
struct WatchOptions {
  std::string resource;  // its name in logs and metrics: "namespaces"
  std::string path;      // "/api/v1/namespaces"
  std::string
      selector;  // more of the query, encoded: "fieldSelector=spec.nodeName%21%3D"; "" = none
  std::string list_accept = "application/json";
  std::string watch_accept = "application/json";

  // timeoutSeconds, drawn anew for each watch, so that a server's clients do not come back at once.
  std::chrono::seconds watch_least{300};
  std::chrono::seconds watch_most{600};
  // A watch that says nothing for so long past its timeoutSeconds is dead.
  std::chrono::milliseconds silence_grace{5'000};
  std::chrono::milliseconds open_timeout{15'000};
  std::chrono::milliseconds page_timeout{30'000};
  // A watch that ends sooner is followed by a pause, also when it ends well.
  std::chrono::milliseconds least_watch{1'000};
  // A watch that lived so long ends a series of failures.
  std::chrono::milliseconds healthy_after{10'000};
  unsigned page_size = 500;
  BackoffLimits backoff;
};

// What a list and its watch bring is fed into this: the half of a reflector that knows the type.
class WatchSink {
 public:
  struct PageHead {
    std::string resource_version;
    std::string next;
  };
  struct EventHead {
    codec::EventKind kind = codec::EventKind::error;
    std::string resource_version;
    codec::Status status;
  };

  virtual ~WatchSink() = default;
  // Forgets the pages of a list that did not come to its end.
  virtual void begin_list() = 0;
  virtual base::Result<PageHead> take_page(std::string_view text) = 0;
  // The list is whole: from here on it is what the store shows.
  virtual void commit_list() = 0;
  virtual base::Result<EventHead> take_event(std::string_view line) = 0;
  virtual std::size_t size() const = 0;
};

// Lists, watches, and begins again, for ever: resumes a watch where it ended, lists anew where that
// is gone (410), and waits longer after each failure. Lists ask for the newest state (no
// resourceVersion): with resourceVersion=0 an API server may answer from a cache that lags, and a
// tenant's label that was taken away would come back; it also ignores `limit`.
class ListWatch {
 public:
  // All references outlive it; one thread.
  ListWatch(boost::asio::any_io_executor executor, Transport& transport, WatchSink& sink,
            WatchHealth& health, telemetry::Metrics& metrics, WatchOptions options);
  ~ListWatch();

  // Runs until stop().
  boost::asio::awaitable<void> run();
  // Ends what waits, except a request under way: Transport::close() does that.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xila::kube
