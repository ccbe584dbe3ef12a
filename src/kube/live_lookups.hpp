#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "packed_labels.hpp"
#include "xila/kube/tenant_source.hpp"
#include "xila/kube/transport.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::kube {

// What the API server said of one namespace just now.
struct LiveAnswer {
  enum class Kind : std::uint8_t { found, missing, failed };

  Kind kind = Kind::failed;
  PackedLabels labels;           // found
  std::string resource_version;  // found
  std::string why;               // failed, in words for whoever made the Pod
};

// Reads single namespaces from the API server. Questions for one namespace that come together share
// one request; at most `limit` requests are under way. For one thread.
class LiveLookups {
 public:
  // All references outlive it.
  LiveLookups(boost::asio::any_io_executor executor, Transport& transport,
              telemetry::Metrics& metrics, std::size_t limit);

  // Always ends before `deadline`. `space` is a valid namespace name. An answer without `label` is
  // never older than the question.
  boost::asio::awaitable<LiveAnswer> ask(std::string space, std::string label, Deadline deadline);

  // From now on all questions, those under way too, fail at once.
  void stop();

 private:
  struct Lookup;
  using Shared = std::shared_ptr<Lookup>;

  Shared join(const std::string& space);
  Shared start(const std::string& space, Deadline deadline);
  boost::asio::awaitable<void> run(Shared lookup, Deadline deadline);
  LiveAnswer fail(std::string why);
  boost::asio::awaitable<void> wait(Shared lookup, Deadline deadline);

  boost::asio::any_io_executor executor_;
  Transport& transport_;
  telemetry::Metrics& metrics_;
  const std::size_t limit_;
  std::size_t in_flight_ = 0;
  bool is_stopped_ = false;
  std::map<std::string, Shared> under_way_;  // the newest of each namespace
};

}  // namespace xila::kube
