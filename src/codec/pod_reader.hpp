#pragma once

#include "json_reader.hpp"
#include "xila/codec/pod.hpp"

namespace xila::codec {

// What the checks read of a Pod. A field of another type, and a Pod that the API server would never
// have sent (without a spec or without containers), goes to the reader's problems, not to
// `malformed`; the rest is read all the same.
DecodedPod read_pod(const ObjectReader& object);

}  // namespace xila::codec
