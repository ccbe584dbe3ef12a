#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xila::policy {

enum class Operation : std::uint8_t { create, update, remove, connect };

// "CREATE", "UPDATE", "DELETE", "CONNECT".
std::string_view to_text(Operation operation);

// Who asks for what: the parts of an AdmissionRequest around its objects.
struct Subject {
  Operation operation = Operation::create;
  std::string space;  // request.namespace, which decides; never the object's
  std::string name;   // request.name, else metadata.name, else metadata.generateName + "*"
  std::string user;   // request.userInfo.username
  std::string
      resource;  // "pods", "pods/ephemeralcontainers", "pods/binding", "deployments.apps", ...
  bool dry_run = false;

  bool operator==(const Subject&) const = default;
};

}  // namespace xila::policy
