#pragma once

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace xila::webhook {

// Is a review harmless, by the words of the boundary and nothing of the product's own code? Written
// for the rulebook of webhook/served.hpp. It answers true only where no check could be violated; a
// field that a check reads and that is not what Kubernetes makes it is not harmless.
class Oracle {
 public:
  using Json = nlohmann::json;

  static bool is_harmless(const std::string& body) {
    bool repeats_a_key = false;
    std::vector<std::set<std::string>> open;
    const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
      if (event == Json::parse_event_t::object_start) open.emplace_back();
      if (event == Json::parse_event_t::object_end) open.pop_back();
      if (event == Json::parse_event_t::key) {
        repeats_a_key |= !open.back().insert(parsed.get<std::string>()).second;
      }
      return true;
    };
    const Json review = Json::parse(body, watch, false);
    if (!review.is_object() || repeats_a_key) return false;
    if (at(review, "kind") != "AdmissionReview") return false;
    if (at(review, "apiVersion") != "admission.k8s.io/v1") return false;
    const Json& request = at(review, "request");
    return request.is_object() && is_harmless_request(request);
  }

 private:
  using Violations = std::set<std::string>;

  static const Json& at(const Json& object, const char* key) {
    static const Json null;
    const auto member = object.is_object() ? object.find(key) : object.end();
    return member == object.end() ? null : *member;
  }

  static bool is_harmless_request(const Json& request) {
    if (!at(request, "uid").is_string() || at(request, "uid") == "") return false;
    const Json& operation = at(request, "operation");
    if (operation == "DELETE" || operation == "CONNECT") return true;
    const Json& resource = at(request, "resource");
    const Json& part = at(request, "subResource");
    const bool is_ephemeral = part == "ephemeralcontainers";
    if (!is_empty(at(resource, "group")) || at(resource, "version") != "v1") return false;
    if (at(resource, "resource") != "pods" || !(is_empty(part) || is_ephemeral)) return false;

    if (operation == "CREATE") {
      if (at(request, "namespace") != "team-a") return false;  // the only tenant
      const Json& spec = at(at(request, "object"), "spec");
      if (!is_empty(at(spec, "nodeName")) || at(spec, "schedulerName") != "volcano") return false;
      return violations_of(at(request, "object")).empty();
    }
    if (operation != "UPDATE") return false;
    const Violations before = violations_of(at(request, "oldObject"));
    const Violations after = violations_of(at(request, "object"));
    if (before.contains(kBroken) || !std::ranges::includes(before, after)) return false;
    const bool drops_label =
        has_job_label(at(request, "oldObject")) && !has_job_label(at(request, "object"));
    return is_ephemeral || !drops_label;
  }

  static bool is_empty(const Json& text) { return text.is_null() || text == ""; }

  static bool has_job_label(const Json& pod) {
    const Json& labels = at(at(pod, "metadata"), "labels");
    return labels.is_object() && labels.contains("volcano.sh/job-name");
  }

  // Adds `name` where the flag is true, kBroken where it is no flag.
  static void judge_flag(const Json& flag, const std::string& name, Violations& found) {
    if (flag.is_null() || flag == false) return;
    found.insert(flag == true ? name : kBroken);
  }

  static void judge_container(const Json& container, const std::string& list, bool host_process,
                              Violations& found) {
    const Json& name = at(container, "name");
    const Json& context = at(container, "securityContext");
    const Json& windows = at(context, "windowsOptions");
    if (!container.is_object() || !(name.is_string() || name.is_null()) ||
        !is_object_or_null(context) || !is_object_or_null(windows)) {
      found.insert(kBroken);
      return;
    }
    const std::string place = list + "/" + name.dump();
    judge_flag(at(context, "privileged"), "privileged " + place, found);
    const Json& own = at(windows, "hostProcess");
    judge_flag(own.is_null() ? Json(host_process) : own, "hostProcess " + place, found);
  }

  static bool is_object_or_null(const Json& value) { return value.is_object() || value.is_null(); }

  static Violations violations_of(const Json& pod) {
    Violations found;
    const Json& spec = at(pod, "spec");
    const Json& metadata = at(pod, "metadata");
    const Json& context = at(spec, "securityContext");
    if (!spec.is_object() || !is_object_or_null(metadata) || !is_object_or_null(context) ||
        !is_object_or_null(at(metadata, "labels")) || at(spec, "containers").empty()) {
      return {kBroken};
    }
    for (const char* flag : {"hostNetwork", "hostPID", "hostIPC"})
      judge_flag(at(spec, flag), flag, found);

    const Json& host_process = at(at(context, "windowsOptions"), "hostProcess");
    if (!host_process.is_null() && !host_process.is_boolean()) return {kBroken};
    for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
      const Json& containers = at(spec, list);
      if (!containers.is_array() && !containers.is_null()) return {kBroken};
      for (const Json& one : containers) judge_container(one, list, host_process == true, found);
    }
    const Json& volumes = at(spec, "volumes");
    if (!volumes.is_array() && !volumes.is_null()) return {kBroken};
    for (const Json& volume : volumes) {
      const Json& name = at(volume, "name");
      if (!volume.is_object() || !(name.is_string() || name.is_null())) return {kBroken};
      if (!at(volume, "hostPath").is_null()) found.insert("hostPath " + name.dump());
    }
    return found;
  }

  inline static const std::string kBroken = "broken";
};

}  // namespace xila::webhook
