#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "xila/kube/transport.hpp"
#include "xila/net/http.hpp"
#include "xila/policy/rulebook.hpp"
#include "xila/telemetry/metrics.hpp"
#include "xila/telemetry/report_log.hpp"

namespace xila::observe {

// Who reports, where several replicas watch.
struct LeaseOptions {
  std::string space;
  std::string name;
  std::chrono::milliseconds duration{10'000};       // unchanged for so long, it is free
  std::chrono::milliseconds renew_deadline{6'000};  // not renewed for so long, its holder gives up
  std::chrono::milliseconds retry{2'000};
};

struct ControllerOptions {
  std::string instance;   // this replica's name: its Pod's
  std::string own_space;  // the namespace that it runs in; "" = none
  std::chrono::milliseconds settle_after_bind{30'000};
  std::chrono::milliseconds settle_after_relabel{60'000};
  bool all_reviewed = false;          // the webhook sees every Pod of every tenant
  std::optional<LeaseOptions> lease;  // nothing = this replica alone reports
  double events_per_second = 10;      // 0 = no Events
  double events_burst = 50;
};

// Watches a cluster, judges its Pods as the webhook would and by their nodes, and reports: lines
// into the report log, Events, metrics. It never blocks and never writes to a Pod.
//
// Runs on one executor of one thread; all references outlive it.
class Controller {
 public:
  Controller(boost::asio::any_io_executor executor, kube::Transport& transport,
             telemetry::Metrics& metrics, telemetry::ReportLog& report,
             std::shared_ptr<const policy::Rulebook> rulebook, ControllerOptions options);
  ~Controller();

  void start();
  // From now on by this rulebook; what it changes is judged in the background.
  void use(std::shared_ptr<const policy::Rulebook> rulebook);
  // Ends the watches and gives the lease back; `done` is called once nothing more happens.
  void stop(std::function<void()> done);

  // Nothing = ready: everything was judged, and the watches live or broke only just. Thread-safe.
  std::optional<std::string> not_ready_because() const;
  // The open findings as JSON: at most `limit`, of `tenant` alone unless that is empty. From any
  // thread.
  boost::asio::awaitable<std::string> findings(std::size_t limit, std::string tenant);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// GET /findings. `controller` outlives the service.
net::Service findings_service(Controller& controller);

}  // namespace xila::observe
