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

// A review on its way to an answer.
struct Work {
  const Dependencies& with;
  std::string_view profile;
  const net::Request& request;
  steady_clock::time_point begin;
  std::shared_ptr<const policy::Rulebook> rulebook;
  policy::Review review;
};

// The decision becomes an answer, a count, a log line and a line of the audit log.
net::Response judge(Work work, const policy::TenantResolution& tenant) {
  const Dependencies& with = work.with;
  const policy::Review& review = work.review;
  policy::Decision decision = policy::decide(review, work.profile, tenant, *work.rulebook);
  std::string message = policy::message(decision, review.subject);
  net::Response response{.content_type = "application/json",
                         .body = codec::encode_response(review, decision, message)};
  const std::chrono::duration<double> took = steady_clock::now() - work.begin;

  const net::Peer& peer = work.request.peer;
  count(review, decision, *work.rulebook, took, with.metrics);
  log_decision(review, decision, message, peer.address);
  if (with.audit != nullptr) {
    with.audit->record({.review = std::move(work.review),
                        .decision = std::move(decision),
                        .message = std::move(message),
                        .peer = peer.address,
                        .client_verified = peer.client_verified,
                        .duration_seconds = took.count()});
  }
  return response;
}

// The one wait on the way.
asio::awaitable<net::Response> look_up_and_judge(Work work) {
  const auto time = time_for_answer(work.request.query, work.with.request_timeout);
  const Deadlines until = deadlines(work.begin, time);
  const policy::TenantResolution tenant =
      co_await look_up_tenant(work.with.tenants, work.review.subject.space, work.rulebook, until);
  co_return judge(std::move(work), tenant);
}

}  // namespace

net::Answer validate(const Dependencies& with, std::string_view profile,
                     const net::Request& request) {
  Work work{.with = with, .profile = profile, .request = request, .begin = steady_clock::now()};
  work.rulebook = with.rulebook.load();
  if (!work.rulebook) return no_rulebook();

  base::Result<policy::Review> review = codec::decode_review(codec::PaddedView{request.body});
  if (!review) return undecodable(request, review.error());
  work.review = std::move(*review);

  if (!policy::needs_tenant(work.review)) return judge(std::move(work), {});
  const std::string& space = work.review.subject.space;
  const auto tenant = known_tenant(with.tenants, space, *work.rulebook);
  if (tenant) return judge(std::move(work), *tenant);
  return look_up_and_judge(std::move(work));
}

}  // namespace xila::webhook
