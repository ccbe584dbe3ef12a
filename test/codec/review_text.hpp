#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xila/codec/admission_review.hpp"
#include "xila/codec/pod.hpp"

// Texts for the decoder, and what it said of them in a form that a table can hold.
namespace xila::codec {

// Field and message of each violation; all must be `malformed`, or the check's id shows.
using Findings = std::vector<std::pair<std::string, std::string>>;

inline Findings findings(const policy::Violations& violations) {
  Findings found;
  for (const policy::Violation& violation : violations) {
    const bool is_malformed = violation.check == policy::kMalformed && violation.part.empty();
    found.emplace_back((is_malformed ? "" : violation.check + ": ") + violation.field,
                       violation.message);
  }
  return found;
}

inline base::Result<policy::Review> decode(std::string text) {
  text.reserve(text.size() + kPadding);
  return decode_review(padded(text));
}

// A Pod whose spec has these fields besides one container.
inline std::string pod_with(std::string_view fields) {
  return R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"main"}],)" +
         std::string(fields) + "}}";
}

// A Pod of one container with these fields.
inline std::string container_with(std::string_view fields) {
  return R"({"metadata":{"name":"p"},"spec":{"containers":[{)" + std::string(fields) + "}]}}";
}

inline constexpr std::string_view kGoodPod =
    R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"main"}]}})";

// An AdmissionReview whose request has a uid and these fields.
inline std::string review_with(std::string_view fields) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1",)" +
         std::string(fields) + "}}";
}

inline constexpr std::string_view kPods =
    R"("resource":{"group":"","version":"v1","resource":"pods"})";

// The CREATE of `object` in namespace team-a.
inline std::string create_of(std::string_view object) {
  return review_with(R"("operation":"CREATE","namespace":"team-a",)" + std::string(kPods) +
                     R"(,"object":)" + std::string(object));
}

}  // namespace xila::codec
