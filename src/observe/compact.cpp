#include "compact.hpp"

#include <algorithm>
#include <string_view>

namespace xila::observe {

CompactLabels compact(TextPool& pool, const policy::Labels& labels) {
  CompactLabels result;
  result.reserve(labels.size());
  for (const auto& [key, value] : labels) {
    result.emplace_back(intern(pool, key), intern(pool, value));
  }
  return result;
}

policy::Labels project(const CompactLabels& labels, const std::vector<Text>& keys) {
  policy::Labels result;
  for (const auto& [key, value] : labels) {
    if (std::ranges::find(keys, key) != keys.end()) result.emplace_back(*key, *value);
  }
  return result;
}

std::size_t ShapeHash::operator()(const Shape& shape) const {
  std::size_t hash = shape.malformed.size();
  const auto mix = [&hash](std::string_view text) {
    hash = hash * 1099511628211U ^ std::hash<std::string_view>()(text);
  };
  mix(shape.pod.scheduler_name);
  mix(shape.pod.service_account_name);
  for (const policy::Container& container : shape.pod.containers) mix(container.name);
  for (const policy::Volume& volume : shape.pod.volumes) mix(volume.host_path);
  return hash;
}

Shape shape_of(policy::Pod pod, policy::Violations malformed) {
  pod.name.clear();
  pod.generate_name.clear();
  pod.node_name.clear();
  pod.labels = {};
  std::erase_if(pod.owners, [](const policy::OwnerReference& owner) { return !owner.controller; });
  for (policy::OwnerReference& owner : pod.owners) {
    owner.name.clear();
    owner.uid.clear();
  }
  std::erase_if(pod.volumes, [](const policy::Volume& volume) { return !volume.has_host_path; });
  for (policy::Volume& volume : pod.volumes) volume.claim.clear();
  pod.hostname_selector.reset();
  pod.node_requirements = {};
  pod.containers.shrink_to_fit();
  pod.volumes.shrink_to_fit();
  pod.owners.shrink_to_fit();
  return {std::move(pod), std::move(malformed)};
}

}  // namespace xila::observe
