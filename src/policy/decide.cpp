#include "xila/policy/decide.hpp"

#include <algorithm>

#include "exemption.hpp"
#include "ratchet.hpp"
#include "xila/base/text.hpp"

namespace xila::policy {
namespace {

constexpr std::string_view kPods = "pods";
constexpr std::string_view kEphemeralContainers = "pods/ephemeralcontainers";

bool is_judged(const Subject& subject) {
  return subject.resource == kPods || subject.resource == kEphemeralContainers;
}

Violation malformed(std::string field, std::string message) {
  return {std::string(kMalformed), std::move(field), "", std::move(message)};
}

// What was sent is none of the decision's business, so somebody registered it for us. Where it
// could not even be named, the decoder's own words say more.
Violations unexpected_resource(const Review& review) {
  const Subject& subject = review.subject;
  if (subject.resource.empty() && !review.malformed.empty()) return review.malformed;
  return {malformed(
      "request.resource",
      "a rule of the webhook configuration sends " + std::string(to_text(subject.operation)) +
          " of " + base::quote(subject.resource) +
          ", which no check can judge, take it out: the rules are CREATE of pods, UPDATE of "
          "pods/ephemeralcontainers and, with labelGuard, UPDATE of pods")};
}

// What the decoder found, and what the API server would not have left out.
Violations malformed_parts(const Review& review) {
  Violations found = review.malformed;
  const Operation operation = review.subject.operation;
  const auto require = [&](const std::optional<Pod>& pod, std::string_view field) {
    const bool is_explained = std::ranges::any_of(
        found, [&](const Violation& violation) { return violation.field == field; });
    if (pod.has_value() || is_explained) return;
    found.push_back(malformed(std::string(field), std::string(field) + " is missing, no " +
                                                      std::string(to_text(operation)) +
                                                      " can be judged without it"));
  };
  require(review.object, "request.object");
  if (operation == Operation::update) require(review.old_object, "request.oldObject");
  return found;
}

bool applies(const Check& check, const CheckInput& input) {
  if (check.opt_in && !input.rulebook.extra_checks.contains(check.id)) return false;
  switch (check.applies) {
    case Applies::on_create:
      return input.subject.operation == Operation::create;
    case Applies::on_create_and_update:
      return true;
    case Applies::on_pod_update:
      return input.subject.operation == Operation::update && input.subject.resource == kPods;
  }
  return true;
}

// Every check that applies. On UPDATE those that ratchet run on the old object as well, but only
// where the new one violates something.
void run_checks(const CheckInput& input, Violations& found) {
  for (const Check& check : checks()) {
    if (!applies(check, input)) continue;
    const std::size_t first = found.size();
    check.find(input, found);

    const bool ratchets =
        check.applies == Applies::on_create_and_update && input.old_pod != nullptr;
    if (!ratchets || found.size() == first) continue;
    const CheckInput old{.pod = *input.old_pod,
                         .subject = input.subject,
                         .tenant = input.tenant,
                         .profile = input.profile,
                         .rulebook = input.rulebook};
    Violations before;
    check.find(old, before);
    charge_only_added(found, first, before);
  }
}

Outcome outcome_of(const Violations& violations, Mode mode) {
  if (violations.empty()) return Outcome::allowed;
  switch (mode) {
    case Mode::enforce:
      return Outcome::denied;
    case Mode::warn:
      return Outcome::warned;
    case Mode::audit:
      return Outcome::audited;
  }
  return Outcome::denied;
}

}  // namespace

Decision decide(const Review& review, std::string_view profile_name, const TenantResolution& tenant,
                const Rulebook& rulebook, Requester requester) {
  const Subject& subject = review.subject;
  // /validate is always enforce: no profile of that name may soften it.
  const Profile* profile =
      profile_name == kEnforcementProfile ? nullptr : find_profile(rulebook, profile_name);
  Decision decision{.mode = profile != nullptr ? profile->mode : Mode::enforce,
                    .profile = std::string(profile_name),
                    .tenant = tenant_name(tenant)};

  if (subject.operation == Operation::remove || subject.operation == Operation::connect) {
    decision.outcome = Outcome::allowed;
    return decision;
  }
  if (!is_judged(subject)) {
    decision.violations = unexpected_resource(review);
    decision.outcome = Outcome::malformed;
    return decision;
  }

  decision.violations = malformed_parts(review);
  const bool is_malformed = !decision.violations.empty();
  // Nothing exempts a Pod that was not wholly read: what exempts it may be the part that was not.
  if (!is_malformed && is_exempt(*review.object, subject, rulebook, requester)) {
    decision.outcome = Outcome::exempt;
    return decision;
  }

  if (review.object.has_value()) {
    const bool has_old = subject.operation == Operation::update && review.old_object.has_value();
    run_checks({.pod = *review.object,
                .old_pod = has_old ? &*review.old_object : nullptr,
                .subject = subject,
                .tenant = tenant,
                .profile = profile,
                .rulebook = rulebook},
               decision.violations);
  }
  decision.outcome =
      is_malformed ? Outcome::malformed : outcome_of(decision.violations, decision.mode);
  return decision;
}

bool needs_tenant(const Review& review) {
  return review.subject.operation == Operation::create && is_judged(review.subject) &&
         review.object.has_value();
}

}  // namespace xila::policy
