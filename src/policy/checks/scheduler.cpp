#include "checks/checks.hpp"
#include "place.hpp"
#include "xila/base/text.hpp"

namespace xila::policy {
namespace {

constexpr std::size_t kListedSchedulers = 10;

std::string remedy(const Rulebook& rulebook) {
  if (rulebook.accepted_schedulers.empty()) return "no profile names one, tell the platform team";
  const std::vector<std::string_view> accepted(rulebook.accepted_schedulers.begin(),
                                               rulebook.accepted_schedulers.end());
  return (accepted.size() == 1 ? "set " : "set one of ") + quoted_list(accepted, kListedSchedulers);
}

}  // namespace

// Only a scheduler that a profile or --external-schedulers names may place a Pod.
//
//   Field    spec.schedulerName; absent or "" means default-scheduler
//   Allowed  a name of the accepted set, compared whole, byte for byte
void check_scheduler(const CheckInput& input, Violations& found) {
  if (input.rulebook.accepted_schedulers.contains(scheduler_of(input.pod))) return;

  std::string message =
      input.pod.scheduler_name.empty()
          ? "spec.schedulerName is not set, which means \"default-scheduler\", and that"
          : "spec.schedulerName " + base::quote(input.pod.scheduler_name);
  message += " is not an accepted scheduler, " + remedy(input.rulebook);
  found.push_back({"scheduler", "spec.schedulerName", "", std::move(message)});
}

}  // namespace xila::policy
