#pragma once

#include <chrono>
#include <string_view>

#include "xila/kube/tenant_source.hpp"

namespace xila::webhook {

// How long an answer may take: the API server's ?timeout=10s (a Go duration), at most `bound`.
// Absent, zero or unreadable: `bound`.
std::chrono::milliseconds time_for_answer(std::string_view query, std::chrono::milliseconds bound);

// When to stop waiting, so that a denial is out well before the API server gives up: a fifth of the
// time but at least 200 ms stays for the way, unless that were more than half of it.
struct Deadlines {
  kube::Deadline look_up;  // given to the tenant source, which keeps to it
  kube::Deadline give_up;  // nobody waits longer, whatever the source does
};

Deadlines deadlines(kube::Deadline begin, std::chrono::milliseconds time);

}  // namespace xila::webhook
