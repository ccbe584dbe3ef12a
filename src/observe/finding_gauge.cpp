#include "finding_gauge.hpp"

namespace xila::observe {

std::string FindingGauge::label_of(const std::string& tenant) {
  if (tenants_.contains(tenant)) return tenant;
  if (tenants_.size() >= kMostTenants) return kOtherTenants;
  tenants_.insert(tenant);
  return tenant;
}

// Only what changed: setting all anew would let a scrape see a part.
void FindingGauge::show(const Ledger::Counts& open) {
  Ledger::Counts now;
  for (const auto& [key, count] : open) {
    if (count > 0) now[{key.first, label_of(key.second)}] += count;
  }
  for (const auto& [key, count] : now) {
    if (const auto old = shown_.find(key); old != shown_.end() && old->second == count) continue;
    metrics_.findings.set(static_cast<double>(count), key.first, key.second);
  }
  for (const auto& [key, count] : shown_) {
    if (count > 0 && !now.contains(key)) metrics_.findings.set(0, key.first, key.second);
  }
  shown_ = std::move(now);
}

void FindingGauge::hide() {
  metrics_.findings.clear();
  shown_.clear();
}

}  // namespace xila::observe
