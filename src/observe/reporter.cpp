#include "reporter.hpp"

#include <chrono>
#include <random>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "event_text.hpp"
#include "finding_json.hpp"

namespace xila::observe {

namespace asio = boost::asio;
using asio::awaitable;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kMostWaitingLines = 4096;
constexpr milliseconds kWaitForFile{20};

// A restarted process of the same Pod is another holder: it does not know what the first one knew.
std::string identity_of(const std::string& instance) {
  std::random_device random;
  return instance + "_" + std::to_string(random()) + std::to_string(random());
}

}  // namespace

Reporter::Reporter(asio::any_io_executor executor, Engine& engine, kube::Transport& transport,
                   telemetry::Metrics& metrics, telemetry::ReportLog& file,
                   const ControllerOptions& options)
    : executor_(std::move(executor)),
      engine_(engine),
      metrics_(metrics),
      file_(file),
      options_(options),
      gauge_(metrics),
      pauses_(executor_) {
  if (options_.events_per_second > 0) {
    events_.emplace(
        executor_, transport, metrics,
        EventLimits{.per_second = options_.events_per_second, .burst = options_.events_burst});
  }
  if (options_.lease) {
    elector_.emplace(executor_, transport, metrics, *options_.lease, identity_of(options_.instance),
                     listener());
  }
  engine_.set_telling(!elector_.has_value());
}

void Reporter::start() {
  if (events_) asio::co_spawn(executor_, events_->run(), asio::detached);
  if (elector_) asio::co_spawn(executor_, elector_->run(), asio::detached);
}

awaitable<void> Reporter::end() {
  pauses_.end();
  if (events_) events_->stop();
  if (!elector_) co_return;
  elector_->stop();
  co_await elector_->release();
}

bool Reporter::is_reporting() const {
  return !elector_ || elector_->is_leading(Clock::now());
}

bool Reporter::keeps_up() const {
  return file_.waiting() < kMostWaitingLines;
}

void Reporter::take(std::vector<Transition> transitions) {
  if (transitions.empty()) return;
  const bool reports = is_reporting();
  for (Transition& transition : transitions) {
    if (reports) {
      report(transition, transition.is_baseline);
    } else {
      hand_over_.remember(std::move(transition), Clock::now());
    }
  }
  if (reports) gauge_.show(engine_.ledger().open());
}

void Reporter::has_judged_all() {
  if (!std::exchange(has_judged_, true)) hand_over_.begin(Clock::now());
  if (elector_) elector_->nudge();
}

void Reporter::report(const Transition& transition, bool may_be_known) {
  const auto time = std::chrono::system_clock::now();
  const bool is_rebuilt = transition.is_baseline && is_known_before_;
  file_.write(step_line(transition, is_rebuilt, options_.instance, time));
  ++lines_;
  metrics_.finding_changes.add(transition.finding.name, to_text(transition.change));
  if (elector_ && !transition.is_baseline) {
    unwritten_.emplace_back(lines_, HandOver::name_of(transition));
    elector_->nudge();
  }
  if (!events_) return;
  if (auto event = event_of(transition, options_.instance, time)) {
    events_->put(std::move(*event), may_be_known);
  }
}

// What the lease says: the steps whose lines are in the file, lest a dying process takes with it
// what it called reported.
std::string Reporter::reported() {
  const std::uint64_t written = lines_ - file_.waiting();
  while (!unwritten_.empty() && unwritten_.front().first <= written) {
    hand_over_.reported(std::move(unwritten_.front().second), Clock::now());
    unwritten_.pop_front();
  }
  return hand_over_.named(Clock::now());
}

void Reporter::lead(const std::optional<codec::Lease>& before) {
  engine_.set_telling(true);
  auto steps = hand_over_.take_over(before ? before->reported : "", Clock::now());
  if (steps) {
    for (const Transition& step : *steps) report(step, true);
    gauge_.show(engine_.ledger().open());
    return;
  }
  is_known_before_ = before.has_value();
  asio::co_spawn(executor_, tell_anew(), asio::detached);
}

void Reporter::follow() {
  engine_.set_telling(false);
  if (events_) events_->drop_all();
  gauge_.hide();
}

// Nobody is left who knows what was told: all that stands is told, node by node.
awaitable<void> Reporter::tell_anew() {
  const auto tell = [this](std::vector<Finding> findings) {
    for (Finding& finding : findings) {
      report({.change = Change::opened, .finding = std::move(finding), .is_baseline = true}, true);
    }
  };
  tell(engine_.tell_untold_profiles());
  const std::vector<std::string> nodes = engine_.node_names();
  for (const std::string& node : nodes) {
    while (!keeps_up()) {
      const bool goes_on = co_await pauses_.pause(kWaitForFile);
      if (!goes_on) co_return;
    }
    if (!is_reporting()) co_return;
    tell(engine_.tell_untold_on(node));
  }
  gauge_.show(engine_.ledger().open());
}

Elector::Listener Reporter::listener() {
  return {.saw_leader = [this] { hand_over_.saw_leader(Clock::now()); },
          .lead = [this](const std::optional<codec::Lease>& before) { lead(before); },
          .lost = [this] { follow(); },
          .reported = [this] { return reported(); },
          .may_lead = [this] { return has_judged_; }};
}

}  // namespace xila::observe
