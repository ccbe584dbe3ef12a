#include "xila/observe/controller.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <random>
#include <set>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "elector.hpp"
#include "engine.hpp"
#include "event_text.hpp"
#include "event_writer.hpp"
#include "feed.hpp"
#include "finding_gauge.hpp"
#include "finding_json.hpp"
#include "hand_over.hpp"
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
// Beyond it the report file is slower than the judging, which can wait.
constexpr std::size_t kMostWaitingLines = 4096;
constexpr milliseconds kWaitForFile{20};
// How often the watches are looked at: before everything is judged, and after.
constexpr milliseconds kFirstTick{50};
constexpr milliseconds kTick{1'000};
constexpr milliseconds kShortest{5};

Now now() {
  return {Clock::now(), std::chrono::system_clock::now()};
}

// A restarted process of the same Pod is another holder: it does not know what the first one knew.
std::string identity_of(const std::string& instance) {
  std::random_device random;
  return instance + "_" + std::to_string(random()) + std::to_string(random());
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

  // The cluster.
  Now begin_feed();
  void end_feed();
  void set_alarm();
  awaitable<void> tick();
  awaitable<void> go_through_all();
  // The report.
  bool is_reporting() const;
  void report(const Transition& transition, bool may_be_known);
  void take(std::vector<Transition> transitions);
  std::string reported();
  // Who reports.
  void lead(const std::optional<codec::Lease>& before);
  void follow();
  awaitable<void> tell_anew();
  awaitable<bool> pause(milliseconds time);
  awaitable<void> end(std::function<void()> done);
  awaitable<std::string> findings(std::size_t limit, std::string tenant);
  Elector::Listener listener();

  asio::any_io_executor executor;
  kube::Transport& transport;
  telemetry::Metrics& metrics;
  telemetry::ReportLog& file;
  const ControllerOptions options;

  Engine engine;
  FeedHooks hooks;
  Watches watches;
  FindingGauge gauge;
  HandOver hand_over;
  std::optional<Elector> elector;
  std::optional<EventWriter> events;
  asio::steady_timer alarm;
  asio::steady_timer pass_kick;
  std::set<asio::steady_timer*> waiting;  // of coroutines that pause

  bool has_begun = false;       // judging
  bool is_known_before = true;  // what stands at the beginning may have been told before
  bool is_stopped = false;
  std::atomic<bool> has_judged{false};
  Steady alarm_at{};
  Steady pass_began{};
  std::uint64_t lines = 0;                                      // given to the file
  std::deque<std::pair<std::uint64_t, std::string>> unwritten;  // steps, by their line
};

Controller::State::State(asio::any_io_executor e, kube::Transport& t, telemetry::Metrics& m,
                         telemetry::ReportLog& r, std::shared_ptr<const policy::Rulebook> rulebook,
                         ControllerOptions o)
    : executor(std::move(e)),
      transport(t),
      metrics(m),
      file(r),
      options(std::move(o)),
      engine(std::move(rulebook), engine_options(options)),
      hooks{[this] { return begin_feed(); }, [this] { end_feed(); }},
      watches(executor, transport, metrics, engine, hooks),
      gauge(metrics),
      alarm(executor),
      pass_kick(executor) {
  if (options.events_per_second > 0) {
    events.emplace(
        executor, transport, metrics,
        EventLimits{.per_second = options.events_per_second, .burst = options.events_burst});
  }
  if (options.lease) {
    elector.emplace(executor, transport, metrics, *options.lease, identity_of(options.instance),
                    listener());
  }
  engine.set_telling(!elector.has_value());
}

Now Controller::State::begin_feed() {
  const Now time = now();
  engine.set_trust(watches.trust(time.steady), time);
  return time;
}

void Controller::State::end_feed() {
  take(engine.take());
  set_alarm();
}

// At the time when something that waits is due.
void Controller::State::set_alarm() {
  const Steady due = engine.next_due();
  if (due == alarm_at || is_stopped) return;
  alarm_at = due;
  if (due == Steady{}) {
    alarm.cancel();
    return;
  }
  alarm.expires_at(std::max(due, Clock::now() + kShortest));
  alarm.async_wait([this](boost::system::error_code error) {
    if (error || is_stopped) return;
    alarm_at = {};
    const Now time = begin_feed();
    engine.wake(time);
    end_feed();
  });
}

// Looks after what no event announces: that watches live, broke or were refused.
awaitable<void> Controller::State::tick() {
  while (!is_stopped) {
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
    const bool goes_on = co_await pause(has_judged ? kTick : kFirstTick);
    if (!goes_on) co_return;
  }
}

// The passes over all Pods, in parts, so that watches, probes and the lease are not held up; each
// part only while the caches are in step and the report file keeps up.
awaitable<void> Controller::State::go_through_all() {
  boost::system::error_code ignored;
  auto into_error = asio::redirect_error(asio::use_awaitable, ignored);
  while (!is_stopped) {
    if (!engine.is_in_pass()) {
      pass_kick.expires_after(std::chrono::hours(24));
      co_await pass_kick.async_wait(into_error);
      pass_began = Clock::now();
      continue;
    }
    const bool may_go_on =
        watches.trust(Clock::now()).cluster && has_begun && file.waiting() < kMostWaitingLines;
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
        if (!has_judged.exchange(true)) hand_over.begin(Clock::now());
        if (elector) elector->nudge();
      }
    }
    const bool goes_on = co_await pause(may_go_on ? milliseconds(0) : kWaitForFile);
    if (!goes_on) co_return;
  }
}

