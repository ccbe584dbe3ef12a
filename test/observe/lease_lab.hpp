#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "elector.hpp"

// Replicas that agree by one lease, with an API server in memory, on the test's own thread.
namespace xila::observe {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

inline kube::ApiError status_error(int status) {
  return {.what = kube::ApiFailure::status,
          .status = status,
          .message = "the API server answered " + std::to_string(status)};
}

// An API server that has one Lease and takes nobody's word for an older version of it.
class LeaseServer {
 public:
  struct Write {
    codec::Lease lease;
    Steady at;
  };

  kube::ApiResult<std::string> answer(const kube::ApiRequest& request) {
    const std::string folder = "/apis/coordination.k8s.io/v1/namespaces/guard/leases";
    if (request.target != (request.method == "POST" ? folder : folder + "/observe")) {
      return std::unexpected(status_error(404));
    }
    if (request.method == "GET" && lease) return codec::encode_lease(*lease);
    if (request.method == "POST" && lease) return std::unexpected(status_error(409));
    if (request.method != "POST" && !lease) return std::unexpected(status_error(404));
    // What is to be created has no version yet, and the decoder wants one.
    std::string body = request.body;
    const std::string metadata = "\"metadata\":{";
    if (!lease) body.insert(body.find(metadata) + metadata.size(), R"("resourceVersion":"0",)");
    codec::Lease next = codec::decode_lease(body).value();
    if (lease && next.resource_version != lease->resource_version) {
      return std::unexpected(status_error(409));
    }
    write(std::move(next));
    return codec::encode_lease(*lease);
  }

  // Somebody else writes it.
  void write(codec::Lease next) {
    next.resource_version = std::to_string(++version_);
    writes.push_back({next, Clock::now()});
    lease = std::move(next);
  }
  void give_to(const std::string& holder, std::chrono::seconds duration) {
    codec::Lease next = lease.value_or(codec::Lease{.name = "observe", .space = "guard"});
    next.holder = holder;
    next.duration = duration;
    write(std::move(next));
  }

  std::optional<codec::Lease> lease;
  std::vector<Write> writes;

 private:
  int version_ = 0;
};

// One replica's way to the server.
class LeaseClient final : public kube::Transport {
 public:
  enum class Line : std::uint8_t {
    up,
    held,  // requests wait on their way
    deaf,  // they arrive, and the answers wait
  };

  LeaseClient(boost::asio::any_io_executor executor, LeaseServer& server)
      : executor_(std::move(executor)), server_(server) {}

  boost::asio::awaitable<kube::ApiResult<std::string>> send(kube::ApiRequest request,
                                                            net::Deadline deadline) override {
    sent.push_back(request.method);
    co_await boost::asio::post(executor_, boost::asio::use_awaitable);
    if (refusal) co_return std::unexpected(*refusal);
    if (to_lose > 0) {
      --to_lose;
      boost::asio::steady_timer timer(executor_, deadline);
      co_await timer.async_wait(boost::asio::use_awaitable);
      co_return std::unexpected(timed_out());
    }
    co_await wait_while(Line::held, deadline);
    if (is_closed_ || Clock::now() >= deadline) co_return std::unexpected(timed_out());
    kube::ApiResult<std::string> answer = server_.answer(request);
    co_await wait_while(Line::deaf, deadline);
    if (is_closed_ || Clock::now() >= deadline) co_return std::unexpected(timed_out());
    co_return answer;
  }
  boost::asio::awaitable<kube::ApiResult<std::unique_ptr<kube::LineStream>>> open(
      kube::ApiRequest, net::Deadline) override {
    co_return std::unexpected(timed_out());
  }
  void close() override {
    is_closed_ = true;
    wake();
  }

  void put(Line line) {
    line_ = line;
    wake();
  }
  // Requests that are on their way, or whose answers are.
  std::size_t waiting() const { return waiting_.size(); }
  std::ptrdiff_t count(const std::string& method) const { return std::ranges::count(sent, method); }

  std::optional<kube::ApiError> refusal;  // of every request
  int to_lose = 0;                        // requests that nobody will answer
  std::vector<std::string> sent;          // methods

