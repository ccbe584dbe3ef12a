// What the watches bring, and what each change can change.
#include <algorithm>
#include <utility>

#include "engine.hpp"

namespace xila::observe {

void Engine::put_pod(const codec::ObjectId& id, codec::LivePod pod, std::uint32_t list,
                     const Now& now) {
  PodRecord* const known = cluster_.find_pod(id);
  // Without uids another Pod may have the name of one that was here.
  const bool is_another = known != nullptr && known->node->name != pod.pod.node_name;
  if (known != nullptr && (is_another || !is_bound_and_alive(pod))) drop(*known, now);
  if (!is_bound_and_alive(pod)) return;

  PodRecord* const before = is_another ? nullptr : known;
  if (before != nullptr) storage_.remove_user(*before);
  const Cluster::PodPut put =
      cluster_.put_pod(id, std::move(pod), list, options_.settle_after_bind, now);
  storage_.add_user(*put.pod);
  SpaceRecord& space = *put.pod->space;
  if (!space.is_known) space.tenant = tenant_of(space, *rules_.rulebook);
  if (put.what != Cluster::Put::same) judge({put.pod}, now);
}

void Engine::remove_pod(const codec::ObjectId& id, const Now& now) {
  PodRecord* const pod = cluster_.find_pod(id);
  if (pod != nullptr) drop(*pod, now);
}

void Engine::drop(PodRecord& pod, const Now& now) {
  const policy::Profile* profile =
      policy::profile_for(*rules_.rulebook, project(pod.labels, rules_.pod_keys));
  ledger_.close(pod, profile != nullptr ? profile->name : "", Resolution::pod_gone);
  silence_.forget(pod);
  storage_.remove_user(pod);
  if (pod.wakes_at != Steady{}) timers_.erase({pod.wakes_at, &pod});

  const std::unique_ptr<PodRecord> gone = cluster_.remove_pod(pod);
  if (rules_.has_exclusive && !gone->counts_for->empty()) judge(gone->node->pods, now);
  if (is_judging_ && pass_.empty()) judge_silence(now);
  cluster_.drop_if_unused(*gone->node);
  cluster_.drop_if_unused(*gone->space);
}

void Engine::keep_pods_of(std::uint32_t list, const Now& now) {
  for (PodRecord* pod : cluster_.pods_not_in(list)) drop(*pod, now);
}

void Engine::put_node(const codec::ObjectId& id, const policy::Labels& labels, std::uint32_t list,
                      const Now& now) {
  NodeRecord& node = cluster_.node(id.name);
  const bool is_new = !node.is_known || node.uid != id.uid;
  CompactLabels next = compact(cluster_.texts(), labels);
  const bool has_changed =
      project(next, rules_.node_keys) != project(node.labels, rules_.node_keys);
  node.labels = std::move(next);
  node.uid = id.uid;
  node.is_known = true;
  node.listed = list;
  if (!is_new && !has_changed) return;
  if (is_judging_) {
    node.changed_at = now.steady;
    if (is_new) node.known_since = now.steady;
  }
  judge(node.pods, now);
}

// What was found about it stands until its Pods go too, or another node takes its name.
void Engine::remove_node(const codec::ObjectId& id, const Now& /*now*/) {
  NodeRecord* const node = cluster_.find_node(id.name);
  if (node == nullptr || node->uid != id.uid) return;
  node->is_known = false;
  node->labels = {};
  cluster_.drop_if_unused(*node);
}

void Engine::keep_nodes_of(std::uint32_t list, const Now& /*now*/) {
  for (NodeRecord* node : cluster_.nodes_not_in(list)) {
    node->is_known = false;
    node->labels = {};
    cluster_.drop_if_unused(*node);
  }
}

void Engine::put_space(const codec::ObjectId& id, const policy::Labels& labels, std::uint32_t list,
                       const Now& now) {
  SpaceRecord& space = cluster_.space(id.name);
  CompactLabels next = compact(cluster_.texts(), labels);
  const bool has_changed = !space.is_known || project(next, rules_.space_keys) !=
                                                  project(space.labels, rules_.space_keys);
  space.labels = std::move(next);
  space.listed = list;
  const bool was_known = std::exchange(space.is_known, true);
  if (!has_changed) return;
  if (is_judging_ && was_known) space.changed_at = now.steady;
  change_space(space, now);
}

void Engine::remove_space(const codec::ObjectId& id, const Now& now) {
  SpaceRecord* const space = cluster_.find_space(id.name);
  if (space == nullptr) return;
  space->is_known = false;
  space->labels = {};
  if (is_judging_) space->changed_at = now.steady;
  change_space(*space, now);
  cluster_.drop_if_unused(*space);
}

void Engine::keep_spaces_of(std::uint32_t list, const Now& now) {
  for (SpaceRecord* space : cluster_.spaces_not_in(list)) remove_space({.name = space->name}, now);
}

void Engine::change_space(SpaceRecord& space, const Now& now) {
  space.tenant = tenant_of(space, *rules_.rulebook);
  judge(space.pods, now);
}

void Engine::judge_users(const std::vector<std::string>& claims, const Now& now) {
  std::vector<PodRecord*> users;
  for (const std::string& claim : claims) {
    for (PodRecord* pod : storage_.users_of(claim)) users.push_back(pod);
  }
  std::ranges::sort(users);
  const auto repeated = std::ranges::unique(users);
  users.erase(repeated.begin(), repeated.end());
  judge(users, now);
}

void Engine::put_claim(const codec::ObjectId& id, const codec::VolumeClaim& claim,
                       std::uint32_t list, const Now& now) {
  judge_users(storage_.put_claim(id, claim, list), now);
}
void Engine::remove_claim(const codec::ObjectId& id, const Now& now) {
  judge_users(storage_.remove_claim(id), now);
}
void Engine::keep_claims_of(std::uint32_t list, const Now& now) {
  judge_users(storage_.keep_claims_of(list), now);
}
void Engine::put_volume(const codec::ObjectId& id, const codec::PersistentVolume& volume,
                        std::uint32_t list, const Now& now) {
  judge_users(storage_.put_volume(id, volume, list), now);
}
void Engine::remove_volume(const codec::ObjectId& id, const Now& now) {
  judge_users(storage_.remove_volume(id), now);
}
void Engine::keep_volumes_of(std::uint32_t list, const Now& now) {
  judge_users(storage_.keep_volumes_of(list), now);
}

}  // namespace xila::observe
