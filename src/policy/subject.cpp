#include "xila/policy/subject.hpp"

namespace xila::policy {

std::string_view to_text(Operation operation) {
  switch (operation) {
    case Operation::create:
      return "CREATE";
    case Operation::update:
      return "UPDATE";
    case Operation::remove:
      return "DELETE";
    case Operation::connect:
      return "CONNECT";
  }
  return "";
}

}  // namespace xila::policy
