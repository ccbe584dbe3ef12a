#include "tenant_lookup.hpp"

#include <exception>
#include <optional>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "xila/base/text.hpp"
#include "xila/policy/label_selector.hpp"

namespace xila::webhook {
namespace {

namespace asio = boost::asio;
using policy::TenantResolution;

// Held by the review that waits and by the look-up that it began, since either may outlive the
// other.
struct Question {
  Question(const asio::any_io_executor& executor, std::string s,
           std::shared_ptr<const policy::Rulebook> r)
      : space(std::move(s)), rulebook(std::move(r)), patience(executor) {}

  const std::string space;
  const std::shared_ptr<const policy::Rulebook> rulebook;
  asio::steady_timer patience;
  std::optional<TenantResolution> answer;
  std::exception_ptr thrown;

  bool is_over() const { return answer.has_value() || thrown; }
};

// Only tools without a cluster leave the tenant unjudged. Here that would let a Pod through.
TenantResolution judged(TenantResolution answer) {
  if (answer.kind != TenantResolution::Kind::not_judged) return answer;
  return TenantResolution::lookup_failed("the tenant source gave no answer");
}

}  // namespace

std::optional<TenantResolution> known_tenant(kube::TenantSource& tenants, const std::string& space,
                                             const policy::Rulebook& rulebook) {
  // Whoever can reach the server chooses the namespace, and a live look-up makes a URL of it.
  if (!policy::validate_dns_label(space)) {
    return TenantResolution::unresolved(base::quote(space, 64) + " is no namespace's name");
  }
  std::optional<TenantResolution> answer = tenants.known(space, rulebook);
  if (answer) answer = judged(std::move(*answer));
  return answer;
}

asio::awaitable<TenantResolution> look_up_tenant(kube::TenantSource& tenants, std::string space,
                                                 std::shared_ptr<const policy::Rulebook> rulebook,
                                                 Deadlines until) {
  const auto executor = co_await asio::this_coro::executor;
  const auto question = std::make_shared<Question>(executor, std::move(space), std::move(rulebook));
  const auto take_answer = [question](std::exception_ptr thrown, TenantResolution answer) {
    question->thrown = std::move(thrown);
    question->answer = judged(std::move(answer));
    question->patience.cancel();
  };
  question->patience.expires_at(until.give_up);
  asio::co_spawn(executor, tenants.resolve(question->space, *question->rulebook, until.look_up),
                 take_answer);

  boost::system::error_code ignored;
  auto into_ignored = asio::redirect_error(asio::use_awaitable, ignored);
  if (!question->is_over()) co_await question->patience.async_wait(into_ignored);

  if (question->thrown) std::rethrow_exception(question->thrown);
  if (question->answer) co_return std::move(*question->answer);
  co_return TenantResolution::lookup_failed("no answer in time");
}

}  // namespace xila::webhook
