#include "xila/observe/finding.hpp"

namespace xila::observe {

std::string_view to_text(Change change) {
  switch (change) {
    case Change::opened:
      return "opened";
    case Change::changed:
      return "changed";
    case Change::resolved:
      return "resolved";
  }
  return "";
}

std::string_view to_text(Resolution resolution) {
  switch (resolution) {
    case Resolution::none:
      return "";
    case Resolution::holds:
      return "holds";
    case Resolution::pod_gone:
      return "pod-gone";
    case Resolution::node_replaced:
      return "node-replaced";
    case Resolution::policy:
      return "policy";
    case Resolution::not_a_tenants:
      return "not-a-tenants";
  }
  return "";
}

}  // namespace xila::observe
