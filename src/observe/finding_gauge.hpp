#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "ledger.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::observe {

// xila_guard_findings, of the replica that reports. Tenants are named by labels of namespaces, so
// their number is bounded here: those beyond are counted together.
class FindingGauge {
 public:
  static constexpr std::size_t kMostTenants = 500;
  static constexpr const char* kOtherTenants = "(other)";

  explicit FindingGauge(telemetry::Metrics& metrics) : metrics_(metrics) {}

  void show(const Ledger::Counts& open);
  // Another replica shows them.
  void hide();

 private:
  std::string label_of(const std::string& tenant);

  telemetry::Metrics& metrics_;
  std::set<std::string> tenants_;  // with a series of their own
  Ledger::Counts shown_;
};

}  // namespace xila::observe
