#include "silence.hpp"

#include <algorithm>

namespace xila::observe {
namespace {

constexpr std::size_t kMostProfiles = 64;

std::uint64_t bit(std::size_t place) {
  return std::uint64_t{1} << place;
}

}  // namespace

void Silence::begin(const Rules& rules) {
  rules_ = &rules;
  ++round_;
  counts_.assign(std::min(rules.rulebook->profiles.size(), kMostProfiles), {});
}

void Silence::count(PodRecord& pod) {
  forget(pod);
  pod.counted = round_;
  pod.selected_by = 0;
  pod.scheduled_by = 0;
  const std::string_view scheduler = policy::scheduler_of(pod.shape->pod);
  const policy::Labels labels = project(pod.labels, rules_->pod_keys);
  const policy::Labels space_labels = project(pod.space->labels, rules_->space_keys);
  bool is_selected = false;  // by a profile of its scheduler
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const policy::Profile& profile = rules_->rulebook->profiles[i];
    const bool is_mine =
        profile.scheduler_name == scheduler && scheduler != policy::kDefaultScheduler;
    if (policy::selects(profile, labels)) {
      pod.selected_by |= bit(i);
      is_selected = is_selected || is_mine;
    }
    if (is_mine && covers(profile, space_labels)) pod.scheduled_by |= bit(i);
  }
  if (is_selected) pod.scheduled_by = 0;
  add(pod, 1);
}

void Silence::forget(const PodRecord& pod) {
  if (rules_ != nullptr && pod.counted == round_) add(pod, -1);
}

void Silence::add(const PodRecord& pod, int one) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if ((pod.selected_by & bit(i)) != 0) counts_[i].selected += one;
    if ((pod.scheduled_by & bit(i)) != 0) counts_[i].unselected += one;
  }
}

bool Silence::is_silent(std::size_t profile) const {
  return counts_[profile].selected == 0 && counts_[profile].unselected > 0;
}

}  // namespace xila::observe
