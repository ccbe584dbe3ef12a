#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "xila/base/text.hpp"
#include "xila/codec/admission_review.hpp"

namespace xila::codec {
namespace {

// Keys stay in the order in which they are written, so that an answer reads like one of Kubernetes'
// own.
using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxCauses = 100;

// The API server drops a warning that holds a control character, and cuts each to 256 characters
// and loses the last ones once they are more than 4096 together. Source:
// apiserver/pkg/endpoints/filters/warning.go, v1.34.
constexpr std::size_t kMaxWarningBytes = 240;
constexpr std::size_t kMaxWarningsBytes = 4000;

// An annotation is a word or a list of ids; a profile's name is as long as the request's path.
constexpr std::size_t kMaxAnnotationBytes = 512;

// With room for its fields: without, each growth would copy the keys before, which is felt on every
// review.
Json object_of(std::size_t fields) {
  Json::object_t object;
  object.reserve(fields);
  return object;
}

Json causes_of(const policy::Decision& decision) {
  Json causes = Json::array();
  for (const policy::Violation& violation : decision.violations) {
    if (causes.size() == kMaxCauses) break;  // the message counts what it leaves out
    Json cause = object_of(3);
    cause["reason"] = violation.check;
    if (!violation.field.empty()) cause["field"] = violation.field;
    cause["message"] = violation.message;
    causes.push_back(std::move(cause));
  }
  return causes;
}

// Code and reason tell kubectl how to print the message. Invalid would make it print the causes
// instead, and without a code the API server would answer 400 to all of them.
Json status_of(const policy::Decision& decision, std::string_view message) {
  const bool is_malformed = decision.outcome == policy::Outcome::malformed;
  if (message.empty()) message = "no decision was made, and what is not decided is denied";
  Json status = object_of(4);
  status["code"] = is_malformed ? 400 : 403;
  status["reason"] = is_malformed ? "BadRequest" : "Forbidden";
  status["message"] = message;
  if (Json causes = causes_of(decision); !causes.empty())
    status["details"]["causes"] = std::move(causes);
  return status;
}

std::string warning_of(const policy::Violation& violation) {
  std::string text = base::escape_control("[" + violation.check + "] " + violation.message);
  if (text.size() <= kMaxWarningBytes) return text;
  return std::string(base::prefix_at_character(text, kMaxWarningBytes - 3)) + "...";
}

// Bytes bound characters, of which there are never more.
Json warnings_of(const policy::Decision& decision) {
  Json warnings = Json::array();
  std::size_t bytes = 0;
  for (const policy::Violation& violation : decision.violations) {
    std::string text = warning_of(violation);
    bytes += text.size();
    if (bytes > kMaxWarningsBytes) {
      warnings.push_back(std::to_string(decision.violations.size() - warnings.size()) +
                         " more violations");
      break;
    }
    warnings.push_back(std::move(text));
  }
  return warnings;
}

std::string bounded(std::string_view text) {
  return std::string(base::prefix_at_character(text, kMaxAnnotationBytes));
}

}  // namespace

std::string encode_response(const policy::Review& review, const policy::Decision& decision) {
  return encode_response(review, decision, policy::message(decision, review.subject));
}

std::string encode_response(const policy::Review& review, const policy::Decision& decision,
                            std::string_view message) {
  const bool is_allowed = policy::is_allowed(decision.outcome);
  Json response = object_of(4);
  response["uid"] = review.uid;
  response["allowed"] = is_allowed;
  if (!is_allowed) response["status"] = status_of(decision, message);
  if (decision.outcome == policy::Outcome::warned) response["warnings"] = warnings_of(decision);
  Json& annotations = response["auditAnnotations"] = object_of(4);
  annotations["decision"] = policy::to_text(decision.outcome);
  annotations["profile"] = bounded(decision.profile);
  annotations["tenant"] = bounded(decision.tenant);
  annotations["checks"] = bounded(policy::check_ids(decision));
  // The frame is the same each time.
  std::string text = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":)";
  text += response.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text += '}';
}

}  // namespace xila::codec
