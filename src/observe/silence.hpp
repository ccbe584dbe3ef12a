#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "records.hpp"
#include "rules.hpp"

namespace xila::observe {

// Which profiles are silent: they select no Pod, while Pods run on their scheduler that no profile
// of that scheduler selects. Then the selector is probably wrong, and the webhook sees nobody.
//
// Profiles of the default scheduler are left out, whose Pods are everybody's, and so are those
// behind the first 64, since each Pod keeps two bits per profile.
class Silence {
 public:
  // From now on nobody is counted, until each Pod is counted anew.
  void begin(const Rules& rules);
  // Counts the Pod as it is now; takes back what it was counted as.
  void count(PodRecord& pod);
  void forget(const PodRecord& pod);

  // By the profile's place in the rulebook.
  bool is_silent(std::size_t profile) const;
  std::size_t profiles() const { return counts_.size(); }
  // Pods on its scheduler that nobody selects.
  std::ptrdiff_t unselected(std::size_t profile) const { return counts_[profile].unselected; }

 private:
  struct Count {
    std::ptrdiff_t selected = 0;
    std::ptrdiff_t unselected = 0;
  };

  void add(const PodRecord& pod, int one);

  const Rules* rules_ = nullptr;
  std::uint32_t round_ = 0;
  std::vector<Count> counts_;
};

}  // namespace xila::observe
