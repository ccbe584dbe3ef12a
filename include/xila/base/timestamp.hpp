#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace xila::base {

// RFC 3339 in UTC with whole seconds or a fraction, as Kubernetes writes times:
// "2026-12-01T10:00:00Z", "2026-12-01T10:00:00.123456Z". Nothing = it is none.
std::optional<std::chrono::system_clock::time_point> parse_timestamp(std::string_view text);

// With microseconds, which is what the API server wants of a MicroTime.
std::string to_timestamp(std::chrono::system_clock::time_point time);

}  // namespace xila::base
