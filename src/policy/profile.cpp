#include "xila/policy/profile.hpp"

#include <algorithm>

#include "xila/base/text.hpp"

namespace xila::policy {

std::string_view to_text(Mode mode) {
  switch (mode) {
    case Mode::enforce:
      return "enforce";
    case Mode::warn:
      return "warn";
    case Mode::audit:
      return "audit";
  }
  return "";
}

base::Result<Mode> mode(std::string_view text) {
  for (const Mode candidate : {Mode::enforce, Mode::warn, Mode::audit}) {
    if (text == to_text(candidate)) return candidate;
  }
  return base::fail(base::quote(text) + " is no mode, use enforce, warn or audit");
}

std::string_view to_text(Verification verification) {
  switch (verification) {
    case Verification::example:
      return "example";
    case Verification::verified:
      return "verified";
  }
  return "";
}

bool selects(const Profile& profile, const Labels& labels) {
  return std::ranges::any_of(profile.workload_selectors, [&](const LabelSelector& selector) {
    return matches(selector, labels);
  });
}

}  // namespace xila::policy
