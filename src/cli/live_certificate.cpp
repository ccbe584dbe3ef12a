#include "live_certificate.hpp"

#include <ctime>
#include <utility>

#include "unix_time.hpp"
#include "xila/telemetry/log.hpp"

namespace xila::cli {

namespace log = telemetry;
using std::chrono::system_clock;

namespace {

constexpr const char* kWhat = "certificate";

std::string rfc3339(system_clock::time_point time) {
  const std::time_t seconds = system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[sizeof "2026-12-01T00:00:00Z" + 16];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts));
}

}  // namespace

LiveCertificate::LiveCertificate(net::TlsFiles files, telemetry::Metrics& metrics)
    : files_(std::move(files)), metrics_(metrics) {}

base::Result<net::TlsIdentity> LiveCertificate::load() {
  auto material = net::read_tls_files(files_);
  if (!material) return std::unexpected(material.error());
  auto identity = net::make_tls_identity(*material);
  if (!identity) {
    return base::fail(files_.certificate.string() + ", " + files_.private_key.string() + ": " +
                      identity.error().message);
  }
  took_over(*identity, std::move(*material));
  if (const auto reason = not_ready_because())
    log::error("certificate_expired", {{"reason", *reason}});
  return identity;
}

void LiveCertificate::took_over(const net::TlsIdentity& identity, net::TlsMaterial material) {
  served_ = std::move(material);
  last_problem_.clear();
  not_after_.store(identity.not_after);
  metrics_.certificate_not_after.set(unix_time(identity.not_after));
  metrics_.reload_successful.set(1, kWhat);
  metrics_.reload_success_time.set(unix_time(system_clock::now()), kWhat);
  log::info("certificate_loaded",
            {{"subject", identity.subject}, {"not_after", rfc3339(identity.not_after)}});
}

void LiveCertificate::refuse(const std::string& problem) {
  if (problem == last_problem_) return;
  last_problem_ = problem;
  metrics_.reload_successful.set(0, kWhat);
  metrics_.reloads.add(kWhat, "refused");
  log::error("certificate_refused", {{"problem", problem}, {"served", "the last good pair"}});
}

void LiveCertificate::reload(const std::function<void(net::TlsIdentity)>& use) {
  auto material = net::read_tls_files(files_);
  if (!material) return refuse(material.error().message);
  if (*material == served_) {
    // Back to what is served, after a pair that was not good.
    if (!std::exchange(last_problem_, {}).empty()) metrics_.reload_successful.set(1, kWhat);
    return;
  }
  auto identity = net::make_tls_identity(*material);
  if (!identity) return refuse(identity.error().message);
  const auto now = system_clock::now();
  if (identity->not_after <= now)
    return refuse("certificate: it expired at " + rfc3339(identity->not_after));
  if (identity->not_before > now)
    return refuse("certificate: it is not valid before " + rfc3339(identity->not_before));

  use(*identity);  // before it is said: who reads the line or the metric relies on it
  took_over(*identity, std::move(*material));
  metrics_.reloads.add(kWhat, "taken_over");
}

std::optional<std::string> LiveCertificate::not_ready_because() const {
  const auto not_after = not_after_.load();
  if (not_after > system_clock::now()) return std::nullopt;
  return "the served certificate expired at " + rfc3339(not_after);
}

}  // namespace xila::cli
