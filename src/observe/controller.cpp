#include "xila/observe/controller.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "engine.hpp"
#include "feed.hpp"
#include "finding_json.hpp"
#include "pauses.hpp"
#include "reporter.hpp"
#include "watches.hpp"
#include "xila/telemetry/log.hpp"

namespace xila::observe {

namespace asio = boost::asio;
using asio::awaitable;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

// Pods judged at a stretch: about 5 ms, in which no watch is read.
constexpr std::size_t kSlice = 500;
// While the report file or the watches do not keep up with the judging.
constexpr milliseconds kWait{20};
// How often the watches are looked at: before everything is judged, and after.
constexpr milliseconds kFirstTick{50};
constexpr milliseconds kTick{1'000};
constexpr milliseconds kShortest{5};

Now now() {
  return {Clock::now(), std::chrono::system_clock::now()};
}

EngineOptions engine_options(const ControllerOptions& options) {
  return {.settle_after_bind = options.settle_after_bind,
          .settle_after_relabel = options.settle_after_relabel,
          .all_reviewed = options.all_reviewed,
          .own_space = options.own_space};
}

}  // namespace

struct Controller::State {
  State(asio::any_io_executor e, kube::Transport& t, telemetry::Metrics& m, telemetry::ReportLog& r,
        std::shared_ptr<const policy::Rulebook> rulebook, ControllerOptions o);

  Now begin_feed();
  void end_feed();
  void set_alarm();
  awaitable<void> tick();
  awaitable<void> go_through_all();
  awaitable<void> end(std::function<void()> done);
  awaitable<std::string> findings(std::size_t limit, std::string tenant);

  asio::any_io_executor executor;
  kube::Transport& transport;
  telemetry::Metrics& metrics;
  const ControllerOptions options;

  Engine engine;
  FeedHooks hooks;
  Watches watches;
  Reporter reporter;
  Pauses pauses;
  asio::steady_timer alarm;
  asio::steady_timer pass_kick;

