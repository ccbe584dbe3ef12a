#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "xila/telemetry/log.hpp"

namespace xila::telemetry {

// The lines that `act` logs.
template <class Act>
std::vector<std::string> logged(LogFormat format, LogLevel level, Act act) {
  testing::internal::CaptureStderr();
  start_logging(format, level);
  act();
  stop_logging();
  std::istringstream text(testing::internal::GetCapturedStderr());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace xila::telemetry