// False = the end.
awaitable<bool> Controller::State::pause(milliseconds time) {
  boost::system::error_code ignored;
  auto into_error = asio::redirect_error(asio::use_awaitable, ignored);
  asio::steady_timer timer(executor);
  timer.expires_after(time);
  waiting.insert(&timer);
  co_await timer.async_wait(into_error);
  waiting.erase(&timer);
  co_return !is_stopped;
}

bool Controller::State::is_reporting() const {
  return !elector || elector->is_leading(Clock::now());
}

void Controller::State::take(std::vector<Transition> transitions) {
  if (transitions.empty()) return;
  const bool reports = is_reporting();
  for (Transition& transition : transitions) {
    if (reports) {
      report(transition, transition.is_baseline);
    } else {
      hand_over.remember(std::move(transition), Clock::now());
    }
  }
  if (reports) gauge.show(engine.ledger().open());
}

void Controller::State::report(const Transition& transition, bool may_be_known) {
  const auto time = std::chrono::system_clock::now();
  file.write(
      step_line(transition, transition.is_baseline && is_known_before, options.instance, time));
  ++lines;
  metrics.finding_changes.add(transition.finding.name, to_text(transition.change));
  if (elector && !transition.is_baseline) {
    unwritten.emplace_back(lines, HandOver::name_of(transition));
    elector->nudge();
  }
  if (!events) return;
  if (auto event = event_of(transition, options.instance, time)) {
    events->put(std::move(*event), may_be_known);
  }
}

// What the lease says: the steps whose lines are in the file, lest a dying process takes with it
// what it called reported.
std::string Controller::State::reported() {
  const std::uint64_t written = lines - file.waiting();
  while (!unwritten.empty() && unwritten.front().first <= written) {
    hand_over.reported(std::move(unwritten.front().second), Clock::now());
    unwritten.pop_front();
  }
  return hand_over.named(Clock::now());
}

void Controller::State::lead(const std::optional<codec::Lease>& before) {
  engine.set_telling(true);
  auto steps = hand_over.take_over(before ? before->reported : "", Clock::now());
  if (steps) {
    for (const Transition& step : *steps) report(step, true);
    gauge.show(engine.ledger().open());
    return;
  }
  is_known_before = before.has_value();
  asio::co_spawn(executor, tell_anew(), asio::detached);
}

void Controller::State::follow() {
  engine.set_telling(false);
  if (events) events->drop_all();
  gauge.hide();
}

// Nobody is left who knows what was told: all that stands is told, node by node.
awaitable<void> Controller::State::tell_anew() {
  const auto tell = [this](std::vector<Finding> findings) {
    for (Finding& finding : findings) {
      report({.change = Change::opened, .finding = std::move(finding), .is_baseline = true}, true);
    }
  };
  tell(engine.tell_untold_profiles());
  const std::vector<std::string> nodes = engine.node_names();
  for (const std::string& node : nodes) {
    while (file.waiting() >= kMostWaitingLines) {
      const bool goes_on = co_await pause(kWaitForFile);
      if (!goes_on) co_return;
    }
    if (!is_reporting()) co_return;
    tell(engine.tell_untold_on(node));
  }
  gauge.show(engine.ledger().open());
}

Elector::Listener Controller::State::listener() {
  return {.saw_leader = [this] { hand_over.saw_leader(Clock::now()); },
          .lead = [this](const std::optional<codec::Lease>& before) { lead(before); },
          .lost = [this] { follow(); },
          .reported = [this] { return reported(); },
          .may_lead = [this] { return has_judged.load(); }};
}

awaitable<std::string> Controller::State::findings(std::size_t limit, std::string tenant) {
  FindingsDocument document{.instance = options.instance,
                            .is_leading = is_reporting(),
                            .has_judged = has_judged,
                            .total = engine.ledger().total()};
  document.findings = engine.findings(limit + 1, tenant);
  document.is_cut = document.findings.size() > limit;
  if (document.is_cut) document.findings.pop_back();
  co_return findings_json(document, std::chrono::system_clock::now());
}

awaitable<void> Controller::State::end(std::function<void()> done) {
  is_stopped = true;
  watches.stop();
  if (events) events->stop();
  alarm.cancel();
  pass_kick.cancel();
  for (asio::steady_timer* timer : waiting) timer->cancel();
  if (elector) {
    elector->stop();
    co_await elector->release();
  }
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
  if (state_->events) asio::co_spawn(state_->executor, state_->events->run(), asio::detached);
  if (state_->elector) asio::co_spawn(state_->executor, state_->elector->run(), asio::detached);
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
