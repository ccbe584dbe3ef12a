#pragma once

#include <chrono>

namespace xila::kube {

struct BackoffLimits {
  std::chrono::milliseconds base{800};
  std::chrono::milliseconds cap{30'000};  // jitter included
};

// How long to wait before the next try at a list or a watch.
//
// `base`, doubled with each attempt (counted from 0) up to half of `cap`, and stretched by up to
// its own length, so that replicas do not come back together. Does not sleep; cannot fail.
//
// `random` is uniform in [0, 1); tests pass a constant.
// 800 ms and the doubling are client-go's, which API servers are tuned for:
// tools/cache/reflector.go.
std::chrono::milliseconds delay_before(int attempt, const BackoffLimits& limits, double random);

}  // namespace xila::kube
