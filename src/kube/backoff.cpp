#include "xila/kube/backoff.hpp"

#include <algorithm>

namespace xila::kube {

std::chrono::milliseconds delay_before(int attempt, const BackoffLimits& limits, double random) {
  const std::chrono::milliseconds most = limits.cap / 2;
  std::chrono::milliseconds delay = std::min(limits.base, most);
  for (int i = 0; i < attempt && delay < most; ++i) delay = std::min(delay * 2, most);
  return delay + std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(
                     static_cast<double>(delay.count()) * random));
}

}  // namespace xila::kube
