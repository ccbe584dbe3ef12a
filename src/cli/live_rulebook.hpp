#pragma once

#include <string>

#include "xila/config/load.hpp"
#include "xila/policy/rulebook.hpp"
#include "xila/telemetry/metrics.hpp"
#include "xila/webhook/routes.hpp"

namespace xila::cli {

// The rulebook in force and the files behind it. A review takes the whole old or the whole new one;
// files that are refused leave the last good one in force.
class LiveRulebook {
 public:
  // `metrics` outlives it.
  LiveRulebook(config::Files files, policy::Rulebook first, telemetry::Metrics& metrics);

  webhook::CurrentRulebook& current() { return current_; }
  const config::Files& files() const { return files_; }

  // Reads the files again and takes them over if they say something else. Called on one thread
  // only.
  void reload();

 private:
  void take_over(policy::Rulebook rulebook);

  config::Files files_;
  telemetry::Metrics& metrics_;
  webhook::CurrentRulebook current_;
  std::string last_problem_;  // "" = the files are in force; one log line per new problem
  int generation_ = 0;
};

}  // namespace xila::cli
