#include "selftest_reviews.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "xila/base/text.hpp"

namespace xila::cli {
namespace {

using base::fail;
using base::Result;
using Json = nlohmann::json;

constexpr const char* kSomeNamespace = "xila-guard-selftest";
constexpr const char* kViolated[] = {"node-pin", "privileged", "host-namespace"};

Json pod(SelftestReview review, const SelftestSubject& subject, const std::string& space) {
  Json container = {{"name", "main"}, {"image", "selftest"}};
  Json spec = {{"containers", Json::array()}};
  if (!subject.scheduler.empty()) spec["schedulerName"] = subject.scheduler;
  if (review == SelftestReview::bad) {
    container["securityContext"] = {{"privileged", true}};
    spec["nodeName"] = "selftest";
    spec["hostNetwork"] = true;
  }
  spec["containers"].push_back(std::move(container));
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", "selftest"}, {"namespace", space}}},
          {"spec", std::move(spec)}};
}

// What is read of an answer.
struct Answer {
  bool allowed = false;
  std::string decision;
  std::set<std::string> checks;  // violated
  std::string message;
};

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::set<std::string> split(const std::string& ids) {
  std::set<std::string> parts;
  for (std::size_t begin = 0; begin < ids.size();) {
    const std::size_t end = std::min(ids.find(',', begin), ids.size());
    parts.insert(ids.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<Answer> read_answer(const std::string& uid, int status, const std::string& body) {
  if (status != 200) {
    return fail("HTTP " + std::to_string(status) + ": " + base::quote(base::trim(body)));
  }
  const Json review = Json::parse(body, nullptr, false);
  if (!review.is_object() || text_of(review, "kind") != "AdmissionReview" ||
      text_of(review, "apiVersion") != "admission.k8s.io/v1" || !review.contains("response") ||
      !review["response"].is_object()) {
    return fail("it is no AdmissionReview v1 with a response: " + base::quote(body));
  }
  const Json& response = review["response"];
  if (text_of(response, "uid") != uid) return fail("it has the uid of another review");
  const auto allowed = response.find("allowed");
  if (allowed == response.end() || !allowed->is_boolean()) return fail("it does not say allowed");

  Answer answer{.allowed = allowed->get<bool>()};
  if (const auto found = response.find("auditAnnotations");
      found != response.end() && found->is_object()) {
    answer.decision = text_of(*found, "decision");
    answer.checks = split(text_of(*found, "checks"));
  }
  if (const auto found = response.find("status"); found != response.end() && found->is_object()) {
    answer.message = text_of(*found, "message");
  }
  return answer;
}

std::string join(const std::set<std::string>& parts) {
  return base::join(std::vector<std::string>(parts.begin(), parts.end()), ", ");
}

Result<std::string> judge_good(const SelftestSubject& subject, const Answer& answer) {
  std::set<std::string> unexpected = answer.checks;
  std::set<std::string> unknown;
  const auto leave_to_chance = [&](const char* check) {
    if (unexpected.erase(check) > 0) unknown.insert(check);
  };
  if (subject.space.empty()) leave_to_chance("tenant");
  if (subject.scheduler.empty()) leave_to_chance("scheduler");
  if (!unexpected.empty()) return fail("it names " + join(unexpected) + ": " + answer.message);
  if (answer.allowed) return answer.decision.empty() ? "allowed" : answer.decision;
  if (unknown.empty()) return fail("denied: " + answer.message);
  return "denied for " + join(unknown) +
         " alone, which is right for this Pod: --namespace and --scheduler say what is allowed";
}

Result<std::string> judge_bad(const Answer& answer) {
  for (const char* check : kViolated) {
    if (!answer.checks.contains(check)) {
      return fail(std::string("it does not name ") + check + ": " +
                  (answer.allowed ? "allowed" : answer.message));
    }
  }
  if (!answer.allowed) return "denied for " + join(answer.checks);
  if (answer.decision == "warned" || answer.decision == "audited") {
    return answer.decision + " for " + join(answer.checks) + ": the profile's mode denies nothing";
  }
  return fail("allowed");
}

}  // namespace

std::string to_text(SelftestReview review) {
  switch (review) {
    case SelftestReview::good:
      return "good review";
    case SelftestReview::bad:
      return "bad review";
    case SelftestReview::removal:
      return "deletion";
  }
  return {};
}

std::string selftest_review(SelftestReview review, const SelftestSubject& subject,
                            const std::string& uid) {
  const std::string space = subject.space.empty() ? kSomeNamespace : subject.space;
  const bool is_removal = review == SelftestReview::removal;
  const Json object = pod(review, subject, space);
  const Json kind = {{"group", ""}, {"version", "v1"}, {"kind", "Pod"}};
  const Json resource = {{"group", ""}, {"version", "v1"}, {"resource", "pods"}};
  const Json request = {{"uid", uid},
                        {"kind", kind},
                        {"resource", resource},
                        {"requestKind", kind},
                        {"requestResource", resource},
                        {"name", "selftest"},
                        {"namespace", space},
                        {"operation", is_removal ? "DELETE" : "CREATE"},
                        {"userInfo", {{"username", "xila-guard-selftest"}}},
                        {"object", is_removal ? Json() : object},
                        {"oldObject", is_removal ? object : Json()},
                        {"dryRun", true}};
  const Json document = {
      {"kind", "AdmissionReview"}, {"apiVersion", "admission.k8s.io/v1"}, {"request", request}};
  return document.dump();
}

Result<std::string> judge_selftest(SelftestReview review, const SelftestSubject& subject,
                                   const std::string& uid, int status, const std::string& body) {
  const Result<Answer> answer = read_answer(uid, status, body);
  if (!answer) return std::unexpected(answer.error());
  switch (review) {
    case SelftestReview::good:
      return judge_good(subject, *answer);
    case SelftestReview::bad:
      return judge_bad(*answer);
    case SelftestReview::removal:
      if (!answer->allowed) return fail("denied: " + answer->message);
      return "allowed";
  }
  return fail("unknown review");
}

}  // namespace xila::cli
