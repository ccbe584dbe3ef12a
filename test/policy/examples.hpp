#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xila/policy/decide.hpp"

// Values that violate nothing, for tests to change one thing in.
namespace xila::policy {

inline Profile volcano_profile(Mode mode = Mode::enforce) {
  return {.name = "volcano",
          .scheduler_name = "volcano",
          .workload_selectors = {{{{"volcano.sh/job-name", SelectorOperator::exists, {}}}}},
          .mode = mode};
}

inline Rulebook volcano_rulebook(Mode mode = Mode::enforce) {
  Rulebook rulebook;
  rulebook.profiles = {volcano_profile(mode)};
  rulebook.accepted_schedulers = {"volcano"};
  rulebook.trusted_daemon_set_service_accounts = {"gpu-system/nvidia-device-plugin"};
  return rulebook;
}

// With every opt-in check on.
inline Rulebook strictest_rulebook() {
  Rulebook rulebook = volcano_rulebook();
  for (const Check& check : checks()) {
    if (check.opt_in) rulebook.extra_checks.emplace(check.id);
  }
  return rulebook;
}

inline Container container(std::string name, ContainerKind kind = ContainerKind::regular,
                           std::size_t index = 0) {
  return {.kind = kind, .index = index, .name = std::move(name)};
}

inline Container privileged_container(std::string name, ContainerKind kind = ContainerKind::regular,
                                      std::size_t index = 0) {
  return {.kind = kind, .index = index, .name = std::move(name), .privileged = true};
}

inline Pod good_pod() {
  return {.name = "train-0",
          .labels = {{"volcano.sh/job-name", "train"}},
          .scheduler_name = "volcano",
          .service_account_name = "default",
          .containers = {container("main")}};
}

inline Review create_review(Pod pod) {
  return {.uid = "1",
          .subject = {.operation = Operation::create,
                      .space = "team-a",
                      .name = "train-0",
                      .user = "jane",
                      .resource = "pods"},
          .object = std::move(pod)};
}

inline Review update_review(Pod before, Pod after, std::string resource = "pods") {
  Review review = create_review(std::move(after));
  review.subject.operation = Operation::update;
  review.subject.resource = std::move(resource);
  review.old_object = std::move(before);
  return review;
}

inline TenantResolution team_a() {
  return TenantResolution::resolved("team-a");
}

inline Decision decide_volcano(const Review& review,
                               const Rulebook& rulebook = volcano_rulebook()) {
  return decide(review, "volcano", team_a(), rulebook);
}

// What one check finds in one Pod on CREATE, called as `decide` would.
inline Violations find(std::string_view id, const Pod& pod,
                       const Rulebook& rulebook = volcano_rulebook(),
                       const TenantResolution& tenant = team_a()) {
  const Subject subject = create_review({}).subject;
  Violations found;
  for (const Check& check : checks()) {
    if (check.id != id) continue;
    check.find({.pod = pod,
                .subject = subject,
                .tenant = tenant,
                .profile = &rulebook.profiles.front(),
                .rulebook = rulebook},
               found);
  }
  return found;
}

inline std::vector<std::string> fields_of(const Violations& violations) {
  std::vector<std::string> fields;
  for (const Violation& violation : violations) fields.push_back(violation.field);
  return fields;
}

inline std::vector<std::string> messages_of(const Violations& violations) {
  std::vector<std::string> messages;
  for (const Violation& violation : violations) messages.push_back(violation.message);
  return messages;
}

}  // namespace xila::policy
