#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "xila/manifest/pods.hpp"
#include "xila/policy/decision.hpp"

namespace xila::cli {

// A Pod and what was decided about it.
struct Judged {
  manifest::FoundPod pod;
  policy::Decision decision;
  bool tenant_judged = true;  // false: nothing at hand could say whose namespace it is
};

// Everything that a run of `check` found.
struct CheckReport {
  std::size_t files = 0;
  std::vector<Judged> pods;
  std::vector<manifest::Problem> problems;
  bool accepts_no_scheduler = false;  // no profile and no flag names one, so every Pod is denied
};

// How many Pods got which answer.
struct Counts {
  std::size_t admitted = 0;  // exempt ones too
  std::size_t warned = 0;    // a profile in mode warn or audit lets them through
  std::size_t denied = 0;
  std::size_t tenant_not_judged = 0;
};

Counts count(const CheckReport& report);

// 0 all admitted, 1 something denied, 2 something could not be read.
int exit_code(const CheckReport& report);

// True where the violations deny, false where a mode lets them through.
bool is_denied(const Judged& judged);

// "train.yaml:3:1: cannot be read: ...", free of control characters.
std::string to_text(const manifest::Problem& problem);

// The report in each format, with the line end that belongs behind it.
std::string as_text(const CheckReport& report);
std::string as_json(const CheckReport& report);   // docs/check.md has the schema
std::string as_sarif(const CheckReport& report);  // SARIF 2.1.0
std::string as_junit(const CheckReport& report);  // the XML that CI systems take for test results

}  // namespace xila::cli
