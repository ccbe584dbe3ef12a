#include "checks/checks.hpp"
#include "place.hpp"
#include "xila/base/text.hpp"

namespace xila::policy {
namespace {

constexpr std::size_t kReasonBytes = 256;

// " (why)", or nothing without a reason.
std::string in_brackets(std::string_view why) {
  if (why.empty()) return {};
  return " (" + base::escape_control(base::prefix_at_character(why, kReasonBytes)) + ')';
}

std::string unresolved(const CheckInput& input, std::string_view why) {
  return "namespace " + name_text(input.subject.space) + " belongs to no tenant" +
         in_brackets(why) + ", ask the platform team to set its label " +
         input.rulebook.tenant_label;
}

std::string lookup_failed(const CheckInput& input) {
  return "the tenant of namespace " + name_text(input.subject.space) + " could not be looked up" +
         in_brackets(input.tenant.text) +
         ", try again and tell the platform team if it does not pass";
}

}  // namespace

// A tenant is a property of the namespace. Without one nobody can say which nodes the Pod may use.
//
//   Source   the namespace's label, or the policy file's static map; nothing that the Pod says
//   Denied   no tenant, an empty one, an unknown namespace, a look-up that failed
void check_tenant(const CheckInput& input, Violations& found) {
  const auto deny = [&](std::string message) {
    found.push_back({"tenant", "metadata.namespace", "", std::move(message)});
  };
  switch (input.tenant.kind) {
    case TenantResolution::Kind::not_judged:
      return;
    case TenantResolution::Kind::resolved:
      if (input.tenant.text.empty()) deny(unresolved(input, "its tenant is empty"));
      return;
    case TenantResolution::Kind::unresolved:
      return deny(unresolved(input, input.tenant.text));
    case TenantResolution::Kind::lookup_failed:
      return deny(lookup_failed(input));
  }
}

}  // namespace xila::policy
