#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "xila/policy/check.hpp"

namespace xila::policy {

enum class Outcome : std::uint8_t {
  undecided,  // a Decision that nobody filled in lets nothing through
  allowed,
  exempt,   // allowed: a trusted DaemonSet's Pod
  warned,   // allowed with violations, mode warn
  audited,  // allowed with violations, mode audit
  denied,
  malformed,  // denied in every mode
};

// "allowed", "exempt", "warned", "audited", "denied", "malformed", "undecided".
std::string_view to_text(Outcome outcome);

bool is_allowed(Outcome outcome);

struct Decision {
  Outcome outcome = Outcome::undecided;
  Mode mode = Mode::enforce;
  std::string profile;    // the path's, "enforcement" on /validate
  std::string tenant;     // "" = none resolved
  Violations violations;  // all of them, also when allowed by mode

  bool operator==(const Decision&) const = default;
};

// The ids of the violated checks, each once, in the table's order, comma-separated.
std::string check_ids(const Decision& decision);

inline constexpr std::size_t kMaxMessageBytes = 4096;

// "Pod team-a/train-0 crosses the placement boundary of profile gang: [node-pin] ...;
// [privileged] ...". At most kMaxMessageBytes, cut at a character and followed by the count of what
// was cut. "" without violations.
std::string message(const Decision& decision, const Subject& subject);

}  // namespace xila::policy
