#include "xila/policy/rulebook.hpp"

namespace xila::policy {

const Profile* find_profile(const Rulebook& rulebook, std::string_view name) {
  for (const Profile& profile : rulebook.profiles) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

const Profile* profile_for(const Rulebook& rulebook, const Labels& labels) {
  for (const Profile& profile : rulebook.profiles) {
    if (selects(profile, labels)) return &profile;
  }
  return nullptr;
}

}  // namespace xila::policy
