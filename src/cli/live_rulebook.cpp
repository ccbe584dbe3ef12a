#include "live_rulebook.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include "unix_time.hpp"
#include "xila/telemetry/log.hpp"

namespace xila::cli {

namespace log = telemetry;

namespace {

constexpr const char* kWhat = "config";

}  // namespace

LiveRulebook::LiveRulebook(config::Files files, policy::Rulebook first, telemetry::Metrics& metrics)
    : files_(std::move(files)), metrics_(metrics) {
  take_over(std::move(first));
}

void LiveRulebook::take_over(policy::Rulebook rulebook) {
  const auto next = std::make_shared<const policy::Rulebook>(std::move(rulebook));
  current_.store(next);  // before it is said: who reads the line or the metric relies on it
  log::info("config_loaded", {{"generation", ++generation_},
                              {"profiles", next->profiles.size()},
                              {"accepted_schedulers", next->accepted_schedulers.size()},
                              {"static_tenants", next->static_tenants.size()}});
  metrics_.config_generation.set(generation_);
  metrics_.reload_successful.set(1, kWhat);
  metrics_.reload_success_time.set(unix_time(std::chrono::system_clock::now()), kWhat);
}

void LiveRulebook::reload() {
  auto loaded = config::load_rulebook(files_);
  if (!loaded) {
    std::string problems;
    for (const config::Problem& problem : loaded.error()) {
      problems += (problems.empty() ? "" : "; ") + config::to_text(problem);
    }
    if (problems == last_problem_) return;
    last_problem_ = problems;
    metrics_.reload_successful.set(0, kWhat);
    metrics_.reloads.add(kWhat, "refused");
    log::error("config_refused", {{"problems", problems}, {"in_force", "the last good version"}});
    return;
  }
  const bool has_recovered = !std::exchange(last_problem_, {}).empty();
  if (!has_recovered && *loaded == *current_.load()) return;
  metrics_.reloads.add(kWhat, "taken_over");
  take_over(std::move(*loaded));
}

}  // namespace xila::cli
