#include "validate.hpp"

#include <chrono>
#include <utility>

#include "deadline.hpp"
#include "report.hpp"
#include "tenant_lookup.hpp"
#include "xila/codec/admission_review.hpp"
#include "xila/policy/decide.hpp"
#include "xila/telemetry/log.hpp"

namespace xila::webhook {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

static_assert(net::kBodyPadding >= codec::kPadding);

// Only a server that takes requests before it has read its files gets here.
net::Response no_rulebook() {
  return {.status = 503, .body = "no profiles and policy are loaded yet\n"};
}

// Without a uid there is no AdmissionReview to answer with.
net::Response undecodable(const net::Request& request, const base::Error& error) {
  telemetry::debug("undecodable", {{"peer", request.peer.address},
                                   {"path", request.path},
                                   {"bytes", request.body.size()},
                                   {"error", error.message}});
  return {.status = 400, .body = error.message + "\n"};
}

// The decision becomes an answer, a count, a log line and a line of the audit log.
net::Response report(const Dependencies& with, const policy::Rulebook& rulebook,
                     const net::Request& request, policy::Review review, policy::Decision decision,
                     steady_clock::time_point begin) {
  std::string message = policy::message(decision, review.subject);
  net::Response response{.content_type = "application/json",
                         .body = codec::encode_response(review, decision, message)};
  const std::chrono::duration<double> took = steady_clock::now() - begin;

  count(review, decision, rulebook, took, with.metrics);
  log_decision(review, decision, message, request.peer.address);
  if (with.audit != nullptr) {
    with.audit->record({.review = std::move(review),
                        .decision = std::move(decision),
                        .message = std::move(message),
                        .peer = request.peer.address,
                        .client_verified = request.peer.client_verified,
                        .duration_seconds = took.count()});
  }
  return response;
}

}  // namespace

asio::awaitable<net::Response> validate(const Dependencies& with, std::string_view profile,
                                        const net::Request& request) {
  const auto begin = steady_clock::now();
  const std::shared_ptr<const policy::Rulebook> rulebook = with.rulebook.load();
  if (!rulebook) co_return no_rulebook();

  base::Result<policy::Review> review = codec::decode_review(codec::padded(request.body));
  if (!review) co_return undecodable(request, review.error());

  policy::TenantResolution tenant;
  if (policy::needs_tenant(*review)) {
    const std::string& space = review->subject.space;
    std::optional<policy::TenantResolution> known = known_tenant(with.tenants, space, *rulebook);
    if (known) {
      tenant = std::move(*known);
    } else {
      const auto time = time_for_answer(request.query, with.request_timeout);
      const Deadlines until = deadlines(begin, time);
      tenant = co_await look_up_tenant(with.tenants, space, rulebook, until);
    }
  }
  policy::Decision decision = policy::decide(*review, profile, tenant, *rulebook);
  co_return report(with, *rulebook, request, std::move(*review), std::move(decision), begin);
}

}  // namespace xila::webhook
