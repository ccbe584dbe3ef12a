#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "serving.hpp"
#include "xila/config/load.hpp"
#include "xila/observe/controller.hpp"

namespace CLI {
class App;
}

namespace xila::cli {

struct ObserveOptions {
  config::Files files;
  std::optional<std::filesystem::path> kubeconfig;
  bool all_reviewed = false;

  std::string report_file = "-";
  std::string findings_address = "127.0.0.1:8081";  // "0" = none
  double event_qps = 10;
  double event_burst = 50;
  std::chrono::milliseconds settle_after_bind{30'000};
  std::chrono::milliseconds settle_after_relabel{60'000};

  bool leader_elect = false;
  std::string lease_space;
  std::string lease_name = "xila-guard-observe";

  bool once = false;
  std::string output = "text";

  OperationsOptions operations;
  LoggingOptions logging;
};

void add_observe_options(CLI::App& app, ObserveOptions& options);

// What is wrong with flags that are each well-formed; nothing = nothing.
std::optional<std::string> problem_of(const ObserveOptions& options);

observe::ControllerOptions controller_options(const ObserveOptions& options);

}  // namespace xila::cli
