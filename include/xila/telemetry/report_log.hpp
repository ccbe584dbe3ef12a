#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "xila/base/result.hpp"
#include "xila/telemetry/metrics.hpp"

namespace xila::telemetry {

// Writes what observe found as JSONL, as AuditLog writes decisions: on a thread of its own, from a
// bounded queue, so that a full disk never holds the watches up. For one thread.
class ReportLog {
 public:
  // `path` "-" is stdout. Error: the file cannot be opened.
  static base::Result<std::unique_ptr<ReportLog>> open(const std::filesystem::path& path,
                                                       Metrics& metrics,
                                                       std::size_t queue_length = 16'384);
  ~ReportLog();  // writes out what is queued

  // One line, without its end.
  void write(std::string line);
  // Lines that are neither in the file nor lost yet.
  std::size_t waiting() const;
  // Opens the path again, as log rotation wants after a rename (SIGHUP).
  void reopen();

 private:
  struct State;
  explicit ReportLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace xila::telemetry
