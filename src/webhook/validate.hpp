#pragma once

#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "xila/net/http.hpp"
#include "xila/webhook/routes.hpp"

namespace xila::webhook {

// One AdmissionReview in, its answer out. `profile` is the path's. Everything that it is given
// outlives the coroutine.
boost::asio::awaitable<net::Response> validate(const Dependencies& with, std::string_view profile,
                                               const net::Request& request);

}  // namespace xila::webhook
