#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "xila/base/result.hpp"
#include "xila/net/tls.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::cli {

// The certificate that is served and the files behind it. A new pair is checked before it is
// served; while it is unusable the last good one stays.
class LiveCertificate {
 public:
  // `metrics` outlives it.
  LiveCertificate(net::TlsFiles files, telemetry::Metrics& metrics);

  // Reads the files for the first time. Error: they cannot be served. An expired certificate can:
  // readiness says so, and its successor is taken over when it comes.
  base::Result<net::TlsIdentity> load();

  // Reads the files again and hands a new, valid pair to `use`. Called on one thread only.
  void reload(const std::function<void(net::TlsIdentity)>& use);

  // Why no client will accept what is served. Thread-safe.
  std::optional<std::string> not_ready_because() const;

  const net::TlsFiles& files() const { return files_; }

 private:
  void took_over(const net::TlsIdentity& identity, net::TlsMaterial material);
  void refuse(const std::string& problem);

  net::TlsFiles files_;
  telemetry::Metrics& metrics_;
  net::TlsMaterial served_;
  std::string last_problem_;  // one log line per new problem
  std::atomic<std::chrono::system_clock::time_point> not_after_{};
};

}  // namespace xila::cli
