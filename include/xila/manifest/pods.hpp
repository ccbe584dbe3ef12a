#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "xila/policy/decide.hpp"
#include "xila/yaml/document.hpp"

namespace xila::manifest {

inline constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20U;

// Why a document, or a part of one, could not be read.
struct Problem {
  std::string file;
  yaml::Mark mark;
  std::string message;

  bool operator==(const Problem&) const = default;
};

// A Pod that a document holds, or that would be made from a template in it.
struct FoundPod {
  std::string file;
  yaml::Mark mark;   // of the Pod, or of its template
  std::string kind;  // of the object that it stands in, as "Job"; "Pod" for a Pod itself
  std::string name;  // of that object

  // What the API server would ask about it: CREATE, under the name that its controller would give
  // it. Or, for a document that is an AdmissionReview, what was asked.
  policy::Review review;
  policy::Requester requester = policy::Requester::unknown;

  // Where a field of the Pod stands, as spec.containers[1].image, or the nearest of what is around
  // it. May outlive everything else.
  std::function<yaml::Mark(std::string_view field)> locate;
};

struct Contents {
  std::vector<FoundPod> pods;
  std::vector<Problem> problems;
};

// Every Pod of a text that holds any number of YAML or JSON documents: Pods, lists,
// AdmissionReviews, and any object with a Pod template, which is known by its shape: a key
// `template`, or one that ends in `Template`, whose value holds spec.containers, at any depth.
// `file` names the text in what comes back; `default_space` is the namespace of objects that name
// none.
//
// YAML means what it means to kubectl (YAML 1.1, merge keys, aliases), except that repeated keys
// are refused. One document that cannot be read does not keep the others from being read.
Contents read_manifest(std::string_view text, const std::string& file,
                       const std::string& default_space);

}  // namespace xila::manifest
