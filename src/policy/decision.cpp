#include "xila/policy/decision.hpp"

#include <algorithm>
#include <vector>

namespace xila::policy {
namespace {

void append_once(std::vector<std::string_view>& ids, std::string_view id) {
  if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
}

}  // namespace

std::string_view to_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::undecided:
      return "undecided";
    case Outcome::allowed:
      return "allowed";
    case Outcome::exempt:
      return "exempt";
    case Outcome::warned:
      return "warned";
    case Outcome::audited:
      return "audited";
    case Outcome::denied:
      return "denied";
    case Outcome::malformed:
      return "malformed";
  }
  return "undecided";
}

bool is_allowed(Outcome outcome) {
  switch (outcome) {
    case Outcome::allowed:
    case Outcome::exempt:
    case Outcome::warned:
    case Outcome::audited:
      return true;
    case Outcome::undecided:
    case Outcome::denied:
    case Outcome::malformed:
      return false;
  }
  return false;
}

std::string check_ids(const Decision& decision) {
  std::vector<std::string_view> seen;
  for (const Violation& violation : decision.violations) append_once(seen, violation.check);
  const auto violated = [&](std::string_view id) {
    return std::ranges::find(seen, id) != seen.end();
  };

  std::vector<std::string_view> ids;
  if (violated(kMalformed)) ids.push_back(kMalformed);
  for (const Check& check : checks()) {
    if (violated(check.id)) ids.push_back(check.id);
  }
  for (const std::string_view id : seen) append_once(ids, id);  // those of no row come last

  std::string text;
  for (const std::string_view id : ids) {
    if (!text.empty()) text += ',';
    text += id;
  }
  return text;
}

}  // namespace xila::policy
