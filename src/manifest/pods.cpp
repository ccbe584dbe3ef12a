#include "xila/manifest/pods.hpp"

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "documents.hpp"
#include "names.hpp"
#include "value.hpp"
#include "xila/base/text.hpp"
#include "xila/codec/admission_review.hpp"
#include "xila/codec/pod.hpp"

namespace xila::manifest {
namespace {

using yaml::Mark;

// A document's values outlive the reading: FoundPod::locate looks into them.
using Root = std::shared_ptr<const Value>;

bool is_template_key(std::string_view key) {
  return key == "template" || key.ends_with("Template");
}

bool holds_containers(const Value& pod_template) {
  const Member* spec = find(pod_template, "spec");
  const Member* containers = spec ? find(spec->value, "containers") : nullptr;
  return containers && containers->value.type != Type::null;
}

class Reader {
 public:
  Reader(const std::string& file, const std::string& default_space, Contents& contents)
      : file_(file), default_space_(default_space), contents_(contents) {}

  void read_document(Value document) {
    root_ = std::make_shared<const Value>(std::move(document));
    const std::size_t problems_before = contents_.problems.size();
    report_repeated_keys(*root_);
    if (contents_.problems.size() == problems_before) read_object(*root_);
  }

  void report(Mark mark, std::string message) {
    contents_.problems.push_back({file_, mark, std::move(message)});
  }

 private:
  // A Kubernetes object, or a list of them.
  void read_object(const Value& object) {
    const std::string_view kind = text_of(object, "kind");
    const Member* items = find(object, "items");
    const bool is_list = kind.ends_with("List");
    if (items && items->value.type == Type::array) {
      // The items of a typed list, such as PodList, do not repeat their kind. And kubectl takes
      // whatever has items for a list.
      const std::string_view item_kind = is_list ? kind.substr(0, kind.size() - 4) : "";
      for (const Value& item : items->value.items) read_item(item, item_kind);
      if (is_list) return;
    }
    if (object.type == Type::array) {
      for (const Value& item : object.items) read_object(item);
    } else if (kind == "AdmissionReview") {
      read_review(object);
    } else if (kind == "Pod") {
      add_pod(object);
    } else if (auto space = space_of(object)) {
      object_ = &object;
      space_ = std::move(*space);
      read_templates(object, nullptr);
    }
  }

  void read_item(const Value& item, std::string_view kind) {
    if (kind == "Pod" && !find(item, "kind")) {
      add_pod(item);
    } else {
      read_object(item);
    }
  }

  // Every template at or below a value. `scheduler` is the schedulerName of the nearest spec
  // around.
  void read_templates(const Value& value, const Member* scheduler) {
    for (const Value& item : value.items) read_templates(item, scheduler);
    for (const Member& member : value.members) {
      if (is_template_key(member.key) && holds_containers(member.value)) {
        add_template(member, scheduler);
      }
      const Member* own = member.key == "spec" ? find(member.value, "schedulerName") : nullptr;
      const bool is_set = own && own->value.type == Type::string && !own->value.text.empty();
      read_templates(member.value, is_set ? own : scheduler);
    }
  }

  std::optional<codec::DecodedPod> decode(const Value& pod) {
    auto decoded = codec::decode_pod(to_json(pod));
    if (decoded) return std::move(*decoded);
    report(pod.mark, decoded.error().message);
    return std::nullopt;
  }

  void add_pod(const Value& pod) {
    auto decoded = decode(pod);
    if (!decoded) return;
    FoundPod found{.file = file_,
                   .mark = pod.mark,
                   .kind = "Pod",
                   .name = std::string(name_of(pod)),
                   .locate = [root = root_, &pod](std::string_view field) {
                     return manifest::locate(pod, field);
                   }};
    found.review.subject = {.space = decoded->space.empty() ? default_space_ : decoded->space,
                            .name = found.name,
                            .resource = "pods"};
    found.review.object = std::move(decoded->pod);
    found.review.malformed = std::move(decoded->malformed);
    contents_.pods.push_back(std::move(found));
  }

