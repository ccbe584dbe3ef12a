#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "xila/manifest/pods.hpp"

// Whatever the text: an end, no more than the text can hold, and a place for every field.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto contents = xila::manifest::read_manifest(text, "fuzz", "default");
  for (const auto& problem : contents.problems) {
    if (problem.message.empty() || problem.mark.line < 0) std::abort();
  }
  for (const auto& pod : contents.pods) {
    if (!pod.review.object && pod.kind != "AdmissionReview") std::abort();
    for (const auto& violation : pod.review.malformed) {
      if (pod.locate(violation.field).line < 1) std::abort();
    }
    if (pod.locate("spec.containers[0].securityContext.privileged").line < 1) std::abort();
  }
  return 0;
}
