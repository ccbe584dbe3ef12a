#include "xila/codec/pod.hpp"

#include <utility>

#include "pod_reader.hpp"

namespace xila::codec {
namespace {

void read_metadata(const ObjectReader& metadata, policy::Pod& pod) {
  pod.name = metadata.text("name");
  pod.generate_name = metadata.text("generateName");
  metadata.each_field("labels", [&](std::string_view key, std::string_view value) {
    pod.labels.emplace_back(key, value);
  });
  metadata.each_object("ownerReferences", [&](std::size_t, const ObjectReader& reference) {
    policy::OwnerReference& owner = pod.owners.emplace_back();
    owner.api_version = reference.text("apiVersion");
    owner.kind = reference.text("kind");
    owner.name = reference.text("name");
    owner.uid = reference.text("uid");
    owner.controller = reference.flag("controller");
  });
}

// securityContext.windowsOptions.hostProcess, of a Pod or of a container.
std::optional<bool> read_host_process(const ObjectReader& security) {
  const ObjectReader windows = security.object("windowsOptions");
  return windows.optional_flag("hostProcess");
}

policy::Container read_container(policy::ContainerKind kind, std::size_t index,
                                 const ObjectReader& reader) {
  policy::Container container{.kind = kind, .index = index};
  container.name = reader.text("name");

  const ObjectReader security = reader.object("securityContext");
  container.privileged = security.flag("privileged");
  container.host_process = read_host_process(security);
  container.proc_mount = security.text("procMount");
  const ObjectReader capabilities = security.object("capabilities");
  capabilities.each_text(
      "add", [&](std::string_view name) { container.added_capabilities.emplace_back(name); });

  reader.each_object("ports", [&](std::size_t place, const ObjectReader& port) {
    const std::int64_t host_port = port.integer("hostPort");
    if (host_port != 0) container.host_ports.emplace_back(place, host_port);
  });
  reader.each_object("env", [&](std::size_t place, const ObjectReader& variable) {
    const std::string_view name = variable.text("name");
    if (policy::is_gpu_visibility_variable(name)) container.gpu_variables.emplace_back(place, name);
  });
  return container;
}

policy::Volume read_volume(std::size_t index, const ObjectReader& reader) {
  policy::Volume volume{.index = index};
  volume.name = reader.text("name");
  volume.has_host_path = reader.has("hostPath");
  const ObjectReader host_path = reader.object("hostPath");
  volume.host_path = host_path.text("path");
  const ObjectReader claim = reader.object("persistentVolumeClaim");
  volume.claim = claim.text("claimName");
  return volume;
}

// The requirements of one list of a node selector term that are about `about`.
void read_requirements(const ObjectReader& term, std::string_view list, std::string_view about,
                       std::vector<policy::NodeRequirement>& found) {
  term.each_object(list, [&](std::size_t, const ObjectReader& reader) {
    const std::string_view key = reader.text("key");
    if (key != about) return;
    policy::NodeRequirement requirement{.field = reader.path().text(), .key = std::string(key)};
    requirement.op = reader.text("operator");
    reader.each_text("values",
                     [&](std::string_view value) { requirement.values.emplace_back(value); });
    found.push_back(std::move(requirement));
  });
}

// Only what is required and names nodes: a preference pins nothing, and other labels are for many
// nodes.
void read_placement(const ObjectReader& spec, policy::Pod& pod) {
  const ObjectReader selector = spec.object("nodeSelector");
  if (selector.has(policy::kHostnameLabel)) {
    pod.hostname_selector = selector.text(policy::kHostnameLabel);
  }
  const ObjectReader affinity = spec.object("affinity");
  const ObjectReader node_affinity = affinity.object("nodeAffinity");
  const ObjectReader required =
      node_affinity.object("requiredDuringSchedulingIgnoredDuringExecution");
  required.each_object("nodeSelectorTerms", [&](std::size_t, const ObjectReader& term) {
    read_requirements(term, "matchExpressions", policy::kHostnameLabel, pod.node_requirements);
    read_requirements(term, "matchFields", "metadata.name", pod.node_requirements);
  });
}

void read_spec(const ObjectReader& spec, policy::Pod& pod) {
  pod.scheduler_name = spec.text("schedulerName");
  pod.node_name = spec.text("nodeName");
  pod.service_account_name = spec.text("serviceAccountName");
  pod.host_network = spec.flag("hostNetwork");
  pod.host_pid = spec.flag("hostPID");
  pod.host_ipc = spec.flag("hostIPC");
  const ObjectReader security = spec.object("securityContext");
  pod.host_process = read_host_process(security).value_or(false);

  spec.require_elements(policy::field_of(policy::ContainerKind::regular));
  for (const policy::ContainerKind kind : policy::kContainerKinds) {
    spec.each_object(policy::field_of(kind), [&](std::size_t index, const ObjectReader& reader) {
      pod.containers.push_back(read_container(kind, index, reader));
    });
  }
  spec.each_object("volumes", [&](std::size_t index, const ObjectReader& reader) {
    pod.volumes.push_back(read_volume(index, reader));
  });
  read_placement(spec, pod);
}

}  // namespace

DecodedPod read_pod(const ObjectReader& object) {
  DecodedPod decoded;
  const ObjectReader metadata = object.object("metadata");
  decoded.space = metadata.text("namespace");
  read_metadata(metadata, decoded.pod);
  const ObjectReader spec = object.required_object("spec");
  if (spec) read_spec(spec, decoded.pod);
  return decoded;
}

base::Result<DecodedPod> decode_pod(std::string_view text) {
  DocumentParser parser;
  const base::Result<simdjson::dom::object> root = parser.parse(text, Padding::absent);
  if (!root) return std::unexpected(root.error());

  Problems problems;
  DecodedPod decoded = read_pod(ObjectReader(*root, Path(""), problems));
  decoded.malformed = problems.take();
  return decoded;
}

}  // namespace xila::codec
