#include "names.hpp"

namespace xila::manifest {

std::string name_of(const Value& object) {
  const Member* metadata = find(object, "metadata");
  if (!metadata) return "*";
  const std::string_view name = text_of(metadata->value, "name");
  if (!name.empty()) return std::string(name);
  return std::string(text_of(metadata->value, "generateName")) + "*";
}

std::string pod_name(std::string_view kind, std::string_view object_name) {
  std::string name(object_name);
  if (kind == "StatefulSet") return name + "-0";
  // A ReplicaSet and a Job stand between, with a suffix of their own.
  if (kind == "Deployment" || kind == "CronJob") return name + "-*-*";
  return name + "-*";
}

}  // namespace xila::manifest
