#include "serving.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>

#include "build_info.hpp"
#include "xila/base/duration.hpp"
#include "xila/base/text.hpp"

namespace xila::cli {

namespace {

constexpr unsigned kMostThreads = 16;

// cgroup v2: "200000 100000" is two CPUs, "max 100000" no limit.
std::optional<double> cgroup_cpus() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period) || period <= 0) return std::nullopt;
  return quota / period;
}

}  // namespace

base::Result<HostPort> host_port(const std::string& text) {
  const auto colon = text.rfind(':');
  HostPort result;
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, result.port);
    if (error == std::errc() && stop == end) {
      result.host = text.substr(0, colon);
      if (result.host.starts_with('[') && result.host.ends_with(']')) {
        result.host = result.host.substr(1, result.host.size() - 2);
      }
      return result;
    }
  }
  return base::fail(base::quote(text) + " is not HOST:PORT or :PORT");
}

CLI::Option* add_duration(CLI::App& app, const std::string& flag, std::chrono::milliseconds& value,
                          const std::string& description) {
  const auto read = [&value](const std::string& text) {
    const auto duration = base::parse_duration(text);
    if (!duration) throw CLI::ValidationError(duration.error().message);
    value = std::chrono::duration_cast<std::chrono::milliseconds>(*duration);
  };
  return app.add_option_function<std::string>(flag, read, description)
      ->type_name("DURATION")
      ->default_str(base::to_text(value));
}

void add_logging_options(CLI::App& app, LoggingOptions& options) {
  const char* group = "Logging";
  const auto read_format = [&options](const std::string& text) {
    const auto format = telemetry::log_format(text);
    if (!format) throw CLI::ValidationError("--log-format", format.error().message);
    options.format = *format;
  };
  const auto read_level = [&options](const std::string& text) {
    const auto level = telemetry::log_level(text);
    if (!level) throw CLI::ValidationError("--log-level", level.error().message);
    options.level = *level;
  };
  app.add_option_function<std::string>("--log-format", read_format,
                                       "Form of log lines: text or json")
      ->type_name("FORMAT")
      ->default_str("text")
      ->group(group);
  app.add_option_function<std::string>("-v,--log-level", read_level,
                                       "Least level logged: debug, info, warn or error")
      ->type_name("LEVEL")
      ->default_str("info")
      ->group(group);
}

void add_operations_options(CLI::App& app, OperationsOptions& options) {
  const char* group = "Operations";
  app.add_option("--metrics-bind-address", options.address,
                 "Plain HTTP for /metrics, /healthz and /readyz; 0: none")
      ->type_name("HOST:PORT")
      ->group(group);
  add_duration(
      app, "--shutdown-delay", options.shutdown_delay,
      "After SIGTERM, time to go on serving while the endpoint is taken out of the Service")
      ->group(group);
}

Operations::Operations(const OperationsOptions& options, telemetry::Metrics& metrics,
                       webhook::Readiness not_ready_because)
    : address_(options.address),
      service_(webhook::operations_service(metrics, std::move(not_ready_because))),
      metrics_(metrics) {}

base::Result<std::uint16_t> Operations::start() {
  if (address_ == "0") return std::uint16_t{0};
  auto where = host_port(address_);
  if (!where) return std::unexpected(where.error());
  net::Limits limits;
  limits.body_bytes = 4096;
  limits.connections = std::min<std::size_t>(128, raise_descriptor_limit() / 4);
  server_ = std::make_unique<net::Server>(
      net::ServerOptions{
          .listener = "operations", .address = where->host, .port = where->port, .limits = limits},
      service_, metrics_);
  return server_->start();
}

void Operations::stop() {
  if (server_) server_->stop(std::chrono::milliseconds(100));
}

void give_back_memory() {
  malloc_trim(0);
}

std::size_t raise_descriptor_limit() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);  // refused, the old one stays
  getrlimit(RLIMIT_NOFILE, &files);
  return files.rlim_cur;
}

unsigned available_cpus() {
  const unsigned allowed =
      std::max(1u, std::thread::hardware_concurrency());  // counts the affinity mask
  const double quota = std::ceil(std::max(1.0, cgroup_cpus().value_or(allowed)));
  return static_cast<unsigned>(
      std::min({static_cast<double>(allowed), quota, static_cast<double>(kMostThreads)}));
}

void publish_build_info(telemetry::Metrics& metrics) {
  const BuildInfo& build = build_info();
  std::string openssl;
  for (const Library& library : build.libraries) {
    if (std::string_view(library.name) == "OpenSSL") openssl = library.version;
  }
  metrics.build_info.set(1, build.version, build.commit, build.compiler, openssl);
}

}  // namespace xila::cli
