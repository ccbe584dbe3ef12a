#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace xila::policy {

// The answer to the one question "whose namespace is this?". The zero value is a failed look-up, so
// that an answer that nobody filled in never reads as "no tenant needed".
struct TenantResolution {
  enum class Kind : std::uint8_t {
    lookup_failed,  // error, time-out, overload: `text` says which
    unresolved,     // the namespace is there or not, and names no tenant: `text` says why
    resolved,       // `text` is the tenant
    not_judged,     // offline, with nothing that could answer: `check` says so in its summary
  };

  Kind kind = Kind::lookup_failed;
  std::string text;

  static TenantResolution resolved(std::string tenant) {
    return {Kind::resolved, std::move(tenant)};
  }
  static TenantResolution unresolved(std::string why) { return {Kind::unresolved, std::move(why)}; }
  static TenantResolution lookup_failed(std::string why) {
    return {Kind::lookup_failed, std::move(why)};
  }
  static TenantResolution not_judged() { return {Kind::not_judged, {}}; }

  bool operator==(const TenantResolution&) const = default;
};

// The tenant's name, or "" where there is none.
inline const std::string& tenant_name(const TenantResolution& tenant) {
  static const std::string none;
  return tenant.kind == TenantResolution::Kind::resolved ? tenant.text : none;
}

}  // namespace xila::policy
