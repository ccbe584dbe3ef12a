#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "records.hpp"
#include "xila/observe/finding.hpp"

namespace xila::observe {

// Adds the keys of a finding.
void add_finding(nlohmann::ordered_json& json, const Finding& finding);

inline constexpr int kSchemaVersion = 1;

// One line of docs/observe.md, without its end: a step in the life of a finding.
std::string step_line(const Transition& transition, bool is_rebuilt, const std::string& instance,
                      Wall time);

struct FindingsDocument {
  std::string instance;
  bool is_leading = false;
  bool has_judged = false;  // false: the caches are not synced yet, and nothing is known
  std::size_t total = 0;    // open ones, of all tenants
  std::vector<Finding> findings;
  bool is_cut = false;  // there are more than these
};

// The answer to GET /findings.
std::string findings_json(const FindingsDocument& document, Wall time);

}  // namespace xila::observe
