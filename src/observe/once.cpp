#include "xila/observe/once.hpp"

#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "engine.hpp"
#include "feed.hpp"
#include "xila/kube/list_watch.hpp"

namespace xila::observe {

namespace asio = boost::asio;
using asio::awaitable;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kTries = 3;
constexpr std::chrono::seconds kPause{1};

// One kind to be read: what to ask for, and where it goes.
struct Reading {
  kube::WatchOptions options;
  std::unique_ptr<kube::WatchSink> sink;
};

bool may_pass(const kube::ApiError& error) {
  if (error.what != kube::ApiFailure::status) return error.what != kube::ApiFailure::tls;
  return error.status == 410 || error.status == 429 || error.status >= 500;
}

// A continue token is base64url without padding, which needs no escape in a query.
std::string target_of(const kube::WatchOptions& options, const std::string& next) {
  std::string target = options.path + "?";
  if (!options.selector.empty()) target += options.selector + "&";
  target += "limit=" + std::to_string(options.page_size);
  if (!next.empty()) target += "&continue=" + next;
  return target;
}

class Surveyor {
 public:
  Surveyor(asio::any_io_executor executor, kube::Transport& transport,
           std::shared_ptr<const policy::Rulebook> rules, const OnceOptions& options)
      : timer_(std::move(executor)),
        transport_(transport),
        options_(options),
        engine_(std::move(rules), {.settle_after_bind = std::chrono::milliseconds(0),
                                   .settle_after_relabel = std::chrono::milliseconds(0),
                                   .all_reviewed = options.all_reviewed}),
        hooks_{[] { return Now{Clock::now(), std::chrono::system_clock::now()}; }, [] {}} {}

  awaitable<base::Result<Survey>> run() {
    // Namespaces first: without them no Pod is anybody's.
    Survey survey;
    std::optional<std::string> failure = co_await read_all(kSpaces, space_watch(), nullptr, survey);
    if (!failure) failure = co_await read_all(kPods, pod_watch(), nullptr, survey);
    if (!failure) failure = co_await read_all(kNodes, node_watch(), "placement rules", survey);
    if (!failure) failure = co_await read_all(kClaims, claim_watch(), "host-path-claim", survey);
    if (!failure) failure = co_await read_all(kVolumes, volume_watch(), "host-path-claim", survey);
    if (failure) co_return base::fail(*failure);

    const Now now = hooks_.begin();
    engine_.set_trust({.storage = is_storage_known_}, now);
    engine_.begin_judging();
    engine_.go_on(std::numeric_limits<std::size_t>::max(), now);
    survey.findings = engine_.findings(std::numeric_limits<std::size_t>::max(), "");
    const Engine::Sizes sizes = engine_.sizes();
    survey.pods = sizes.pods;
    survey.nodes = sizes.nodes;
    survey.spaces = sizes.spaces;
    co_return survey;
  }

 private:
  // The failure; nothing = it is read, or refused and can be done without.
  template <class T>
  awaitable<std::optional<std::string>> read_all(const Kind<T>& kind, kube::WatchOptions options,
                                                 const char* purpose, Survey& survey) {
    Reading reading{std::move(options), std::make_unique<Feed<T>>(engine_, kind, hooks_)};
    std::optional<kube::ApiError> error = co_await read_patiently(reading);
    if (!error) co_return std::nullopt;
    const bool is_refused = error->what == kube::ApiFailure::status && error->status == 403;
    if (!is_refused || purpose == nullptr) {
      co_return reading.options.resource + " cannot be listed: " + error->message;
    }
    if (std::string_view(purpose) == "host-path-claim") is_storage_known_ = false;
    survey.not_judged.push_back(std::string(purpose) + ": " + error->message);
    co_return std::nullopt;
  }

  awaitable<std::optional<kube::ApiError>> read_patiently(Reading& reading) {
    boost::system::error_code ignored;
    auto into_error = asio::redirect_error(asio::use_awaitable, ignored);
    for (int attempt = 1;; ++attempt) {
      std::optional<kube::ApiError> error = co_await read_list(reading);
      if (!error || !may_pass(*error) || attempt == kTries) co_return error;
      timer_.expires_after(kPause);
      co_await timer_.async_wait(into_error);
    }
  }

  awaitable<std::optional<kube::ApiError>> read_list(Reading& reading) {
    reading.sink->begin_list();
    std::string next;
    do {
      kube::ApiRequest request{.target = target_of(reading.options, next),
                               .accept = reading.options.list_accept};
      const net::Deadline deadline = Clock::now() + reading.options.page_timeout;
      const kube::ApiResult<std::string> answer =
          co_await transport_.send(std::move(request), deadline);
      if (!answer && answer.error().what == kube::ApiFailure::too_large &&
          reading.options.page_size > 1) {
        reading.options.page_size /= 2;
        continue;
      }
      if (!answer) co_return answer.error();
      base::Result<kube::WatchSink::PageHead> page = reading.sink->take_page(*answer);
      if (!page) {
        co_return kube::ApiError{.message = "the list cannot be read: " + page.error().message};
      }
      next = page->next;
      if (options_.progress) options_.progress(reading.options.resource, reading.sink->size());
    } while (!next.empty());
    reading.sink->commit_list();
    co_return std::nullopt;
  }

  asio::steady_timer timer_;
  kube::Transport& transport_;
  const OnceOptions& options_;
  Engine engine_;
  FeedHooks hooks_;
  bool is_storage_known_ = true;
};

}  // namespace

awaitable<base::Result<Survey>> survey(asio::any_io_executor executor, kube::Transport& transport,
                                       std::shared_ptr<const policy::Rulebook> rules,
                                       OnceOptions options) {
  Surveyor surveyor(std::move(executor), transport, std::move(rules), options);
  co_return co_await surveyor.run();
}

}  // namespace xila::observe
