#include "xila/telemetry/report_log.hpp"

#include <utility>

#include "line_file.hpp"

namespace xila::telemetry {
namespace {

struct ReportLine {
  std::string text;
};

std::size_t bytes_of(const ReportLine& line) {
  return line.text.size() + sizeof(ReportLine);
}

void append_line(std::string& out, const ReportLine& line) {
  out += line.text;
  out += '\n';
}

constexpr LineFileNames kNames{.thread = "xila-report",
                               .text = "report file",
                               .label = "report_file",
                               .dropped_event = "report_lines_dropped",
                               .reopened_event = "report_file_reopened",
                               .reopen_failed_event = "report_file_reopen_failed"};

}  // namespace

struct ReportLog::State {
  std::unique_ptr<LineFile<ReportLine>> file;
};

base::Result<std::unique_ptr<ReportLog>> ReportLog::open(const std::filesystem::path& path,
                                                         Metrics& metrics,
                                                         std::size_t queue_length) {
  auto file =
      LineFile<ReportLine>::open(path, kNames, metrics, metrics.report_dropped, queue_length);
  if (!file) return std::unexpected(file.error());
  return std::unique_ptr<ReportLog>(
      new ReportLog(std::unique_ptr<State>(new State{std::move(*file)})));
}

ReportLog::ReportLog(std::unique_ptr<State> state) : state_(std::move(state)) {}

ReportLog::~ReportLog() = default;

void ReportLog::write(std::string line) {
  state_->file->push({std::move(line)});
}

std::size_t ReportLog::waiting() const {
  return state_->file->waiting();
}

void ReportLog::reopen() {
  state_->file->reopen();
}

}  // namespace xila::telemetry
