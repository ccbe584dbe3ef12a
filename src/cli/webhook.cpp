#include <signal.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "commands.hpp"
#include "file_watch.hpp"
#include "live_certificate.hpp"
#include "live_rulebook.hpp"
#include "options.hpp"
#include "serving.hpp"
#include "tenants.hpp"
#include "xila/net/server.hpp"
#include "xila/telemetry/audit.hpp"
#include "xila/telemetry/log.hpp"
#include "xila/telemetry/metrics.hpp"
#include "xila/webhook/routes.hpp"

namespace xila::cli {

namespace asio = boost::asio;
namespace log = telemetry;
using std::chrono::milliseconds;

namespace {

struct WebhookOptions {
  config::Files files;
  net::TlsFiles tls;
  std::string bind_address;
  std::uint16_t secure_port = 8443;
  net::Limits limits;
  milliseconds request_timeout{10'000};
  unsigned threads = 0;
  std::string audit_log;
  TenantOptions tenants;
  OperationsOptions operations;
  LoggingOptions logging;
};

// A slip of the pen must not switch a limit off: CLI11 reads "-5" as a huge number.
CLI::Validator within(std::size_t least, std::size_t most) {
  CLI::Validator bounds = CLI::Range(least, most);
  bounds.description("");  // not into --help
  return bounds;
}

void add_options(CLI::App& app, WebhookOptions& options) {
  add_rulebook_options(app, options.files);

  const char* serving = "Serving";
  app.add_option("--bind-address", options.bind_address, "IP address to serve on; empty: all")
      ->type_name("IP")
      ->group(serving);
  app.add_option("--secure-port", options.secure_port, "HTTPS port; 0: any free one")
      ->type_name("PORT")
      ->group(serving);
  app.add_option("--tls-cert-file", options.tls.certificate,
                 "Certificate chain (PEM, leaf first), reloaded when it changes")
      ->type_name("FILE")
      ->required()
      ->group(serving);
  app.add_option("--tls-private-key-file", options.tls.private_key, "Its private key (PEM)")
      ->type_name("FILE")
      ->required()
      ->group(serving);
  app.add_option("--client-ca-file", options.tls.client_ca,
                 "Accept only clients with a certificate of these CAs (PEM)")
      ->type_name("FILE")
      ->group(serving);
  app.add_option("--threads", options.threads, "Threads that answer reviews; 0: one per CPU")
      ->type_name("N")
      ->check(within(0, 256))
      ->group(serving);

  const char* limits = "Limits";
  app.add_option("--max-request-bytes", options.limits.body_bytes, "Largest review")
      ->type_name("BYTES")
      ->check(within(1024, std::size_t{1} << 30))
      ->group(limits);
  app.add_option("--max-connections", options.limits.connections, "Most open connections")
      ->type_name("N")
      ->check(within(1, 1'000'000))
      ->group(limits);
  add_duration(app, "--request-timeout", options.request_timeout,
               "Upper bound on the API server's ?timeout=")
      ->group(limits);

  app.add_option("--audit-log", options.audit_log,
                 "Write every decision as JSONL to this file; -: stdout")
      ->type_name("FILE")
      ->group("Records");
  add_tenant_options(app, options.tenants);
  add_operations_options(app, options.operations);
  add_logging_options(app, options.logging);
}

// The process: everything it is made of, in the order in which it is built.
class Webhook {
 public:
  Webhook(const WebhookOptions& options, policy::Rulebook rulebook)
      : options_(options),
        rulebook_(options.files, std::move(rulebook), metrics_),
        certificate_(options.tls, metrics_) {}

  int run();

 private:
  bool open_audit_log();
  bool start_servers(net::TlsIdentity identity);
  void watch_files();
  void await_signals();
  void begin_shutdown(int signal);
  void finish();
  std::optional<std::string> not_ready_because() const;

  const WebhookOptions& options_;
  telemetry::Metrics metrics_;
  LiveRulebook rulebook_;
  LiveCertificate certificate_;
  std::unique_ptr<telemetry::AuditLog> audit_;
  Tenants tenants_;
  std::atomic<bool> shutting_down_{false};

  net::Service admission_;
  std::optional<net::Server> server_;
  std::optional<Operations> operations_;

