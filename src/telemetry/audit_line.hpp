#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "xila/telemetry/audit.hpp"

namespace xila::telemetry {

// No line of the audit log is longer, whatever a review contains.
inline constexpr std::size_t kMaxAuditLineBytes = std::size_t{128} << 10;
inline constexpr std::size_t kMaxAuditedViolations = 32;

// What the audit log keeps of a decision, cut to bounded size: a queue of these can be bounded, a
// queue of whole Pods cannot.
struct AuditEntry {
  std::chrono::system_clock::time_point time;
  std::string uid;
  policy::Operation operation = policy::Operation::create;
  std::string resource;
  bool dry_run = false;
  std::string space;
  std::string name;
  std::string generate_name;  // "" = absent
  std::string owner_kind;     // "" = no controlling owner
  std::string owner_name;
  std::string user;
  std::string profile;
  policy::Mode mode = policy::Mode::enforce;
  std::string tenant;  // "" = none resolved
  policy::Outcome outcome = policy::Outcome::undecided;
  std::string checks;  // comma-separated
  policy::Violations violations;
  std::size_t violations_omitted = 0;
  std::string message;
  std::string peer;
  bool client_verified = false;
  double duration_seconds = 0;
};

AuditEntry to_entry(AuditRecord record, std::chrono::system_clock::time_point time);

// About the memory that it holds.
std::size_t bytes_of(const AuditEntry& entry);

// Appends the entry as one line of docs/audit-log.md, with its newline.
void append_line(std::string& out, const AuditEntry& entry);

}  // namespace xila::telemetry
