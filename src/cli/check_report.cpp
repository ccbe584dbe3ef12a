#include "check_report.hpp"

#include "options.hpp"
#include "xila/base/text.hpp"

namespace xila::cli {
namespace {

std::string place(const std::string& file, yaml::Mark mark) {
  std::string text = base::escape_control(file);
  if (mark.line > 0) text += ":" + std::to_string(mark.line);
  if (mark.line > 0 && mark.column > 0) text += ":" + std::to_string(mark.column);
  return text;
}

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// One line for each violation, so that an editor can jump to each.
void append_violations(std::string& text, const Judged& judged) {
  const policy::Subject& subject = judged.pod.review.subject;
  const policy::Decision& decision = judged.decision;
  for (const policy::Violation& violation : decision.violations) {
    text += place(judged.pod.file, judged.pod.locate(violation.field)) + ": " +
            (is_denied(judged) ? "denied" : "warning") + " Pod " +
            base::escape_control(subject.space + "/" + subject.name) + ": [" + violation.check +
            "] " + violation.message;
    if (!is_denied(judged)) {
      text += " (profile " + base::escape_control(decision.profile) + " is in mode " +
              std::string(policy::to_text(decision.mode)) + ")";
    }
    text += "\n";
  }
}

std::string summary(const CheckReport& report) {
  const Counts counts = count(report);
  std::string text = plural(report.files, "file") + ", " + plural(report.pods.size(), "Pod") +
                     ": " + std::to_string(counts.admitted) + " admitted, " +
                     std::to_string(counts.warned) + " with warnings, " +
                     std::to_string(counts.denied) + " denied";
  if (!report.problems.empty()) {
    text += "; " + plural(report.problems.size(), "problem") + " kept something from being read";
  }
  text += "\n";
  if (counts.tenant_not_judged > 0) {
    text += "The tenant of " + plural(counts.tenant_not_judged, "Pod") +
            " was not judged: give --tenant, or a policy that names the namespace.\n";
  }
  if (report.accepts_no_scheduler && !report.pods.empty()) {
    text += "No scheduler is accepted: give --profiles or --external-schedulers.\n";
  }
  return text;
}

}  // namespace

bool is_denied(const Judged& judged) {
  return !policy::is_allowed(judged.decision.outcome);
}

Counts count(const CheckReport& report) {
  Counts counts;
  for (const Judged& judged : report.pods) {
    if (is_denied(judged)) {
      ++counts.denied;
    } else if (!judged.decision.violations.empty()) {
      ++counts.warned;
    } else {
      ++counts.admitted;
    }
    if (!judged.tenant_judged) ++counts.tenant_not_judged;
  }
  return counts;
}

int exit_code(const CheckReport& report) {
  if (!report.problems.empty()) return kExitUsage;
  return count(report).denied > 0 ? kExitFailed : kExitOk;
}

std::string to_text(const manifest::Problem& problem) {
  return place(problem.file, problem.mark) + ": " + base::escape_control(problem.message);
}

std::string as_text(const CheckReport& report) {
  std::string text;
  for (const Judged& judged : report.pods) append_violations(text, judged);
  return text + summary(report);
}

}  // namespace xila::cli
