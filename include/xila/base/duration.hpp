#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "xila/base/result.hpp"

namespace xila::base {

// A Go duration without a sign, as Kubernetes writes them: "300ms", "1.5h", "1m30s", and "0".
// Units: ns us µs ms s m h. Error: what is wrong with it; also anything over about 292 years.
// Source: time.ParseDuration of the Go standard library.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

// The shortest such text for whole milliseconds: "10s", "1m30s", "250ms".
std::string to_text(std::chrono::milliseconds duration);

}  // namespace xila::base
