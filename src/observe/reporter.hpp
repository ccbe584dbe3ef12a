#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "elector.hpp"
#include "engine.hpp"
#include "event_writer.hpp"
#include "finding_gauge.hpp"
#include "hand_over.hpp"
#include "pauses.hpp"
#include "xila/kube/transport.hpp"
#include "xila/observe/controller.hpp"
#include "xila/telemetry/metrics.hpp"
#include "xila/telemetry/report_log.hpp"

namespace xila::observe {

// Tells what happens: lines into the report, Events, metrics. While another replica holds the
// lease it tells nothing, and remembers what that one might leave untold.
class Reporter {
 public:
  // All references outlive it; one thread.
  Reporter(boost::asio::any_io_executor executor, Engine& engine, kube::Transport& transport,
           telemetry::Metrics& metrics, telemetry::ReportLog& file,
           const ControllerOptions& options);

  void start();
  // Ends what waits, and gives the lease back.
  boost::asio::awaitable<void> end();

  // What happened, in order.
  void take(std::vector<Transition> transitions);
  // Everything was judged once: from here on this replica may lead.
  void has_judged_all();
  bool is_reporting() const;
  // False while more lines wait for the file than it writes: judging can wait too.
  bool keeps_up() const;

 private:
  void report(const Transition& transition, bool may_be_known);
  std::string reported();
  void lead(const std::optional<codec::Lease>& before);
  void follow();
  boost::asio::awaitable<void> tell_anew();
  Elector::Listener listener();

  boost::asio::any_io_executor executor_;
  Engine& engine_;
  telemetry::Metrics& metrics_;
  telemetry::ReportLog& file_;
  const ControllerOptions& options_;

  FindingGauge gauge_;
  HandOver hand_over_;
  Pauses pauses_;
  std::optional<Elector> elector_;     // none: this replica alone reports
  std::optional<EventWriter> events_;  // none: no Events

  bool has_judged_ = false;
  bool is_known_before_ = true;  // what stands at the beginning may have been told before
  std::uint64_t lines_ = 0;      // given to the file
  std::deque<std::pair<std::uint64_t, std::string>> unwritten_;  // steps, by their line
};

}  // namespace xila::observe
