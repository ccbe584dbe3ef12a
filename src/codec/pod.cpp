#include "xila/codec/pod.hpp"

#include <utility>
#include <vector>

#include "pod_reader.hpp"

namespace xila::codec {
namespace {

// Objects with many fields are read in one pass over them, the others by key.

void read_owner(const ObjectReader& reference, policy::OwnerReference& owner) {
  owner.api_version = reference.text("apiVersion");
  owner.kind = reference.text("kind");
  owner.name = reference.text("name");
  owner.uid = reference.text("uid");
  owner.controller = reference.flag("controller");
}

void read_metadata(const ObjectReader& metadata, DecodedPod& decoded) {
  policy::Pod& pod = decoded.pod;
  pod.name = metadata.text("name");
  pod.generate_name = metadata.text("generateName");
  decoded.space = metadata.text("namespace");
  const Value labels = metadata.value("labels").kept();
  pod.labels.reserve(labels.size());
  labels.each_field(
      [&](std::string_view key, std::string_view value) { pod.labels.emplace_back(key, value); });
  const Value owners = metadata.value("ownerReferences").kept();
  owners.each_object([&](std::size_t, const ObjectReader& reference) {
    read_owner(reference, pod.owners.emplace_back());
  });
}

// securityContext.windowsOptions.hostProcess, of a Pod or of a container.
std::optional<bool> read_host_process(const ObjectReader& security) {
  const ObjectReader windows = security.object("windowsOptions");
  return windows.optional_flag("hostProcess");
}

void read_security(const ObjectReader& security, policy::Container& container) {
  container.privileged = security.flag("privileged");
  container.host_process = read_host_process(security);
  container.proc_mount = security.text("procMount");
  const ObjectReader capabilities = security.object("capabilities");
  capabilities.value("add").kept().each_text(
      [&](std::string_view name) { container.added_capabilities.emplace_back(name); });
}

void read_container(const ObjectReader& reader, policy::Container& container) {
  reader.each_value([&](std::string_view key, const Value& value) {
    if (key == "name") {
      container.name = value.text();
    } else if (key == "securityContext") {
      read_security(value.object(), container);
    } else if (key == "ports") {
      value.each_object([&](std::size_t place, const ObjectReader& port) {
        const std::int64_t host_port = port.integer("hostPort");
        if (host_port != 0 && port.keep(1)) container.host_ports.emplace_back(place, host_port);
      });
    } else if (key == "env") {
      value.each_object([&](std::size_t place, const ObjectReader& variable) {
        const std::string_view name = variable.text("name");
        if (policy::is_gpu_visibility_variable(name) && variable.keep(1)) {
          container.gpu_variables.emplace_back(place, name);
        }
      });
    }
  });
}

void read_volume(const ObjectReader& reader, policy::Volume& volume) {
  volume.name = reader.text("name");
  volume.has_host_path = reader.has("hostPath");
  const ObjectReader host_path = reader.object("hostPath");
  volume.host_path = host_path.text("path");
  const ObjectReader claim = reader.object("persistentVolumeClaim");
  volume.claim = claim.text("claimName");
}

// The requirements of one list of a node selector term that are about `about`.
void read_requirements(const ObjectReader& term, std::string_view list, std::string_view about,
                       std::vector<policy::NodeRequirement>& found) {
  term.each_object(list, [&](std::size_t, const ObjectReader& reader) {
    const std::string_view key = reader.text("key");
    if (key != about || !reader.keep(1)) return;
    policy::NodeRequirement requirement{.field = reader.path().text(), .key = std::string(key)};
    requirement.op = reader.text("operator");
    reader.value("values").kept().each_text(
        [&](std::string_view value) { requirement.values.emplace_back(value); });
    found.push_back(std::move(requirement));
  });
}

// Only what is required and names nodes: a preference pins nothing, and other labels are for many
// nodes.
void read_affinity(const ObjectReader& affinity, policy::Pod& pod) {
  const ObjectReader node_affinity = affinity.object("nodeAffinity");
  const ObjectReader required =
      node_affinity.object("requiredDuringSchedulingIgnoredDuringExecution");
  required.each_object("nodeSelectorTerms", [&](std::size_t, const ObjectReader& term) {
    read_requirements(term, "matchExpressions", policy::kHostnameLabel, pod.node_requirements);
    read_requirements(term, "matchFields", "metadata.name", pod.node_requirements);
  });
}

void read_node_selector(const ObjectReader& selector, policy::Pod& pod) {
  const Value host = selector.value(policy::kHostnameLabel);
  if (host) pod.hostname_selector = host.text();
}

// In the order of the kinds, whatever the document's.
void read_containers(const ObjectReader& spec, policy::Pod& pod) {
  const Value regular = spec.value(policy::field_of(policy::ContainerKind::regular));
  if (!regular) regular.problem("is absent");
  regular.refuse_empty_array();

  std::vector<Value> lists;
  std::size_t count = 0;
  for (const policy::ContainerKind kind : policy::kContainerKinds) {
    lists.push_back(spec.value(policy::field_of(kind)).kept());
    count += lists.back().size();
  }
  pod.containers.reserve(count);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    lists[i].each_object([&](std::size_t index, const ObjectReader& reader) {
      read_container(reader, pod.containers.emplace_back(policy::Container{
                                 .kind = policy::kContainerKinds[i], .index = index}));
    });
  }
}

void read_spec(const ObjectReader& spec, policy::Pod& pod) {
  std::string_view older_service_account_name;
  spec.each_value([&](std::string_view key, const Value& value) {
    if (key == "schedulerName") {
      pod.scheduler_name = value.text();
    } else if (key == "nodeName") {
      pod.node_name = value.text();
    } else if (key == "serviceAccountName") {
      pod.service_account_name = value.text();
    } else if (key == "serviceAccount") {
      older_service_account_name = value.text();
    } else if (key == "hostNetwork") {
      pod.host_network = value.flag();
    } else if (key == "hostPID") {
      pod.host_pid = value.flag();
    } else if (key == "hostIPC") {
      pod.host_ipc = value.flag();
    } else if (key == "securityContext") {
      pod.host_process = read_host_process(value.object()).value_or(false);
    } else if (key == "nodeSelector") {
      read_node_selector(value.object(), pod);
    } else if (key == "affinity") {
      read_affinity(value.object(), pod);
    } else if (key == "volumes") {
      const Value volumes = value.kept();
      pod.volumes.reserve(volumes.size());
      volumes.each_object([&](std::size_t index, const ObjectReader& reader) {
        read_volume(reader, pod.volumes.emplace_back(policy::Volume{.index = index}));
      });
    }
  });
  // The API server takes the one for the other and sends both; a manifest may have only this one.
  if (pod.service_account_name.empty()) pod.service_account_name = older_service_account_name;
  read_containers(spec, pod);
}

}  // namespace

DecodedPod read_pod(const ObjectReader& object) {
  DecodedPod decoded;
  const ObjectReader metadata = object.object("metadata");
  read_metadata(metadata, decoded);
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