  asio::io_context io_{1};
  asio::signal_set signals_{io_, SIGTERM, SIGINT, SIGHUP};
  asio::steady_timer shutdown_timer_{io_};
  std::optional<FileWatch> watch_;
};

int Webhook::run() {
  publish_build_info(metrics_);
  auto identity = certificate_.load();
  if (!identity) {
    std::fprintf(stderr, "xila-guard: %s\n", identity.error().message.c_str());
    return kExitFailed;
  }
  if (auto started = tenants_.start(options_.tenants, metrics_); !started) {
    std::fprintf(stderr, "xila-guard: %s\n", started.error().message.c_str());
    return kExitFailed;
  }
  if (!open_audit_log()) return kExitFailed;
  watch_files();  // before it serves: a change right after the start is seen at once
  if (!start_servers(std::move(*identity))) return kExitFailed;
  await_signals();
  io_.run();
  finish();
  return kExitOk;
}

bool Webhook::open_audit_log() {
  if (options_.audit_log.empty()) return true;
  auto opened = telemetry::AuditLog::open(options_.audit_log, metrics_);
  if (!opened) {
    std::fprintf(stderr, "xila-guard: --audit-log: %s\n", opened.error().message.c_str());
    return false;
  }
  audit_ = std::move(*opened);
  return true;
}

// The probes, the API server and the files need descriptors too.
net::Limits affordable(net::Limits limits) {
  constexpr std::size_t kOthers = 256;
  const std::size_t files = raise_descriptor_limit();
  const std::size_t most = files - std::min(files / 2, kOthers);
  if (limits.connections > most) {
    log::warn("fewer_connections", {{"asked_for", limits.connections},
                                    {"connections", most},
                                    {"reason", "the limit on open files"},
                                    {"open_files", files}});
    limits.connections = most;
  }
  return limits;
}

bool Webhook::start_servers(net::TlsIdentity identity) {
  admission_ = webhook::admission_service({.rulebook = rulebook_.current(),
                                           .tenants = tenants_.source(),
                                           .metrics = metrics_,
                                           .audit = audit_.get(),
                                           .request_timeout = options_.request_timeout});
  net::ServerOptions serving{.listener = "webhook",
                             .address = options_.bind_address,
                             .port = options_.secure_port,
                             .threads = options_.threads == 0 ? available_cpus() : options_.threads,
                             .tls = true,
                             .limits = affordable(options_.limits)};
  const unsigned threads = serving.threads;
  server_.emplace(std::move(serving), admission_, metrics_);
  server_->use(std::move(identity));
  const auto port = server_->start();
  if (!port) {
    std::fprintf(stderr, "xila-guard: --secure-port: %s\n", port.error().message.c_str());
    return false;
  }
  operations_.emplace(options_.operations, metrics_, [this] { return not_ready_because(); });
  const auto operations_port = operations_->start();
  if (!operations_port) {
    std::fprintf(stderr, "xila-guard: --metrics-bind-address: %s\n",
                 operations_port.error().message.c_str());
    return false;
  }
  log::info("serving",
            {{"port", *port}, {"operations_port", *operations_port}, {"threads", threads}});
  give_back_memory();
  return true;
}

std::optional<std::string> Webhook::not_ready_because() const {
  if (shutting_down_.load()) return "shutting down";
  if (auto reason = certificate_.not_ready_because()) return reason;
  return tenants_.not_ready_because();
}

void Webhook::watch_files() {
  std::vector<std::filesystem::path> files{options_.tls.certificate, options_.tls.private_key};
  for (const auto& file :
       {options_.tls.client_ca, options_.files.profiles, options_.files.policy}) {
    if (file) files.push_back(*file);
  }
  watch_.emplace(io_, files, kReloadPeriod, [this] {
    rulebook_.reload();
    certificate_.reload([this](net::TlsIdentity identity) { server_->use(std::move(identity)); });
  });
}

void Webhook::await_signals() {
  signals_.async_wait([this](boost::system::error_code error, int signal) {
    if (error) return;
    if (signal == SIGHUP) {
      if (audit_) audit_->reopen();
      rulebook_.reload();
    } else if (!shutting_down_.load()) {
      begin_shutdown(signal);
    } else {
      io_.stop();  // asked twice: no more waiting
      return;
    }
    await_signals();
  });
}

// The endpoint is taken out of the Service while new connections are still served: a review that is
// lost here would be a denied Pod at each rollout.
void Webhook::begin_shutdown(int signal) {
  shutting_down_.store(true);
  server_->drain();
  log::info("shutting_down",
            {{"signal", signal}, {"delay_ms", options_.operations.shutdown_delay.count()}});
  shutdown_timer_.expires_after(options_.operations.shutdown_delay);
  shutdown_timer_.async_wait([this](boost::system::error_code) { io_.stop(); });
}

void Webhook::finish() {
  watch_->stop();
  const std::size_t cut_off = server_->stop(options_.request_timeout + milliseconds(1000));
  tenants_.stop();
  operations_->stop();
  if (cut_off > 0) log::error("reviews_cut_off", {{"count", cut_off}});
  log::info("stopped");
}

}  // namespace

Run declare_webhook(CLI::App& app) {
  auto options = std::make_shared<WebhookOptions>();
  add_options(app, *options);
  return [options] {
    auto rulebook = load_or_explain(options->files);
    if (!rulebook) return kExitFailed;

    signal(SIGPIPE, SIG_IGN);  // a reader of the audit log that goes away is an error of write()
    const Logging logging(options->logging);
    return Webhook(*options, std::move(*rulebook)).run();
  };
}

}  // namespace xila::cli
