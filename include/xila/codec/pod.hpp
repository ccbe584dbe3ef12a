#pragma once

#include <string>
#include <string_view>

#include "xila/base/result.hpp"
#include "xila/policy/check.hpp"
#include "xila/policy/pod.hpp"

namespace xila::codec {

struct DecodedPod {
  policy::Pod pod;
  std::string space;             // metadata.namespace; "" = absent
  policy::Violations malformed;  // fields of a wrong type, with their paths
};

// One Pod as JSON, by the same code and the same rules as the Pod inside a review. Copies `text` if
// it must. Error: no JSON, or no object.
base::Result<DecodedPod> decode_pod(std::string_view text);

}  // namespace xila::codec
