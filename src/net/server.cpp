#include "xila/net/server.hpp"

#include <atomic>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "connection.hpp"
#include "conversation.hpp"
#include "xila/base/current.hpp"
#include "xila/telemetry/log.hpp"

namespace xila::net {

namespace asio = boost::asio;
namespace log = telemetry;
using asio::awaitable;
using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::chrono::milliseconds kSweepEvery{500};
// A connection that came just before the end gets this long to send its request.
constexpr std::chrono::milliseconds kNewcomerGrace{1000};

// One thread with its io_context and its connections.
struct Worker {
  Connections connections;  // outlives the coroutines that `io` owns
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard{io.get_executor()};
  asio::steady_timer sweep_timer{io};
  std::thread thread;

  // Runs `task` on the worker's thread and waits for what it returns.
  template <class Task>
  auto ask(Task task) {
    std::packaged_task<decltype(task())()> packaged(std::move(task));
    auto answer = packaged.get_future();
    asio::post(io, std::move(packaged));
    return answer.get();
  }
};

// Puts a connection on its worker's list for as long as it lives, and counts it.
class Place {
 public:
  Place(Worker& worker, Connection& connection, Shared& shared)
      : worker_(worker), connection_(connection), shared_(shared) {
    worker_.connections.add(connection_);
    shared_.metrics.connections.add(1, shared_.listener);
  }
  ~Place() {
    worker_.connections.remove(connection_);
    shared_.metrics.connections.add(-1, shared_.listener);
    if (connection_.ended_by != nullptr) {
      shared_.metrics.dropped_connections.add(shared_.listener,
                                              std::string_view(connection_.ended_by));
    }
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  Worker& worker_;
  Connection& connection_;
  Shared& shared_;
};

Connection connection_on(tcp::socket& socket, std::chrono::seconds limit) {
  const SteadyTime now = std::chrono::steady_clock::now();
  return {.socket = &socket, .phase = Phase::handshake, .since = now, .deadline = now + limit};
}

std::string text_of(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const std::string host = endpoint.address().is_v6() ? "[" + address + "]" : address;
  return host + ":" + std::to_string(endpoint.port());
}

awaitable<void> serve_plain(tcp::socket socket, Worker& worker, Shared& shared, Peer peer) {
  PlainStream stream(std::move(socket));
  Connection connection = connection_on(stream.socket(), shared.limits.handshake);
  const Place place(worker, connection, shared);
  Conversation conversation(stream, connection, shared, std::move(peer));
  co_await conversation.run();
  error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
}

awaitable<void> serve_tls(tcp::socket socket, Worker& worker, Shared& shared, Peer peer,
                          std::shared_ptr<const TlsIdentity> identity) {
  TlsStream stream(std::move(socket), *identity->context->native_handle());
  Connection connection = connection_on(stream.socket(), shared.limits.handshake);
  const Place place(worker, connection, shared);

  const error_code error = co_await stream.handshake();
  if (error) {
    shared.metrics.dropped_connections.add(shared.listener, "handshake_failed");
    log::debug("tls_handshake_failed", {{"peer", peer.address}, {"reason", error.message()}});
    co_return;
  }
  peer.client_verified =
      identity->asks_for_client_certificate;  // else the handshake would have failed

  Conversation conversation(stream, connection, shared, std::move(peer));
  co_await conversation.run();
  if (connection.ended_by != nullptr) co_return;

  // Say goodbye, but wait for no answer longer than a moment.
  connection.phase = Phase::closing;
  connection.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  co_await stream.shutdown();
  if (connection.phase == Phase::closing) connection.ended_by = nullptr;  // the ordinary end
}

}  // namespace

struct Server::State {
  State(ServerOptions o, const Service& service, telemetry::Metrics& m)
      : options(std::move(o)), shared{options.listener,
                                      options.limits,
                                      service,
                                      m,
                                      BodyBudget(options.limits.total_body_bytes),
                                      {}} {
    for (unsigned i = 0; i < options.threads; ++i) workers.push_back(std::make_unique<Worker>());
  }

