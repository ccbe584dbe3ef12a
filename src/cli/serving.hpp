#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "xila/base/result.hpp"
#include "xila/net/http.hpp"
#include "xila/net/server.hpp"
#include "xila/telemetry/log.hpp"
#include "xila/telemetry/metrics.hpp"
#include "xila/webhook/routes.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace xila::cli {

// What the long-running commands have in common.

// Files are read again at least this often, should an event be lost.
inline constexpr std::chrono::milliseconds kReloadPeriod{5'000};

struct HostPort {
  std::string host;  // "" = all addresses
  std::uint16_t port = 0;
};

// "127.0.0.1:8080", "[::1]:8080" or ":8080".
base::Result<HostPort> host_port(const std::string& text);

// A flag that takes a duration as "10s" or "1m30s".
CLI::Option* add_duration(CLI::App& app, const std::string& flag, std::chrono::milliseconds& value,
                          const std::string& description);

struct LoggingOptions {
  telemetry::LogFormat format = telemetry::LogFormat::text;
  telemetry::LogLevel level = telemetry::LogLevel::info;
};

void add_logging_options(CLI::App& app, LoggingOptions& options);

// Logging for as long as it lives; what is queued is written at its end.
class Logging {
 public:
  explicit Logging(const LoggingOptions& options) {
    telemetry::start_logging(options.format, options.level);
  }
  ~Logging() { telemetry::stop_logging(); }
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;
};

struct OperationsOptions {
  std::string address = ":8080";  // HOST:PORT, ":PORT", or "0" for none
  std::chrono::milliseconds shutdown_delay{5'000};
};

void add_operations_options(CLI::App& app, OperationsOptions& options);

// The plain HTTP listener for /healthz, /readyz and /metrics, on a thread of its own, so that a
// probe is answered while every other thread is busy.
class Operations {
 public:
  // `metrics` outlives it.
  Operations(const OperationsOptions& options, telemetry::Metrics& metrics,
             webhook::Readiness not_ready_because);

  // Returns the port; 0 without a listener. Error: the address.
  base::Result<std::uint16_t> start();
  void stop();

 private:
  std::string address_;
  net::Service service_;
  telemetry::Metrics& metrics_;
  std::unique_ptr<net::Server> server_;
};

// Gives the memory that only starting took back to the system: a server idles for most of its life.
void give_back_memory();

// Lets the process open as many files as its hard limit says, as Go programs do by themselves: the
// soft one is often 1024. Returns how many.
std::size_t raise_descriptor_limit();

// CPUs that this process may use: its affinity and its cgroup's quota, rounded up; at most 16.
unsigned available_cpus();

void publish_build_info(telemetry::Metrics& metrics);

}  // namespace xila::cli
