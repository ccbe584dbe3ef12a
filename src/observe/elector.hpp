#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "records.hpp"
#include "xila/codec/lease.hpp"
#include "xila/kube/transport.hpp"
#include "xila/observe/controller.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::observe {

// Agrees with the other replicas on who reports, by a Lease, as client-go's leader election does:
// another's lease has run out when this replica saw it unchanged for its whole duration, by this
// replica's own clock.
class Elector {
 public:
  struct Listener {
    // Another replica renewed it.
    std::function<void()> saw_leader;
    // This replica leads. `before` is the lease as the last leader left it; nothing = there was
    // none.
    std::function<void(const std::optional<codec::Lease>& before)> lead;
    std::function<void()> lost;
    // What to write into the lease.
    std::function<std::string()> reported;
    // Whether this replica knows enough to lead.
    std::function<bool()> may_lead;
  };

  // All references outlive it; one thread.
  Elector(boost::asio::any_io_executor executor, kube::Transport& transport,
          telemetry::Metrics& metrics, LeaseOptions options, std::string identity,
          Listener listener);

  // Runs until stop().
  boost::asio::awaitable<void> run();
  // Gives a held lease back, so that another replica leads at once.
  boost::asio::awaitable<void> release();
  void stop();

  // True while nobody else can have taken the lease.
  bool is_leading(Steady now) const { return is_leading_ && now < renewed_at_ + options_.duration; }
  // There is something new to write into the lease: it is renewed soon.
  void nudge();

 private:
  using Pause = std::chrono::steady_clock::duration;

  boost::asio::awaitable<Pause> follow();
  boost::asio::awaitable<Pause> renew();
  boost::asio::awaitable<bool> put(codec::Lease lease, bool is_new, net::Deadline deadline);
  boost::asio::awaitable<bool> look(net::Deadline deadline);
  boost::asio::awaitable<void> wait(Pause pause);
  void failed(const kube::ApiError& error);
  void step_down(const char* why);

  kube::Transport& transport_;
  telemetry::Metrics& metrics_;
  const LeaseOptions options_;
  const std::string identity_;
  Listener listener_;
  boost::asio::steady_timer timer_;
  std::optional<codec::Lease> seen_;  // as it was last read or written
  Steady seen_at_{};                  // since when it is as it is
  Steady renewed_at_{};
  bool is_leading_ = false;
  bool is_stopped_ = false;
  bool is_nudged_ = false;
  std::string last_failure_;
};

}  // namespace xila::observe
