#include "xila/webhook/routes.hpp"

#include <exception>
#include <memory>
#include <utility>

#include "validate.hpp"
#include "xila/base/text.hpp"
#include "xila/policy/label_selector.hpp"
#include "xila/telemetry/log.hpp"

namespace xila::webhook {
namespace {

namespace asio = boost::asio;

net::Response not_found(std::string_view what_there_is) {
  return {.status = 404, .body = "no such path; there is " + std::string(what_there_is) + "\n"};
}

net::Response method_not_allowed(std::string_view allowed) {
  return {.status = 405,
          .body = "no such method here, use " + std::string(allowed) + "\n",
          .headers = {{"Allow", std::string(allowed)}}};
}

// For the exception that is being handled.
net::Response failed(telemetry::Metrics& metrics, std::string_view route) {
  std::string text = "an exception that is no std::exception";
  try {
    throw;
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
  }
  metrics.handler_exceptions.add(route);
  telemetry::error("handler_failed", {{"route", route}, {"error", text}});
  return {.status = 500, .body = "internal error, see the log of this server\n"};
}

asio::awaitable<net::Response> guarded_later(telemetry::Metrics& metrics, std::string_view route,
                                             asio::awaitable<net::Response> later) {
  try {
    net::Response response = co_await std::move(later);
    co_return response;
  } catch (...) {
    co_return failed(metrics, route);
  }
}

// The one place where exceptions end: a program error costs its own request an answer, which
// denies.
template <class Handler>
net::Answer guarded(telemetry::Metrics& metrics, std::string_view route, const Handler& handler) {
  try {
    net::Answer answer = handler();
    auto* const later = std::get_if<asio::awaitable<net::Response>>(&answer);
    if (later == nullptr) return answer;
    return guarded_later(metrics, route, std::move(*later));
  } catch (...) {
    return failed(metrics, route);
  }
}

// The profile that a path names; nothing for other paths.
std::optional<std::string_view> profile_of(std::string_view path) {
  constexpr std::string_view kValidate = "/validate";
  if (!path.starts_with(kValidate)) return std::nullopt;
  path.remove_prefix(kValidate.size());
  if (path.empty()) return policy::kEnforcementProfile;
  if (path[0] != '/' || !policy::validate_dns_label(path.substr(1))) return std::nullopt;
  return path.substr(1);
}

// application/json, with any parameters: media types and their parameters' names ignore case.
bool is_json(std::string_view content_type) {
  const std::string_view type = base::trim(content_type.substr(0, content_type.find(';')));
  return base::equals_ignoring_case(type, "application/json");
}

std::optional<net::Response> refuse_review(const net::RequestHead& head) {
  if (!profile_of(head.path)) return not_found("/validate and /validate/<profile>");
  if (head.method != "POST") return method_not_allowed("POST");
  if (!is_json(head.content_type)) {
    return net::Response{.status = 415,
                         .body =
                             "a review is an AdmissionReview of admission.k8s.io/v1 with "
                             "Content-Type: application/json\n"};
  }
  return std::nullopt;
}

net::Answer answer_review(const Dependencies& with, const net::Request& request) {
  const auto profile = profile_of(request.path);
  if (!profile) return not_found("/validate and /validate/<profile>");
  return guarded(with.metrics, "validate", [&] { return validate(with, *profile, request); });
}

struct Operations {
  telemetry::Metrics& metrics;
  Readiness not_ready_because;
};

constexpr std::string_view kOperationsPaths = "/healthz, /readyz and /metrics";

bool is_operations_path(std::string_view path) {
  return path == "/healthz" || path == "/readyz" || path == "/metrics";
}

std::optional<net::Response> refuse_operations(const net::RequestHead& head) {
  if (!is_operations_path(head.path)) return not_found(kOperationsPaths);
  if (head.method != "GET" && head.method != "HEAD") return method_not_allowed("GET, HEAD");
  return std::nullopt;
}

net::Response alive() {
  return {.body = "ok"};
}

net::Response readiness(const Operations& with) {
  if (const std::optional<std::string> reason = with.not_ready_because()) {
    return {.status = 503, .body = *reason + "\n"};
  }
  return {.body = "ready"};
}

net::Response exposition(const Operations& with) {
  with.metrics.log_dropped.set(static_cast<double>(telemetry::dropped_log_lines()));
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
          .body = with.metrics.exposition()};
}

net::Response operate(const Operations& with, const net::Request& request) {
  if (request.path == "/metrics") return exposition(with);
  if (request.path == "/readyz") return readiness(with);
  if (request.path == "/healthz") return alive();
  return not_found(kOperationsPaths);
}

}  // namespace

net::Service admission_service(Dependencies dependencies) {
  auto with = std::make_shared<const Dependencies>(dependencies);
  with->metrics.handler_exceptions.add_amount(0, "validate");  // rate() needs a first value
  return {.refuse = refuse_review,
          .answer = [with](const net::Request& request) { return answer_review(*with, request); }};
}

net::Service operations_service(telemetry::Metrics& metrics, Readiness not_ready_because) {
  auto with = std::make_shared<const Operations>(metrics, std::move(not_ready_because));
  return {.refuse = refuse_operations, .answer = [with](const net::Request& request) {
            return guarded(with->metrics, "operations", [&] { return operate(*with, request); });
          }};
}

}  // namespace xila::webhook
