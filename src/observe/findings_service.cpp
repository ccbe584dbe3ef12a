#include <algorithm>
#include <charconv>
#include <utility>

#include "xila/observe/controller.hpp"

namespace xila::observe {
namespace {

namespace asio = boost::asio;

constexpr std::string_view kPath = "/findings";
// Some 10 MB of answer; more is asked for by tenant.
constexpr std::size_t kMostFindings = 10'000;

struct Query {
  std::size_t limit = kMostFindings;
  std::string tenant;
};

// "limit=100&tenant=team-a". Tenants are label values: nothing in them needs an escape.
std::optional<Query> read_query(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    if (key == "tenant") {
      query.tenant = value;
    } else if (key == "limit") {
      const char* const end = value.data() + value.size();
      const auto [stop, error] = std::from_chars(value.data(), end, query.limit);
      if (error != std::errc() || stop != end) return std::nullopt;
      query.limit = std::min(query.limit, kMostFindings);
    } else {
      return std::nullopt;
    }
  }
  return query;
}

std::optional<net::Response> refuse(const net::RequestHead& head) {
  if (head.path != kPath) {
    return net::Response{.status = 404, .body = "no such path; there is /findings\n"};
  }
  if (head.method != "GET" && head.method != "HEAD") {
    return net::Response{.status = 405,
                         .body = "no such method here, use GET, HEAD\n",
                         .headers = {{"Allow", "GET, HEAD"}}};
  }
  return std::nullopt;
}

asio::awaitable<net::Response> answer(Controller& controller, const net::Request& request) {
  const std::optional<Query> query = read_query(request.query);
  net::Response response;
  if (query) {
    response.content_type = "application/json";
    response.body = co_await controller.findings(query->limit, query->tenant);
  } else {
    response.status = 400;
    response.body = "the query may hold limit=NUMBER and tenant=NAME\n";
  }
  co_return response;
}

}  // namespace

net::Service findings_service(Controller& controller) {
  return {.refuse = refuse, .answer = [&controller](const net::Request& request) {
            return answer(controller, request);
          }};
}

}  // namespace xila::observe