  bool has_begun = false;  // judging
  std::atomic<bool> has_judged{false};
  Steady alarm_at{};
  Steady pass_began{};
};

Controller::State::State(asio::any_io_executor e, kube::Transport& t, telemetry::Metrics& m,
                         telemetry::ReportLog& r, std::shared_ptr<const policy::Rulebook> rulebook,
                         ControllerOptions o)
    : executor(std::move(e)),
      transport(t),
      metrics(m),
      options(std::move(o)),
      engine(std::move(rulebook), engine_options(options)),
      hooks{[this] { return begin_feed(); }, [this] { end_feed(); }},
      watches(executor, transport, metrics, engine, hooks),
      reporter(executor, engine, transport, metrics, r, options),
      pauses(executor),
      alarm(executor),
      pass_kick(executor) {}

Now Controller::State::begin_feed() {
  const Now time = now();
  engine.set_trust(watches.trust(time.steady), time);
  return time;
}

void Controller::State::end_feed() {
  reporter.take(engine.take());
  set_alarm();
}

// At the time when something that waits is due.
void Controller::State::set_alarm() {
  const Steady due = engine.next_due();
  if (due == alarm_at || pauses.is_ended()) return;
  alarm_at = due;
  if (due == Steady{}) {
    alarm.cancel();
    return;
  }
  alarm.expires_at(std::max(due, Clock::now() + kShortest));
  alarm.async_wait([this](boost::system::error_code error) {
    if (error || pauses.is_ended()) return;
    alarm_at = {};
    const Now time = begin_feed();
    engine.wake(time);
    end_feed();
  });
}

// Looks after what no event announces: that watches live, broke or were refused.
awaitable<void> Controller::State::tick() {
  while (!pauses.is_ended()) {
    watches.note_refusals();
    begin_feed();
    if (!has_begun && watches.is_complete()) {
      has_begun = true;
      telemetry::info("judging", {{"pods", engine.sizes().pods},
                                  {"nodes", engine.sizes().nodes},
                                  {"namespaces", engine.sizes().spaces}});
      engine.begin_judging();
      pass_kick.cancel();
    }
    end_feed();
    const bool goes_on = co_await pauses.pause(has_judged ? kTick : kFirstTick);
    if (!goes_on) co_return;
  }
}

// The passes over all Pods, in parts, so that watches, probes and the lease are not held up; each
// part only while the caches are in step and the report file keeps up.
awaitable<void> Controller::State::go_through_all() {
  boost::system::error_code ignored;
  auto into_error = asio::redirect_error(asio::use_awaitable, ignored);
  while (!pauses.is_ended()) {
    if (!engine.is_in_pass()) {
      pass_kick.expires_after(std::chrono::hours(24));
      co_await pass_kick.async_wait(into_error);
      pass_began = Clock::now();
      continue;
    }
    const bool may_go_on = watches.trust(Clock::now()).cluster && has_begun && reporter.keeps_up();
    if (may_go_on) {
      const Now time = begin_feed();
      const bool is_more = engine.go_on(kSlice, time);
      end_feed();
      if (!is_more) {
        const std::chrono::duration<double> lasted = Clock::now() - pass_began;
        metrics.judging_seconds.observe(lasted.count());
        telemetry::info("judged", {{"pods", engine.sizes().pods},
                                   {"open", engine.ledger().total()},
                                   {"seconds", lasted.count()}});
        has_judged = true;
        reporter.has_judged_all();
      }
    }
    const bool goes_on = co_await pauses.pause(may_go_on ? milliseconds(0) : kWait);
    if (!goes_on) co_return;
  }
}

awaitable<std::string> Controller::State::findings(std::size_t limit, std::string tenant) {
  FindingsDocument document{.instance = options.instance,
                            .is_leading = reporter.is_reporting(),
                            .has_judged = has_judged,
                            .total = engine.ledger().total()};
  document.findings = engine.findings(limit + 1, tenant);
  document.is_cut = document.findings.size() > limit;
  if (document.is_cut) document.findings.pop_back();
  co_return findings_json(document, std::chrono::system_clock::now());
}

awaitable<void> Controller::State::end(std::function<void()> done) {
  pauses.end();
  watches.stop();
  alarm.cancel();
  pass_kick.cancel();
  co_await reporter.end();
  transport.close();
  done();
}

Controller::Controller(asio::any_io_executor executor, kube::Transport& transport,
                       telemetry::Metrics& metrics, telemetry::ReportLog& report,
                       std::shared_ptr<const policy::Rulebook> rulebook, ControllerOptions options)
    : state_(std::make_unique<State>(std::move(executor), transport, metrics, report,
                                     std::move(rulebook), std::move(options))) {}

Controller::~Controller() = default;

void Controller::start() {
  state_->watches.start();
  asio::co_spawn(state_->executor, state_->tick(), asio::detached);
  asio::co_spawn(state_->executor, state_->go_through_all(), asio::detached);
  state_->reporter.start();
}

void Controller::use(std::shared_ptr<const policy::Rulebook> rulebook) {
  state_->engine.use(std::move(rulebook));
  state_->end_feed();
  state_->pass_kick.cancel();
}

void Controller::stop(std::function<void()> done) {
  asio::co_spawn(state_->executor, state_->end(std::move(done)), asio::detached);
}

std::optional<std::string> Controller::not_ready_because() const {
  if (auto why = state_->watches.stale_because()) return why;
  if (!state_->has_judged) return "the Pods are not judged yet";
  return std::nullopt;
}

awaitable<std::string> Controller::findings(std::size_t limit, std::string tenant) {
  // There and back: the answer comes on the caller's own executor.
  awaitable<std::string> work = state_->findings(limit, std::move(tenant));
  co_return co_await asio::co_spawn(state_->executor, std::move(work), asio::use_awaitable);
}

}  // namespace xila::observe