 private:
  static kube::ApiError timed_out() {
    return {.what = kube::ApiFailure::timeout, .message = "no answer in time"};
  }
  boost::asio::awaitable<void> wait_while(Line line, net::Deadline deadline) {
    boost::system::error_code ignored;
    auto into_error = boost::asio::redirect_error(boost::asio::use_awaitable, ignored);
    boost::asio::steady_timer timer(executor_);
    waiting_.push_back(&timer);
    while (line_ == line && !is_closed_ && Clock::now() < deadline) {
      timer.expires_at(deadline);
      co_await timer.async_wait(into_error);
    }
    std::erase(waiting_, &timer);
  }
  void wake() {
    for (boost::asio::steady_timer* timer : waiting_) timer->cancel();
  }

  boost::asio::any_io_executor executor_;
  LeaseServer& server_;
  Line line_ = Line::up;
  bool is_closed_ = false;
  std::vector<boost::asio::steady_timer*> waiting_;  // in the order in which they were sent
};

// Renewed often, and given up late enough for a busy machine.
inline LeaseOptions quick() {
  return {.space = "guard",
          .name = "observe",
          .duration = 600ms,  // the lease says a whole second
          .renew_deadline = 400ms,
          .retry = 10ms};
}

// Renewed when it is nudged, and given up by nobody while a test lasts.
inline LeaseOptions rarely_renewed() {
  LeaseOptions options = quick();
  options.duration = 1h;
  options.renew_deadline = 50min;
  options.retry = 40min;
  return options;
}

struct Replica {
  Replica(boost::asio::io_context& io, LeaseServer& server, const std::string& identity,
          const LeaseOptions& options)
      : client(io.get_executor(), server),
        elector(io.get_executor(), client, metrics, options, identity, listener()) {}

  Elector::Listener listener() {
    return {.saw_leader = [this] { ++leaders_seen; },
            .lead =
                [this](const std::optional<codec::Lease>& lease) {
                  ++leads;
                  before = lease;
                },
            .lost = [this] { ++losses; },
            .reported = [this] { return reported; },
            .may_lead = [this] { return may_lead; }};
  }
  bool is_leading() const { return elector.is_leading(Clock::now()); }
  double failures(const char* reason) const { return metrics.lease_failures.value(reason); }

  LeaseClient client;
  telemetry::Metrics metrics;
  int leads = 0;
  int losses = 0;
  int leaders_seen = 0;
  std::optional<codec::Lease> before;  // as it was when this replica last began to lead
  std::string reported;
  bool may_lead = true;
  Elector elector;
};

class LeaseLab {
 public:
  ~LeaseLab() {
    for (const auto& replica : replicas_) {
      replica->elector.stop();
      replica->client.close();
    }
    work_.reset();
    io.run();
  }

  Replica& start(const std::string& identity, const LeaseOptions& options = quick()) {
    replicas_.push_back(std::make_unique<Replica>(io, server, identity, options));
    Replica& replica = *replicas_.back();
    boost::asio::co_spawn(io, replica.elector.run(), rethrow);
    return replica;
  }
  // As a process does that ends in order.
  void end(Replica& replica) {
    replica.elector.stop();
    boost::asio::co_spawn(io, replica.elector.release(), rethrow);
  }

  // Runs them until something holds; false when the time is up first. Whatever happens, two never
  // lead at once.
  bool until(const std::function<bool()>& holds, std::chrono::milliseconds patience = 20s) {
    const Steady end = Clock::now() + patience;
    while (!holds()) {
      if (Clock::now() > end) return false;
      io.run_one_for(5ms);
      const Steady now = Clock::now();
      const auto leading = std::ranges::count_if(
          replicas_, [&](const auto& replica) { return replica->elector.is_leading(now); });
      EXPECT_LE(leading, 1) << "two lead at once";
    }
    return true;
  }

  boost::asio::io_context io{1};
  LeaseServer server;

 private:
  static void rethrow(std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  }

  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io.get_executor()};
  std::vector<std::unique_ptr<Replica>> replicas_;
};

}  // namespace xila::observe
