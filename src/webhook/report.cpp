#include "report.hpp"

#include "xila/telemetry/log.hpp"

namespace xila::webhook {
namespace {

namespace log = telemetry;

std::string_view profile_label(std::string_view profile, const policy::Rulebook& rulebook) {
  const bool is_known =
      profile == policy::kEnforcementProfile || policy::find_profile(rulebook, profile) != nullptr;
  return is_known ? profile : "unknown";
}

// "Job/train"; "" without a controlling owner.
std::string owner_of(const policy::Review& review) {
  const auto& pod = review.object ? review.object : review.old_object;
  const policy::OwnerReference* owner = pod ? policy::controller_of(*pod) : nullptr;
  return owner ? owner->kind + "/" + owner->name : std::string();
}

}  // namespace

void count(const policy::Review& review, const policy::Decision& decision,
           const policy::Rulebook& rulebook, std::chrono::duration<double> took,
           telemetry::Metrics& metrics) {
  const std::string_view profile = profile_label(decision.profile, rulebook);
  metrics.review_seconds.observe(took.count());
  metrics.reviews.add(profile, policy::to_text(decision.mode),
                      policy::to_text(review.subject.operation), policy::to_text(decision.outcome),
                      review.subject.dry_run ? "true" : "false");
  // A Pod may violate one check ten thousand times: count the run, not each.
  const policy::Violations& found = decision.violations;
  for (std::size_t begin = 0, end = 0; begin < found.size(); begin = end) {
    while (end < found.size() && found[end].check == found[begin].check) ++end;
    metrics.violations.add_amount(static_cast<double>(end - begin), found[begin].check, profile);
  }
}

void log_decision(const policy::Review& review, const policy::Decision& decision,
                  const std::string& message, const std::string& peer) {
  const policy::Subject& subject = review.subject;
  if (decision.violations.empty() && policy::is_allowed(decision.outcome)) {
    log::debug("allowed", {{"uid", review.uid},
                           {"namespace", subject.space},
                           {"name", subject.name},
                           {"user", subject.user},
                           {"profile", decision.profile},
                           {"decision", policy::to_text(decision.outcome)}});
    return;
  }
  log::info(policy::is_allowed(decision.outcome) ? "would_deny" : "denied",
            {{"uid", review.uid},
             {"operation", policy::to_text(subject.operation)},
             {"namespace", subject.space},
             {"name", subject.name},
             {"owner", owner_of(review)},
             {"user", subject.user},
             {"profile", decision.profile},
             {"mode", policy::to_text(decision.mode)},
             {"tenant", decision.tenant},
             {"decision", policy::to_text(decision.outcome)},
             {"checks", policy::check_ids(decision)},
             {"dry_run", subject.dry_run},
             {"peer", peer},
             {"message", message}});
}

}  // namespace xila::webhook
