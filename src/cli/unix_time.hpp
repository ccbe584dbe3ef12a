#pragma once

#include <chrono>

namespace xila::cli {

// Seconds since 1970, as Prometheus wants a time.
inline double unix_time(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace xila::cli
