#include <map>
#include <string>
#include <vector>

#include "check_report.hpp"
#include "xila/base/text.hpp"

// JUnit's XML as Jenkins, GitLab and GitHub's reporters read it: a file is a suite, a Pod a case,
// its denial a failure, and what could not be read an error.
namespace xila::cli {
namespace {

// For an attribute or for text. XML has no way to write a control character, so they are escaped as
// elsewhere; the two codes at the end of the plane are no characters at all.
std::string escape(const std::string& text) {
  std::string xml;
  const std::string visible = base::escape_control(text);
  for (std::size_t i = 0; i < visible.size(); ++i) {
    const std::string_view rest = std::string_view(visible).substr(i);
    if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      xml += "\xEF\xBF\xBD";
      i += 2;
      continue;
    }
    switch (visible[i]) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '"':
        xml += "&quot;";
        break;
      default:
        xml += visible[i];
    }
  }
  return xml;
}

std::string attribute(const char* name, const std::string& value) {
  return " " + std::string(name) + "=\"" + escape(value) + "\"";
}

struct Suite {
  std::string cases;
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
};

std::string violation_lines(const Judged& judged) {
  std::string lines;
  for (const policy::Violation& violation : judged.decision.violations) {
    const yaml::Mark mark = judged.pod.locate(violation.field);
    lines +=
        escape(judged.pod.file + ":" + std::to_string(mark.line) + ":" +
               std::to_string(mark.column) + ": [" + violation.check + "] " + violation.message) +
        "\n";
  }
  return lines;
}

void add(Suite& suite, const Judged& judged) {
  const policy::Subject& subject = judged.pod.review.subject;
  ++suite.tests;
  suite.cases += "    <testcase" + attribute("name", "Pod " + subject.space + "/" + subject.name) +
                 attribute("classname", judged.pod.file) + attribute("file", judged.pod.file) +
                 attribute("line", std::to_string(judged.pod.mark.line)) + " time=\"0\"";
  if (judged.decision.violations.empty()) {
    suite.cases += "/>\n";
    return;
  }
  suite.cases += ">\n";
  const std::string checks = policy::check_ids(judged.decision);
  if (is_denied(judged)) {
    ++suite.failures;
    suite.cases += "      <failure" + attribute("message", checks) +
                   attribute("type", std::string(policy::to_text(judged.decision.outcome))) + ">" +
                   violation_lines(judged) + "</failure>\n";
  } else {
    suite.cases += "      <system-out>" + violation_lines(judged) + "</system-out>\n";
  }
  suite.cases += "    </testcase>\n";
}

void add(Suite& suite, const manifest::Problem& problem) {
  ++suite.tests;
  ++suite.errors;
  suite.cases += "    <testcase name=\"read\"" + attribute("classname", problem.file) +
                 attribute("file", problem.file) + " time=\"0\">\n      <error" +
                 attribute("message", problem.message) + " type=\"unreadable\">" +
                 escape(to_text(problem)) + "</error>\n    </testcase>\n";
}

std::string numbers(const Suite& suite) {
  return attribute("tests", std::to_string(suite.tests)) +
         attribute("failures", std::to_string(suite.failures)) +
         attribute("errors", std::to_string(suite.errors)) + " time=\"0\"";
}

}  // namespace

std::string as_junit(const CheckReport& report) {
  std::map<std::string, Suite> suites;
  for (const Judged& judged : report.pods) add(suites[judged.pod.file], judged);
  for (const manifest::Problem& problem : report.problems) add(suites[problem.file], problem);

  Suite total;
  std::string body;
  for (const auto& [file, suite] : suites) {
    total.tests += suite.tests;
    total.failures += suite.failures;
    total.errors += suite.errors;
    body += "  <testsuite" + attribute("name", file) + numbers(suite) + ">\n" + suite.cases +
            "  </testsuite>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"xila-guard check\"" +
         numbers(total) + ">\n" + body + "</testsuites>\n";
}

}  // namespace xila::cli
