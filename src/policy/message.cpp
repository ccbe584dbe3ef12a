#include "place.hpp"
#include "xila/base/text.hpp"
#include "xila/policy/decision.hpp"

namespace xila::policy {
namespace {

constexpr std::size_t kCountBytes = 32;  // room for "; and 18446744073709551615 more"

// "Pod team-a/train-0"; for what is no Pod, its resource in the Pod's stead.
std::string what(const Subject& subject) {
  const bool is_pod = subject.resource == "pods" || subject.resource == "pods/ephemeralcontainers";
  std::string text = is_pod ? "Pod" : base::quote(subject.resource, 64);
  if (subject.name.empty() && subject.space.empty()) return text + " without a name";
  if (subject.name.empty()) return text + " in namespace " + name_text(subject.space);
  text += ' ';
  if (!subject.space.empty()) text += name_text(subject.space) + '/';
  return text + name_text(subject.name);
}

std::string opening(const Decision& decision, const Subject& subject) {
  return what(subject) +
         (decision.outcome == Outcome::malformed ? " cannot be judged for profile "
                                                 : " crosses the placement boundary of profile ") +
         name_text(decision.profile) + ": ";
}

}  // namespace

std::string message(const Decision& decision, const Subject& subject) {
  if (decision.violations.empty()) return {};
  std::string text = opening(decision, subject);
  const std::size_t limit = kMaxMessageBytes - kCountBytes;

  std::size_t shown = 0;
  for (const Violation& violation : decision.violations) {
    std::string part = shown == 0 ? "[" : "; [";
    part += violation.check + "] " + violation.message;
    if (text.size() + part.size() > limit) {
      if (shown > 0) break;
      // Even the first is too long: better its beginning than nothing.
      text += base::prefix_at_character(part, limit - text.size() - 3);
      text += "...";
      shown = 1;
      break;
    }
    text += part;
    ++shown;
  }
  if (shown < decision.violations.size()) {
    text += "; and " + std::to_string(decision.violations.size() - shown) + " more";
  }
  return text;
}

}  // namespace xila::policy