  void add_template(const Member& pod_template, const Member* scheduler) {
    const Value& object = *object_;
    auto decoded = decode(pod_template.value);
    if (!decoded) return;
    FoundPod found{.file = file_,
                   .mark = pod_template.mark,
                   .kind = std::string(text_of(object, "kind")),
                   .name = std::string(name_of(object))};
    found.review.subject = {
        .space = space_, .name = pod_name(found.kind, found.name), .resource = "pods"};
    found.review.object = std::move(decoded->pod);
    found.review.malformed = std::move(decoded->malformed);
    become_new_pod(*found.review.object, found, is_daemon_set_template(object, pod_template));

    // The scheduler of the Pods is written further out.
    const bool inherits = scheduler && found.review.object->scheduler_name.empty();
    if (inherits) found.review.object->scheduler_name = scheduler->value.text;
    found.locate = [root = root_, &object, &pod = pod_template.value, mark = pod_template.mark,
                    outer = inherits ? scheduler : nullptr](std::string_view field) {
      if (field == "metadata.namespace") return manifest::locate(object, field);
      if (field == "spec.schedulerName" && outer) return outer->mark;
      const Mark at = manifest::locate(pod, field);
      return at == pod.mark ? mark : at;
    };
    contents_.pods.push_back(std::move(found));
  }

  // Controllers take labels and spec from a template; names and owners are their own. Only a
  // DaemonSet's ownership has a meaning here, and that its controller names the node.
  static void become_new_pod(policy::Pod& pod, const FoundPod& found, bool is_of_daemon_set) {
    pod.name.clear();
    pod.generate_name.clear();
    pod.owners.clear();
    if (!is_of_daemon_set) return;
    pod.owners.push_back(
        {.api_version = "apps/v1", .kind = "DaemonSet", .name = found.name, .controller = true});
    pod.node_requirements.push_back(
        {.field = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                  "nodeSelectorTerms[0].matchFields[0]",
         .key = "metadata.name",
         .op = "In"});
  }

  static bool is_daemon_set_template(const Value& object, const Member& pod_template) {
    if (text_of(object, "kind") != "DaemonSet") return false;
    if (!text_of(object, "apiVersion").starts_with("apps/")) return false;
    const Member* spec = find(object, "spec");
    return spec && find(spec->value, "template") == &pod_template;
  }

  void read_review(const Value& document) {
    std::string json = to_json(document);
    json.reserve(json.size() + codec::kPadding);
    auto review = codec::decode_review(codec::padded(json));
    if (!review) return report(document.mark, review.error().message);
    FoundPod found{.file = file_,
                   .mark = document.mark,
                   .kind = "AdmissionReview",
                   .name = review->subject.name,
                   .review = std::move(*review),
                   .requester = policy::Requester::from_review,
                   .locate = [root = root_, &document](std::string_view field) {
                     const Member* request = find(document, "request");
                     if (!request || field.starts_with("request")) {
                       return manifest::locate(document, field);
                     }
                     const Member* object = find(request->value, "object");
                     if (!object || field.starts_with("oldObject")) {
                       return manifest::locate(request->value, field);
                     }
                     return manifest::locate(object->value, field);
                   }};
    contents_.pods.push_back(std::move(found));
  }

  // Without a value, the object names something else than a namespace, and that was reported.
  std::optional<std::string> space_of(const Value& object) {
    const Member* metadata = find(object, "metadata");
    const Member* space = metadata ? find(metadata->value, "namespace") : nullptr;
    if (!space || space->value.type == Type::null) return default_space_;
    if (space->value.type != Type::string) {
      report(space->mark, "metadata.namespace is no string");
      return std::nullopt;
    }
    return space->value.text.empty() ? default_space_ : space->value.text;
  }

  // Which of two values counts differs from reader to reader, so such a document is not judged at
  // all.
  void report_repeated_keys(const Value& value) {
    for (const Value& item : value.items) report_repeated_keys(item);
    std::set<std::string_view> keys;
    for (const Member& member : value.members) {
      if (!keys.insert(member.key).second) {
        report(member.mark, "key " + base::quote(member.key, 64) + " is repeated");
      }
      report_repeated_keys(member.value);
    }
  }

  const std::string& file_;
  const std::string& default_space_;
  Contents& contents_;
  Root root_;
  const Value* object_ = nullptr;  // the one whose templates are being read
  std::string space_;              // and its namespace
};

}  // namespace

Contents read_manifest(std::string_view text, const std::string& file,
                       const std::string& default_space) {
  Contents contents;
  Reader reader(file, default_space, contents);
  Documents documents = parse_documents(text);
  for (Value& document : documents.values) reader.read_document(std::move(document));
  for (yaml::Problem& problem : documents.problems) {
    reader.report(problem.mark, std::move(problem.message));
  }
  return contents;
}

}  // namespace xila::manifest
