#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xila/policy/rulebook.hpp"

namespace xila::config {

// One mistake in a file. `line` and `column` count from 1; 0 = the file as a whole.
struct Problem {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;

  bool operator==(const Problem&) const = default;
};

using Problems = std::vector<Problem>;

// "profiles.yaml:7:5: profiles[1].schedulerName: null, expected a string", as editors jump to.
std::string to_text(const Problem& problem);

// The files behind a rulebook. An absent path is an absent file: no profiles, the default policy.
struct Files {
  std::optional<std::filesystem::path> profiles;
  std::optional<std::filesystem::path> policy;
  std::vector<std::string> external_schedulers;  // from the flag; "" means default-scheduler
};

// Reads and checks both files strictly and builds the rulebook. Reports every mistake it finds, not
// only the first. Files over 1 MiB are refused.
std::expected<policy::Rulebook, Problems> load_rulebook(const Files& files);

// The same from texts; `file` names them in problems.
std::expected<std::vector<policy::Profile>, Problems> parse_profiles(std::string_view text,
                                                                     const std::string& file);
std::expected<policy::Rulebook, Problems> parse_policy(std::string_view text,
                                                       const std::string& file);

}  // namespace xila::config
