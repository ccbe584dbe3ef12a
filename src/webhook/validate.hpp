#pragma once

#include <string_view>

#include "xila/net/http.hpp"
#include "xila/webhook/routes.hpp"

namespace xila::webhook {

// One AdmissionReview in, its answer out: at once, unless the tenant has to be looked up. `profile`
// is the path's. Everything that it is given outlives the coroutine.
net::Answer validate(const Dependencies& with, std::string_view profile,
                     const net::Request& request);

}  // namespace xila::webhook
