#include "exemption.hpp"

#include <string>
#include <string_view>

namespace xila::policy {
namespace {

bool is_requested_by_controller(const Subject& subject, const Rulebook& rulebook) {
  return !subject.user.empty() && subject.user == rulebook.daemon_set_controller_user;
}

bool is_of_daemon_set(const Pod& pod) {
  const OwnerReference* owner = controller_of(pod);
  return owner != nullptr && owner->kind == "DaemonSet" && owner->api_version.starts_with("apps/");
}

bool runs_as_trusted_account(const Pod& pod, const Subject& subject, const Rulebook& rulebook) {
  const std::string_view account =
      pod.service_account_name.empty() ? "default" : std::string_view(pod.service_account_name);
  // No name holds a "/". One that does could be read as another namespace's account.
  if (subject.space.empty() || subject.space.contains('/') || account.contains('/')) return false;

  std::string full_name = subject.space;
  full_name += '/';
  full_name += account;
  return rulebook.trusted_daemon_set_service_accounts.contains(full_name);
}

}  // namespace

bool is_exempt(const Pod& pod, const Subject& subject, const Rulebook& rulebook,
               Requester requester) {
  return subject.operation == Operation::create &&
         (requester == Requester::unknown || is_requested_by_controller(subject, rulebook)) &&
         is_of_daemon_set(pod) && runs_as_trusted_account(pod, subject, rulebook);
}

}  // namespace xila::policy
