// Whatever the bytes: an answer that can be read, and no allowance that a second reading of the
// same bytes, by another parser and by hand, finds a boundary crossed in.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "xila/codec/admission_review.hpp"
#include "xila/policy/decide.hpp"

namespace {

using namespace xila;
using nlohmann::json;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

policy::Rulebook rulebook() {
  policy::Rulebook rules;
  rules.profiles.push_back(
      {.name = "batch", .scheduler_name = "batch", .workload_selectors = {{{{.key = "job"}}}}});
  rules.accepted_schedulers = {"batch"};
  rules.trusted_daemon_set_service_accounts = {"gpu/plugin"};
  return rules;
}

// What stands at a key of an object, or null.
const json& at(const json& value, const char* key) {
  static const json none;
  const auto found = value.is_object() ? value.find(key) : value.end();
  return value.is_object() && found != value.end() ? *found : none;
}

bool is_any_privileged(const json& spec) {
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
    for (const json& container : at(spec, list)) {
      const json& security = at(container, "securityContext");
      if (at(security, "privileged") == true) return true;
      if (at(at(security, "windowsOptions"), "hostProcess") == true) return true;
    }
  }
  return false;
}

// Of an allowed CREATE of a Pod by nobody special.
void require_within_boundary(const json& spec) {
  require(at(spec, "schedulerName") == "batch", "scheduler is accepted");
  const json& node = at(spec, "nodeName");
  require(node.is_null() || node == "", "no node is pinned");
  for (const char* key : {"hostNetwork", "hostPID", "hostIPC"}) {
    require(at(spec, key).is_null() || at(spec, key) == false, "no host namespace");
  }
  require(!is_any_privileged(spec), "no privileged container");
  for (const json& volume : at(spec, "volumes"))
    require(at(volume, "hostPath").is_null(), "no path of the node");
  require(at(spec, "containers").is_array() && !at(spec, "containers").empty(),
          "there are containers");
}

void require_readable(const policy::Review& review, const policy::Decision& decision) {
  const json answer = json::parse(codec::encode_response(review, decision), nullptr, false);
  require(!answer.is_discarded(), "the answer parses");
  const json& response = at(answer, "response");
  require(at(response, "uid") == review.uid, "the uid is echoed");
  const bool is_allowed = policy::is_allowed(decision.outcome);
  require(at(response, "allowed") == is_allowed, "the answer says what was decided");
  require(at(response, "status").is_null() == is_allowed,
          "a denial has a status, an allowance none");
  require(at(response, "patch").is_null(), "no patch");
  if (is_allowed) return;
  const std::string message = at(at(response, "status"), "message");
  require(!message.empty() && message.size() <= policy::kMaxMessageBytes, "the message is bounded");
  for (const char byte : message)
    require(static_cast<unsigned char>(byte) >= 0x20, "no control character");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const policy::Rulebook rules = rulebook();
  std::string text(reinterpret_cast<const char*>(data), size);
  text.reserve(size + codec::kPadding);
  const base::Result<policy::Review> review = codec::decode_review(codec::padded(text));
  if (!review) {
    require(!review.error().message.empty(), "a refusal says why");
    require(review.error().message.find('\n') == std::string::npos, "in one line");
    return 0;
  }
  const auto tenant = policy::TenantResolution::resolved("team-a");
  const policy::Decision decision = policy::decide(*review, "batch", tenant, rules);
  require_readable(*review, decision);

  const json document = json::parse(text, nullptr, false);
  require(!document.is_discarded(), "another parser reads it too");
  const json& request = at(document, "request");
  require(at(request, "uid") == review->uid, "another parser reads the same uid");
  if (!policy::is_allowed(decision.outcome)) return 0;
  require(at(request, "operation") == policy::to_text(review->subject.operation),
          "the operation is the one written");
  if (decision.outcome == policy::Outcome::exempt || at(request, "operation") != "CREATE") return 0;
  require(at(at(request, "resource"), "resource") == "pods", "only Pods are allowed");
  require_within_boundary(at(at(request, "object"), "spec"));
  return 0;
}
