#include <string>

#include <nlohmann/json.hpp>

#include "check_report.hpp"

namespace xila::cli {
namespace {

using Json = nlohmann::ordered_json;

Json with_mark(Json object, yaml::Mark mark) {
  if (mark.line > 0) object["line"] = mark.line;
  if (mark.column > 0) object["column"] = mark.column;
  return object;
}

Json to_json(const Judged& judged) {
  const manifest::FoundPod& pod = judged.pod;
  Json object = with_mark({{"file", pod.file}}, pod.mark);
  object["object"] = {{"kind", pod.kind}, {"name", pod.name}};
  object["namespace"] = pod.review.subject.space;
  object["pod"] = pod.review.subject.name;
  object["operation"] = policy::to_text(pod.review.subject.operation);
  object["profile"] = judged.decision.profile;
  object["mode"] = policy::to_text(judged.decision.mode);
  object["tenant"] = judged.decision.tenant;
  object["tenantJudged"] = judged.tenant_judged;
  object["outcome"] = policy::to_text(judged.decision.outcome);
  object["violations"] = Json::array();
  for (const policy::Violation& violation : judged.decision.violations) {
    object["violations"].push_back(with_mark(
        {{"check", violation.check}, {"field", violation.field}, {"message", violation.message}},
        pod.locate(violation.field)));
  }
  return object;
}

}  // namespace

std::string as_json(const CheckReport& report) {
  const Counts counts = count(report);
  Json root{{"schemaVersion", 1}, {"pods", Json::array()}, {"problems", Json::array()}};
  for (const Judged& judged : report.pods) root["pods"].push_back(to_json(judged));
  for (const manifest::Problem& problem : report.problems) {
    Json object = with_mark({{"file", problem.file}}, problem.mark);
    object["message"] = problem.message;
    root["problems"].push_back(std::move(object));
  }
  root["summary"] = {{"files", report.files},        {"pods", report.pods.size()},
                     {"admitted", counts.admitted},  {"warned", counts.warned},
                     {"denied", counts.denied},      {"tenantNotJudged", counts.tenant_not_judged},
                     {"exitCode", exit_code(report)}};
  // A file's name may be no UTF-8.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace xila::cli