  base::Result<std::uint16_t> bind();
  void open_listener(const tcp::endpoint& endpoint, error_code& error);
  awaitable<void> accept_loop();
  awaitable<void> sweep_loop(Worker& worker);
  void admit(tcp::socket socket, Worker& worker);
  void close_listener();
  bool all_quiet(SteadyTime newcomers_until);

  ServerOptions options;
  Shared shared;
  base::Current<TlsIdentity> identity;
  std::vector<std::unique_ptr<Worker>> workers;
  std::optional<tcp::acceptor> acceptor;  // on the first worker
  std::size_t next_worker = 0;            // the first worker's thread only
  std::atomic<bool> stopping{false};
  bool running = false;
};

// "" means every address: dual-stack, or IPv4 where the machine has no IPv6.
base::Result<std::uint16_t> Server::State::bind() {
  error_code error;
  const std::string literal = options.address.empty() ? "::" : options.address;
  const auto address = asio::ip::make_address(literal, error);
  if (error) return base::fail("\"" + options.address + "\" is not an IP address");

  open_listener(tcp::endpoint(address, options.port), error);
  if (error == asio::error::address_family_not_supported && options.address.empty()) {
    open_listener(tcp::endpoint(tcp::v4(), options.port), error);
  }
  if (!error) return acceptor->local_endpoint().port();
  return base::fail("cannot listen on " + text_of({address, options.port}) + ": " +
                    error.message());
}

void Server::State::open_listener(const tcp::endpoint& endpoint, error_code& error) {
  acceptor.emplace(workers.front()->io);
  acceptor->open(endpoint.protocol(), error);
  if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
  if (!error && endpoint.address().is_v6()) acceptor->set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor->bind(endpoint, error);
  if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
}

// Runs until the listener is closed: a guard that stops accepting denies every Pod in the cluster.
awaitable<void> Server::State::accept_loop() {
  error_code error;
  auto into_error = asio::redirect_error(asio::use_awaitable, error);
  asio::steady_timer pause(workers.front()->io);
  SteadyTime last_logged{};

  while (!stopping.load()) {
    Worker& worker = *workers[next_worker++ % workers.size()];
    tcp::socket socket = co_await acceptor->async_accept(worker.io, into_error);
    if (!error) {
      admit(std::move(socket), worker);
      continue;
    }
    if (error == asio::error::operation_aborted) break;
    if (error == asio::error::connection_aborted) continue;  // the peer left the queue

    // Out of descriptors or memory: the queue keeps the peers, and places are made.
    shared.metrics.accept_failures.add(
        shared.listener, error == asio::error::no_descriptors ? "no_descriptors" : "other");
    for (auto& each : workers) {
      asio::post(each->io, [&connections = each->connections] {
        connections.evict_one(std::chrono::steady_clock::now());
      });
    }
    const SteadyTime now = std::chrono::steady_clock::now();
    if (now - last_logged > std::chrono::seconds(10)) {
      last_logged = now;
      log::error("accept_failed", {{"listener", shared.listener}, {"reason", error.message()}});
    }
    pause.expires_after(kAcceptPause);
    co_await pause.async_wait(into_error);
  }
}

void Server::State::admit(tcp::socket socket, Worker& worker) {
  error_code error;
  socket.set_option(tcp::no_delay(true), error);
  socket.set_option(asio::socket_base::keep_alive(true), error);
  socket.non_blocking(true, error);
  const tcp::endpoint endpoint = socket.remote_endpoint(error);
  shared.metrics.accepted_connections.add(shared.listener);

  Peer peer{.address = error ? "unknown" : text_of(endpoint)};
  auto begin = [this, &worker, socket = std::move(socket), peer = std::move(peer)]() mutable {
    const std::size_t share = (options.limits.connections + workers.size() - 1) / workers.size();
    if (worker.connections.size() >= share &&
        !worker.connections.evict_one(std::chrono::steady_clock::now())) {
      shared.metrics.dropped_connections.add(shared.listener, "all_busy");
      return;  // closes the socket
    }
    auto on_end = [this](std::exception_ptr thrown) {
      if (!thrown) return;
      shared.metrics.handler_exceptions.add("connection");
      log::error("connection_failed",
                 {{"listener", shared.listener}, {"reason", "an exception left the connection"}});
    };
    if (options.tls) {
      asio::co_spawn(worker.io,
                     serve_tls(std::move(socket), worker, shared, std::move(peer), identity.load()),
                     on_end);
    } else {
      asio::co_spawn(worker.io, serve_plain(std::move(socket), worker, shared, std::move(peer)),
                     on_end);
    }
  };
  asio::dispatch(worker.io, std::move(begin));
}

awaitable<void> Server::State::sweep_loop(Worker& worker) {
  error_code error;
  auto into_error = asio::redirect_error(asio::use_awaitable, error);
  while (!stopping.load()) {
    worker.sweep_timer.expires_after(kSweepEvery);
    co_await worker.sweep_timer.async_wait(into_error);
    worker.connections.sweep(std::chrono::steady_clock::now());
  }
}

// Closing a listener resets what waits in its queue, so empty that first.
void Server::State::close_listener() {
  error_code error;
  acceptor->cancel(error);
  acceptor->non_blocking(true, error);
  for (;;) {
    Worker& worker = *workers[next_worker++ % workers.size()];
    tcp::socket socket(worker.io);
    acceptor->accept(socket, error);
    if (error) break;
    admit(std::move(socket), worker);
  }
  acceptor->close(error);
}

// Closes what idles; true once nothing is at work.
bool Server::State::all_quiet(SteadyTime newcomers_until) {
  const Patience patience = std::chrono::steady_clock::now() < newcomers_until
                                ? Patience::with_newcomers
                                : Patience::with_work_only;
  std::size_t working = 0;
  for (auto& worker : workers) {
    working +=
        worker->ask([&worker, patience] { return worker->connections.close_idle(patience); });
  }
  return working == 0;
}

Server::Server(ServerOptions options, const Service& service, telemetry::Metrics& metrics)
    : state_(std::make_unique<State>(std::move(options), service, metrics)) {}

Server::~Server() {
  stop(std::chrono::milliseconds(0));
}

void Server::use(TlsIdentity identity) {
  state_->identity.store(std::make_shared<const TlsIdentity>(std::move(identity)));
}

base::Result<std::uint16_t> Server::start() {
  auto port = state_->bind();
  if (!port) return port;
  asio::co_spawn(state_->workers.front()->io, state_->accept_loop(), asio::detached);
  for (auto& worker : state_->workers) {
    asio::co_spawn(worker->io, state_->sweep_loop(*worker), asio::detached);
    worker->thread = std::thread([&io = worker->io] { io.run(); });
  }
  state_->running = true;
  return port;
}

void Server::drain() {
  state_->shared.draining.store(true);
}

std::size_t Server::stop(std::chrono::milliseconds patience) {
  if (!std::exchange(state_->running, false)) return 0;
  drain();
  state_->stopping.store(true);
  state_->workers.front()->ask([this] {
    state_->close_listener();
    return 0;
  });

  const SteadyTime start = std::chrono::steady_clock::now();
  const SteadyTime newcomers_until = start + std::min(patience, kNewcomerGrace);
  while (!state_->all_quiet(newcomers_until) &&
         std::chrono::steady_clock::now() - start < patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::size_t cut_off = 0;
  for (auto& worker : state_->workers) {
    cut_off += worker->ask([&worker] {
      worker->sweep_timer.cancel();
      return worker->connections.close_all();
    });
    worker->guard.reset();
  }
  for (auto& worker : state_->workers) worker->thread.join();
  return cut_off;
}

}  // namespace xila::net
