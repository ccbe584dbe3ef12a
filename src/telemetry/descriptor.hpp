#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>

namespace xila::telemetry {

struct Written {
  std::size_t bytes = 0;
  int error = 0;  // errno; 0 = everything is written
};

// Writes all of `text`: goes on after partial writes and interruptions, and waits where the
// descriptor does not block. While it waits it asks `give_up` about every 100 ms and, told to, ends
// with EAGAIN.
Written write_all(int descriptor, std::string_view text, const std::function<bool()>& give_up);

}  // namespace xila::telemetry
