#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "xila/codec/watch_event.hpp"
#include "xila/kube/transport.hpp"

namespace xila::kube {

// Why a list or a watch ended before its time. The closed set of the metric's label.
enum class Cause : std::uint8_t {
  connect,
  tls,
  timeout,       // no answer to a list or to the opening of a watch
  silence,       // a watch that said nothing past its time
  cut,           // a stream or an answer that broke off
  gone,          // 410: the version to resume from is no longer there
  throttled,     // 429
  unauthorized,  // 401
  forbidden,     // 403
  server_error,  // 5xx
  refused,       // another status
  too_large,
  unreadable,  // not what a list or a watch is
  rewound,     // versions went backwards: the API server's storage was put back
  short_watch,
};

std::string_view to_text(Cause cause);

// What follows from it.
enum class Next : std::uint8_t { resume, list };

struct Interruption {
  Cause cause = Cause::cut;
  std::string detail;
  Next next = Next::resume;
  std::optional<std::chrono::seconds> retry_after;
};

Interruption interruption(const ApiError& error);
Interruption interruption(const codec::Status& status);  // of an ERROR event

// True where `now` is certainly older than `before`. Versions are opaque; where both are numbers,
// as etcd's are, they only grow.
bool is_rewound(std::string_view before, std::string_view now);

}  // namespace xila::kube
