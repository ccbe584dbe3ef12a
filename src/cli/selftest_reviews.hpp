#pragma once

#include <string>

#include "xila/base/result.hpp"

namespace xila::cli {

// What a selftest knows of the server. Empty = not known, so that a violation of that check alone
// says nothing against the server.
struct SelftestSubject {
  std::string space;      // a namespace of a tenant
  std::string scheduler;  // an accepted scheduler
};

// One review and what its right answer is.
enum class SelftestReview { good, bad, removal };

// "good review", "bad review", "deletion".
std::string to_text(SelftestReview review);

// An AdmissionReview (dry run) with this uid: a Pod that crosses nothing; the same one pinned to a
// node, privileged and in the node's network; the deletion of a Pod.
std::string selftest_review(SelftestReview review, const SelftestSubject& subject,
                            const std::string& uid);

// What was right about an answer, in a few words. Error: what was wrong.
base::Result<std::string> judge_selftest(SelftestReview review, const SelftestSubject& subject,
                                         const std::string& uid, int status,
                                         const std::string& body);

}  // namespace xila::cli
