#include "xila/telemetry/audit.hpp"

#include <chrono>
#include <utility>

#include "audit_line.hpp"
#include "line_file.hpp"

namespace xila::telemetry {
namespace {

constexpr LineFileNames kNames{.thread = "xila-audit",
                               .text = "audit log",
                               .label = "audit_log",
                               .dropped_event = "audit_lines_dropped",
                               .reopened_event = "audit_log_reopened",
                               .reopen_failed_event = "audit_log_reopen_failed"};

}  // namespace

struct AuditLog::State {
  std::unique_ptr<LineFile<AuditEntry>> file;
};

base::Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::filesystem::path& path,
                                                       Metrics& metrics, std::size_t queue_length) {
  auto file =
      LineFile<AuditEntry>::open(path, kNames, metrics, metrics.audit_dropped, queue_length);
  if (!file) return std::unexpected(file.error());
  return std::unique_ptr<AuditLog>(
      new AuditLog(std::unique_ptr<State>(new State{std::move(*file)})));
}

AuditLog::AuditLog(std::unique_ptr<State> state) : state_(std::move(state)) {}

AuditLog::~AuditLog() = default;

void AuditLog::record(AuditRecord record) {
  state_->file->push(to_entry(std::move(record), std::chrono::system_clock::now()));
}

void AuditLog::reopen() {
  state_->file->reopen();
}

}  // namespace xila::telemetry
