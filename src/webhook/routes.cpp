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

net::Response failed(telemetry::Metrics& metrics, std::string_view route, std::string_view error) {
  metrics.handler_exceptions.add(route);
  telemetry::error("handler_failed", {{"route", route}, {"error", error}});
  return {.status = 500, .body = "internal error, see the log of this server\n"};
}

// The one place where exceptions end: a program error costs its own request an answer, which
// denies.
asio::awaitable<net::Response> guarded(telemetry::Metrics& metrics, std::string_view route,
                                       asio::awaitable<net::Response> handler) {
  try {
    net::Response response = co_await std::move(handler);
    co_return response;
  } catch (const std::exception& error) {
    co_return failed(metrics, route, error.what());
  } catch (...) {
    co_return failed(metrics, route, "an exception that is no std::exception");
  }
}

asio::awaitable<net::Response> ready(net::Response response) {
  co_return response;
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

// Both functions below only make the coroutine: what it needs comes by parameter, never by capture.
asio::awaitable<net::Response> answer_review(const Dependencies& with,
                                             const net::Request& request) {
  const auto profile = profile_of(request.path);
  if (!profile) return ready(not_found("/validate and /validate/<profile>"));
  return guarded(with.metrics, "validate", validate(with, *profile, request));
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

asio::awaitable<net::Response> operate(const Operations& with, const net::Request& request) {
  if (request.path == "/metrics") co_return exposition(with);
  if (request.path == "/readyz") co_return readiness(with);
  if (request.path == "/healthz") co_return alive();
  co_return not_found(kOperationsPaths);
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
            return guarded(with->metrics, "operations", operate(*with, request));
          }};
}

}  // namespace xila::webhook
