#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "xila/base/result.hpp"
#include "xila/policy/decide.hpp"

namespace xila::codec {

// A text behind which at least kPadding bytes more are readable (not: written), as simdjson wants
// it. A std::string with `capacity() >= size() + kPadding` is one; `padded` says so of it.
inline constexpr std::size_t kPadding = 64;

struct PaddedView {
  std::string_view text;
};

// `text` must have the capacity; asserts it.
PaddedView padded(const std::string& text);

// An AdmissionReview v1 (admission.k8s.io/v1), strictly: exact keys, duplicate keys refused,
// explicit null = absent, no trailing bytes, valid UTF-8, at most 200 levels.
//
// Error: it is no AdmissionReview v1 with a request and a uid; the text is one line (HTTP 400).
// Everything wrong past a readable uid comes back in Review::malformed with its path instead. Keeps
// a parser per thread; no allocation but for the values it returns.
base::Result<policy::Review> decode_review(PaddedView text);

// The AdmissionReview v1 that answers: never a patch, uid echoed byte for byte. Always valid UTF-8
// JSON.
std::string encode_response(const policy::Review& review, const policy::Decision& decision);
// The same, where policy::message() of the two is made already.
std::string encode_response(const policy::Review& review, const policy::Decision& decision,
                            std::string_view message);

}  // namespace xila::codec
