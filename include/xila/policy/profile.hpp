#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xila/base/result.hpp"
#include "xila/policy/label_selector.hpp"

namespace xila::policy {

// What a violation leads to. enforce denies; warn allows and tells the user; audit allows and
// records.
enum class Mode : std::uint8_t { enforce, warn, audit };

std::string_view to_text(Mode mode);
base::Result<Mode> mode(std::string_view text);

enum class Verification : std::uint8_t { example, verified };

std::string_view to_text(Verification verification);

// One orchestrator, as data.
struct Profile {
  std::string name;                               // DNS-1123 label
  std::string scheduler_name;                     // "" = default-scheduler
  std::vector<LabelSelector> workload_selectors;  // ORed; at least one
  std::optional<LabelSelector> namespace_selector;
  Mode mode = Mode::enforce;
  bool route_guard = false;
  Verification verification = Verification::example;

  bool operator==(const Profile&) const = default;
};

// True where any of the profile's selectors matches.
bool selects(const Profile& profile, const Labels& labels);

}  // namespace xila::policy
