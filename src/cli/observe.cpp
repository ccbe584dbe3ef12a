#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "commands.hpp"
#include "file_watch.hpp"
#include "live_rulebook.hpp"
#include "observe_once.hpp"
#include "observe_options.hpp"
#include "options.hpp"
#include "serving.hpp"
#include "tenants.hpp"
#include "xila/base/text.hpp"
#include "xila/net/server.hpp"
#include "xila/observe/controller.hpp"
#include "xila/telemetry/log.hpp"
#include "xila/telemetry/metrics.hpp"
#include "xila/telemetry/report_log.hpp"

namespace xila::cli {

namespace asio = boost::asio;
namespace log = telemetry;

namespace {

// After SIGTERM: for the watches to end and the lease to be given back.
constexpr std::chrono::seconds kPatience{5};

bool fail(const char* flag, const std::string& why) {
  std::fprintf(stderr, "xila-guard: %s: %s\n", flag, why.c_str());
  return false;
}

// The process: everything it is made of, in the order in which it is built.
class Observe {
 public:
  Observe(const ObserveOptions& options, policy::Rulebook rulebook)
      : options_(options), rulebook_(options.files, std::move(rulebook), metrics_) {}

  int run(const kube::MakeTransport& make_transport);

 private:
  bool start_controller(const kube::MakeTransport& make_transport);
  bool start_servers();
  void watch_files();
  void await_signals();
  void reload();
  void shut_down(int signal);

  const ObserveOptions& options_;
  telemetry::Metrics metrics_;
  LiveRulebook rulebook_;
  std::unique_ptr<telemetry::ReportLog> report_;
  std::atomic<bool> shutting_down_{false};

  // What runs on it ends before it: see shut_down().
  asio::io_context io_{1};
  std::unique_ptr<kube::Transport> transport_;
  std::optional<observe::Controller> controller_;
  net::Service findings_;
  std::optional<net::Server> findings_server_;
  std::optional<Operations> operations_;
  asio::signal_set signals_{io_, SIGTERM, SIGINT, SIGHUP};
  asio::steady_timer patience_{io_};
  std::optional<FileWatch> watch_;
};

int Observe::run(const kube::MakeTransport& make_transport) {
  publish_build_info(metrics_);
  if (!start_controller(make_transport) || !start_servers()) return kExitFailed;
  watch_files();
  await_signals();
  controller_->start();
  io_.run();
  if (findings_server_) findings_server_->stop(std::chrono::milliseconds(100));
  operations_->stop();
  log::info("stopped");
  return kExitOk;
}

bool Observe::start_controller(const kube::MakeTransport& make_transport) {
  auto report = telemetry::ReportLog::open(options_.report_file, metrics_);
  if (!report) return fail("--report-file", report.error().message);
  report_ = std::move(*report);
  auto transport = make_transport(io_.get_executor());
  if (!transport) return fail("--kubeconfig", transport.error().message);
  transport_ = std::move(*transport);
  controller_.emplace(io_.get_executor(), *transport_, metrics_, *report_,
                      rulebook_.current().load(), controller_options(options_));
  return true;
}

bool Observe::start_servers() {
  std::uint16_t findings_port = 0;
  if (options_.findings_address != "0") {
    const auto address = host_port(options_.findings_address);
    if (!address) return fail("--findings-bind-address", address.error().message);
    findings_ = observe::findings_service(*controller_);
    net::Limits limits;
    limits.body_bytes = 4096;
    limits.connections = 16;
    findings_server_.emplace(net::ServerOptions{.listener = "findings",
                                                .address = address->host,
                                                .port = address->port,
                                                .limits = limits},
                             findings_, metrics_);
    const auto port = findings_server_->start();
    if (!port) return fail("--findings-bind-address", port.error().message);
    findings_port = *port;
  }
  operations_.emplace(options_.operations, metrics_, [this]() -> std::optional<std::string> {
    if (shutting_down_.load()) return "shutting down";
    return controller_->not_ready_because();
  });
  const auto port = operations_->start();
  if (!port) return fail("--metrics-bind-address", port.error().message);
  log::info("observing", {{"operations_port", *port}, {"findings_port", findings_port}});
  return true;
}

void Observe::watch_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& file : {options_.files.profiles, options_.files.policy}) {
    if (file) files.push_back(*file);
  }
  watch_.emplace(io_, files, kReloadPeriod, [this] { reload(); });
}

void Observe::reload() {
  const auto before = rulebook_.current().load();
  rulebook_.reload();
  auto now = rulebook_.current().load();
  if (now != before) controller_->use(std::move(now));
}

void Observe::await_signals() {
  signals_.async_wait([this](boost::system::error_code error, int signal) {
    if (error) return;
    await_signals();  // first: the end may come at once
    if (signal == SIGHUP) {
      report_->reopen();
      reload();
    } else if (!shutting_down_.load()) {
      shut_down(signal);
    } else {
      io_.stop();  // asked twice: no more waiting
    }
  });
}

// Ends what waits, so that the event loop runs dry; if something does not end, it is left.
void Observe::shut_down(int signal) {
  shutting_down_.store(true);
  log::info("shutting_down", {{"signal", signal}});
  watch_->stop();
  patience_.expires_after(kPatience);
  patience_.async_wait([this](boost::system::error_code error) {
    if (!error) io_.stop();
  });
  controller_->stop([this] {
    patience_.cancel();
    signals_.cancel();
  });
}

}  // namespace

Run declare_observe(CLI::App& app) {
  auto options = std::make_shared<ObserveOptions>();
  add_observe_options(app, *options);
  return [options] {
    if (const auto problem = problem_of(*options)) {
      std::fprintf(stderr, "xila-guard: %s\n", problem->c_str());
      return kExitUsage;
    }
    auto rulebook = load_or_explain(options->files);
    if (!rulebook) return options->once ? kExitUsage : kExitFailed;
    auto cluster = find_cluster(options->kubeconfig);
    if (cluster && !*cluster) {
      cluster = base::fail("there is no cluster: give --kubeconfig, or run in a Pod");
    }
    if (!cluster) {
      fail("--kubeconfig", cluster.error().message);
      return options->once ? kExitUsage : kExitFailed;
    }
    if (options->once) return observe_once(*options, std::move(*rulebook), **cluster);

    signal(SIGPIPE, SIG_IGN);  // a reader of the report that goes away is an error of write()
    const Logging logging(options->logging);
    return Observe(*options, std::move(*rulebook)).run(**cluster);
  };
}

}  // namespace xila::cli
