#pragma once

#include <cstddef>

#include "xila/policy/check.hpp"

namespace xila::policy {

// Takes out of `found`, from `first` on, what `before` covers: an update may keep what was there.
//
// Both are of one check and compared as multisets of (field without its indexes, part): each
// violation of `before` covers one of `found`, so a second container of the same name or an index
// that moved lets nothing through. O(n log n): both lists are as long as a tenant likes.
void charge_only_added(Violations& found, std::size_t first, const Violations& before);

}  // namespace xila::policy
