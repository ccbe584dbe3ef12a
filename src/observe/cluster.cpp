#include "cluster.hpp"

#include <algorithm>
#include <utility>

namespace xila::observe {
namespace {

std::string key_of(const codec::ObjectId& id) {
  return id.uid.empty() ? id.space + "/" + id.name : id.uid;
}

// A binding that lies in the future, by a clock that differs from ours, stands from now on.
Steady settled_at(const std::optional<Wall>& bound_at, std::chrono::milliseconds settle,
                  const Now& now) {
  using std::chrono::milliseconds;
  if (!bound_at) return now.steady + settle;
  const auto age = std::chrono::duration_cast<milliseconds>(now.wall - *bound_at);
  return now.steady + settle - std::clamp(age, milliseconds(0), settle);
}

template <class Map>
auto not_in(Map& map, std::uint32_t list) {
  std::vector<typename Map::mapped_type*> missing;
  for (auto& [name, record] : map) {
    if (record.is_known && record.listed != list) missing.push_back(&record);
  }
  return missing;
}

template <class Map>
auto& get_or_add(Map& map, std::string_view name) {
  auto found = map.find(name);
  if (found == map.end()) {
    found = map.try_emplace(std::string(name)).first;
    found->second.name = std::string(name);
  }
  return found->second;
}

template <class Map>
auto* find_in(Map& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

template <class Map, class Record>
void drop_unused(Map& map, const Record& record) {
  if (!record.is_known && record.pods.empty()) map.erase(map.find(record.name));
}

// Takes `pod` out of `list`, whose last one moves to its place.
template <std::uint32_t PodRecord::* place>
void take_out(std::vector<PodRecord*>& list, PodRecord& pod) {
  PodRecord* const last = list.back();
  list[pod.*place] = last;
  last->*place = pod.*place;
  list.pop_back();
}

}  // namespace

bool is_bound_and_alive(const codec::LivePod& live) {
  return !live.pod.node_name.empty() && !live.has_ended && !live.is_terminating;
}

Cluster::PodPut Cluster::put_pod(const codec::ObjectId& id, codec::LivePod live, std::uint32_t list,
                                 std::chrono::milliseconds settle, const Now& now) {
  const std::string key = key_of(id);
  auto found = pods_.find(key);
  const bool is_new = found == pods_.end();
  if (is_new) {
    auto record = std::make_unique<PodRecord>();
    record->key = key;
    record->is_uid_known = !id.uid.empty();
    record->name = id.name;
    record->settled_at = settled_at(live.bound_at, settle, now);
    const policy::OwnerReference* owner = policy::controller_of(live.pod);
    if (owner != nullptr) record->owner_name = intern(texts_, owner->name);
    place(*record, node(live.pod.node_name), space(id.space));
    const std::string_view own_key = record->key;
    found = pods_.emplace(own_key, std::move(record)).first;
  }
  PodRecord& pod = *found->second;
  pod.listed = list;

  CompactLabels labels = compact(texts_, live.pod.labels);
  SharedShape shape = shapes_.get(shape_of(std::move(live.pod), std::move(live.malformed)));
  const bool has_claims = !live.claims.empty();
  const bool same_claims = pod.claims ? has_claims && *pod.claims == live.claims : !has_claims;
  // Who chose the node is decided once: what was known stays known when it is erased.
  const bool learns = pod.node_choice == codec::NodeChoice::unknown &&
                      live.node_choice != codec::NodeChoice::unknown;
  if (!is_new && labels == pod.labels && shape == pod.shape && same_claims && !learns) {
    return {Put::same, &pod};
  }
  pod.labels = std::move(labels);
  pod.shape = std::move(shape);
  if (!same_claims) {
    pod.claims = has_claims
                     ? std::make_unique<const std::vector<std::string>>(std::move(live.claims))
                     : nullptr;
  }
  if (learns) {
    pod.node_choice = live.node_choice;
    pod.node_chooser = intern(texts_, live.node_chooser);
  }
  return {is_new ? Put::added : Put::changed, &pod};
}

PodRecord* Cluster::find_pod(const codec::ObjectId& id) {
  const auto found = pods_.find(key_of(id));
  return found == pods_.end() ? nullptr : found->second.get();
}

void Cluster::place(PodRecord& pod, NodeRecord& node, SpaceRecord& space) {
  pod.node = &node;
  pod.place_in_node = static_cast<std::uint32_t>(node.pods.size());
  node.pods.push_back(&pod);
  pod.space = &space;
  pod.place_in_space = static_cast<std::uint32_t>(space.pods.size());
  space.pods.push_back(&pod);
}

std::unique_ptr<PodRecord> Cluster::remove_pod(PodRecord& pod) {
  const auto found = pods_.find(pod.key);
  std::unique_ptr<PodRecord> record = std::move(found->second);
  pods_.erase(found);
  take_out<&PodRecord::place_in_node>(pod.node->pods, pod);
  take_out<&PodRecord::place_in_space>(pod.space->pods, pod);
  return record;
}

NodeRecord& Cluster::node(std::string_view name) {
  return get_or_add(nodes_, name);
}
SpaceRecord& Cluster::space(std::string_view name) {
  return get_or_add(spaces_, name);
}
NodeRecord* Cluster::find_node(std::string_view name) {
  return find_in(nodes_, name);
}
SpaceRecord* Cluster::find_space(std::string_view name) {
  return find_in(spaces_, name);
}
void Cluster::drop_if_unused(NodeRecord& node) {
  drop_unused(nodes_, node);
}
void Cluster::drop_if_unused(SpaceRecord& space) {
  drop_unused(spaces_, space);
}

std::vector<PodRecord*> Cluster::pods_not_in(std::uint32_t list) {
  std::vector<PodRecord*> missing;
  for (const auto& [key, pod] : pods_) {
    if (pod->listed != list) missing.push_back(pod.get());
  }
  return missing;
}
std::vector<NodeRecord*> Cluster::nodes_not_in(std::uint32_t list) {
  return not_in(nodes_, list);
}
std::vector<SpaceRecord*> Cluster::spaces_not_in(std::uint32_t list) {
  return not_in(spaces_, list);
}

std::vector<std::string> Cluster::node_names() const {
  std::vector<std::string> names;
  names.reserve(nodes_.size());
  for (const auto& [name, node] : nodes_) names.push_back(name);
  return names;
}

}  // namespace xila::observe
