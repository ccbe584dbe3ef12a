#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "xila/base/result.hpp"
#include "xila/policy/decide.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::telemetry {

// One decision as it goes into the audit log; its schema is docs/audit-log.md.
struct AuditRecord {
  policy::Review review;  // moved in: the request path no longer needs it
  policy::Decision decision;
  std::string message;
  std::string peer;
  bool client_verified = false;
  double duration_seconds = 0;
};

// Writes decisions as JSONL on a thread of its own. The queue is bounded; what does not fit is
// dropped and counted, so that a full disk never holds a review up. Thread-safe.
class AuditLog {
 public:
  // `path` "-" is stdout. Error: the file cannot be opened.
  static base::Result<std::unique_ptr<AuditLog>> open(const std::filesystem::path& path,
                                                      Metrics& metrics,
                                                      std::size_t queue_length = 8192);
  ~AuditLog();  // writes out what is queued
  void record(AuditRecord record);
  // Opens the path again, as log rotation wants after a rename (SIGHUP). Failure is logged and
  // counted, the old file stays.
  void reopen();

 private:
  struct State;
  explicit AuditLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace xila::telemetry
