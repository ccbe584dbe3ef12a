#include "xila/codec/admission_review.hpp"

#include <cassert>
#include <utility>

#include "json_reader.hpp"
#include "pod_reader.hpp"
#include "xila/base/text.hpp"

namespace xila::codec {
namespace {

static_assert(kPadding >= simdjson::SIMDJSON_PADDING);

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";
constexpr std::string_view kKind = "AdmissionReview";

base::Result<void> refuse_other_versions(const ObjectReader& root) {
  const std::string_view version = root.text("apiVersion");
  const std::string_view kind = root.text("kind");
  if (version == kApiVersion && kind == kKind) return {};
  return base::fail("apiVersion is " + base::quote(version) + " and kind is " + base::quote(kind) +
                    "; this server takes AdmissionReview of admission.k8s.io/v1");
}

policy::Operation read_operation(const ObjectReader& request) {
  const std::string_view text = request.required_text("operation");
  for (const policy::Operation operation :
       {policy::Operation::create, policy::Operation::update, policy::Operation::remove,
        policy::Operation::connect}) {
    if (text == policy::to_text(operation)) return operation;
  }
  if (!text.empty()) request.problem("operation", "is " + base::quote(text) + ", which is none");
  return policy::Operation::create;  // the operation of most checks; the problem denies in any case
}

// "pods", "pods/binding", "deployments.apps/scale". Pods of another version than v1 would be other
// Pods than these checks know, so their version shows ("pods.v2") and is no Pod to the decision.
std::string read_resource(const ObjectReader& request) {
  const ObjectReader reader = request.required_object("resource");
  if (!reader) return {};
  std::string resource(reader.required_text("resource"));
  const std::string_view version = reader.required_text("version");
  if (const std::string_view group = reader.text("group"); !group.empty()) {
    resource.append(".").append(group);
  } else if (!version.empty() && version != "v1") {
    resource.append(".").append(version);
  }
  if (const std::string_view part = request.text("subResource"); !part.empty()) {
    resource.append("/").append(part);
  }
  return resource;
}

policy::Subject read_subject(const ObjectReader& request) {
  policy::Subject subject{.operation = read_operation(request)};
  subject.space = request.text("namespace");
  subject.name = request.text("name");
  const ObjectReader user = request.object("userInfo");
  subject.user = user.text("username");
  subject.resource = read_resource(request);
  subject.dry_run = request.flag("dryRun");
  return subject;
}

// A binding or a scale is no Pod, and what is deleted is not judged: there the objects stay unread.
bool has_pods(const policy::Subject& subject) {
  const bool stores = subject.operation == policy::Operation::create ||
                      subject.operation == policy::Operation::update;
  return stores && (subject.resource == "pods" || subject.resource == "pods/ephemeralcontainers");
}

std::optional<policy::Pod> read_object(const ObjectReader& request, std::string_view key,
                                       Path root) {
  const ObjectReader object = request.required_object(key, root);
  if (!object) return std::nullopt;
  return read_pod(object).pod;
}

std::string name_of(const policy::Pod& pod) {
  if (!pod.name.empty() || pod.generate_name.empty()) return pod.name;
  return pod.generate_name + "*";
}

}  // namespace

PaddedView padded(const std::string& text) {
  assert(text.capacity() >= text.size() + kPadding);
  return {text};
}

base::Result<policy::Review> decode_review(PaddedView text) {
  DocumentParser parser;
  const base::Result<simdjson::dom::object> document = parser.parse(text.text, Padding::present);
  if (!document) return std::unexpected(document.error());

  Problems problems;
  const ObjectReader root(*document, Path(""), problems);
  if (const base::Result<void> version = refuse_other_versions(root); !version) {
    return std::unexpected(version.error());
  }
  const ObjectReader request = root.required_object("request");
  policy::Review review;
  if (request) review.uid = request.required_text("uid");
  if (!problems.empty()) return base::fail("no AdmissionReview to answer: " + problems.first());

  review.subject = read_subject(request);
  if (has_pods(review.subject)) {
    review.object = read_object(request, "object", Path(""));
    if (review.subject.operation == policy::Operation::update) {
      problems.begin_object();
      review.old_object = read_object(request, "oldObject", Path("oldObject"));
    }
    if (review.subject.name.empty() && review.object) review.subject.name = name_of(*review.object);
  }
  review.malformed = problems.take();
  return review;
}

}  // namespace xila::codec
